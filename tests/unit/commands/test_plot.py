"""Properties of `keval plot`: which files it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from keval import cli
from keval.commands.plot import paths
from keval.plots.kinds import KINDS
from tests.builders import judge_entry, judgment_event, response_event, run_event, write_log
from tests.plotting import texts


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a log of two conditions, in the folder in which the test runs."""
    monkeypatch.chdir(tmp_path)
    answers = [response_event(f"q{n}", name) for n in range(2) for name in ("baseline", "with_docs")]
    return write_log(Path("run.jsonl"), [run_event(), *answers, *(judgment_event(each, 3) for each in answers)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_plot_is_drawn_again_in_its_place(kind: str, log: Path) -> None:
    """A file of ours is replaced, and the same log gives the same bytes."""
    assert cli.run(["plot", str(log), "--kind", kind, "-o", "plot.svg"]) == 0
    first = Path("plot.svg").read_bytes()
    assert cli.run(["plot", str(log), "--kind", kind, "-o", "plot.svg"]) == 0
    assert Path("plot.svg").read_bytes() == first
    assert any("with_docs" in line for line in texts(first))


@pytest.mark.slow
def test_a_file_of_somebody_else_is_kept(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Also a plot of another format under this name."""
    assert cli.run(["plot", str(log), "--kind", "forest", "-o", "plot.pdf"]) == 0
    drawn = Path("plot.pdf").rename("plot.png").read_bytes()
    assert cli.run(["plot", str(log), "--kind", "forest", "-o", "plot.png"]) == 2
    assert "is not an earlier output of this kind" in capfd.readouterr().err
    assert Path("plot.png").read_bytes() == drawn


@pytest.mark.slow
def test_each_evaluation_has_its_own_file(log: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Named after it; the names are printed, and nothing is written under the name that was given."""
    prompts = {"baseline": "Guess.", "with_docs": "Guess."}
    other = run_event(prompts, config_name="other", config={"name": "other"}, run_id="1" * 16)
    answers = [response_event(f"q{n}", name, prompt="Guess.") for n in range(2) for name in ("baseline", "with_docs")]
    second = write_log(Path("other.jsonl"), [other, *answers, *(judgment_event(each, 3) for each in answers)])
    assert cli.run(["plot", str(log), str(second), "--kind", "forest", "-o", "plot.svg"]) == 0
    assert capfd.readouterr().out == "plot-test.svg\nplot-other.svg\n"
    assert not Path("plot.svg").exists()
    assert "Differences: other" in texts(Path("plot-other.svg").read_bytes())


@pytest.mark.slow
def test_a_picture_has_the_metrics_that_are_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A slide has room for one; an unknown one is told with those that there are."""
    answers = [response_event(f"q{n}", name) for n in range(2) for name in ("baseline", "with_docs")]
    scores = {"completeness": 3.0, "clarity": 2.0}
    judge = judge_entry([{"name": name, "min": 1, "max": 5} for name in scores])
    judged = [judgment_event(each, scores) for each in answers]
    log = str(write_log(tmp_path / "run.jsonl", [run_event(judges=[judge]), *answers, *judged]))

    def captions(*options: str) -> str:
        plot = tmp_path / "plot.svg"
        assert cli.run(["plot", log, "--kind", "heatmap", "-o", str(plot), *options]) == 0
        return " ".join(texts(plot.read_bytes()))

    assert "clarity" in captions()
    assert "clarity" not in captions("--metric", "rubric/completeness")
    assert cli.run(["plot", log, "--kind", "heatmap", "-o", str(tmp_path / "plot.svg"), "--metric", "charity"]) == 2
    assert "did you mean 'clarity'?" in capfd.readouterr().err


def test_samples_are_those_of_the_metrics_that_are_named(tmp_path: Path) -> None:
    """In the order of these alone, and none of which only another metric says something."""
    judge = judge_entry([{"name": name, "min": 1, "max": 5} for name in ("clarity", "tone")])
    events = [run_event(judges=[judge], samples=3)]
    for sample_id, change in {
        "q0": {"clarity": 0, "tone": -2},
        "q1": {"clarity": -1, "tone": 0},
        "q2": {"tone": -1},
    }.items():
        for condition, share in (("baseline", 0), ("with_docs", 1)):
            response = response_event(sample_id, condition)
            events += [response, judgment_event(response, {name: 3 + share * by for name, by in change.items()})]
    log, plot = write_log(tmp_path / "run.jsonl", events), tmp_path / "plot.svg"

    def samples(*options: str) -> list[str]:
        assert cli.run(["plot", str(log), "--kind", "heatmap", "-o", str(plot), *options]) == 0
        return [text for text in texts(plot.read_bytes()) if text in {"q0", "q1", "q2"}]

    assert samples() == ["q0", "q1", "q2"]
    assert samples("--metric", "clarity") == ["q1", "q0"]


@pytest.mark.slow
def test_an_evaluation_without_the_metric_has_no_picture(log: Path) -> None:
    """Several evaluations in one command may have different judges; the others are drawn all the same."""
    prompts = {"baseline": "Guess.", "with_docs": "Guess."}
    judge = judge_entry([{"name": "clarity", "min": 1, "max": 5}])
    other = run_event(prompts, config_name="other", config={"name": "other"}, run_id="1" * 16, judges=[judge])
    answers = [response_event(f"q{n}", name, prompt="Guess.") for n in range(2) for name in ("baseline", "with_docs")]
    judged = [judgment_event(each, {"clarity": 3.0}) for each in answers]
    second = write_log(Path("other.jsonl"), [other, *answers, *judged])
    drawing = ["plot", str(log), str(second), "--kind", "forest", "-o", "plot.svg"]
    assert cli.run([*drawing, "--metric", "clarity"]) == 0
    assert "Differences: other" in texts(Path("plot.svg").read_bytes())


def test_names_that_come_to_the_same_are_numbered() -> None:
    """No evaluation takes the file of another, and none leads out of the folder."""
    found = paths(Path("out/plot.png"), ["a/b", "a:b", "../c"])
    assert found == [Path("out/plot-a_b-1.png"), Path("out/plot-a_b-2.png"), Path("out/plot-_c.png")]


def test_a_log_without_scores_has_no_plot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Why, is said; no file is written."""
    monkeypatch.chdir(tmp_path)
    write_log(Path("run.jsonl"), [run_event()])
    assert cli.run(["plot", "run.jsonl", "--kind", "heatmap", "-o", "plot.png"]) == 3
    assert "there is nothing to draw as heatmap: no sample has a score" in capfd.readouterr().err
    assert not Path("plot.png").exists()
