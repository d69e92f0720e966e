from __future__ import annotations

import pytest

from keval.judges import JudgeError, Metric, Score, check_scores

METRICS = (Metric("quality", 1, 5), Metric("share", 0, 1, type="continuous"))


def test_scores_within_their_scales_are_fine() -> None:
    """Both ends belong to a scale, and any number between them; what does not apply is in none."""
    check_scores({"quality": Score(5), "share": Score(0.123)}, METRICS)
    check_scores({"quality": Score(1), "share": Score(None, not_applicable="nothing was cited")}, METRICS)


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ({"quality": Score(6), "share": Score(0)}, "quality: 6 is outside 1 to 5"),
        ({"quality": Score(1), "share": Score(1.01)}, "share: 1.01 is outside 0 to 1"),
        ({"quality": Score(1)}, r"expected the metrics \['quality', 'share'\], found \['quality'\]"),
    ],
)
def test_other_scores_are_invalid(scores: dict[str, Score], said: str) -> None:
    """The message names the metric."""
    with pytest.raises(JudgeError, match=said) as caught:
        check_scores(scores, METRICS)
    assert caught.value.kind == "judge_invalid"
