# What a newcomer types and what CI runs. `make` alone lists the targets.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
SERVERS := .servers/.ready
TEST := $(BIN)/python -m pytest -q --dist loadgroup

# The tests start some hundred times the same code: it is compiled once, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup servers gateway origins demo check fix test test-slow test-ray docs golden bench build site man

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# Bytecode is made of what runs: of all that is installed it would take longer than the tests gain.
setup: $(READY) ## create .venv and install keval and its tools into it

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

servers: ## install the public MCP servers of tests/servers/package.json, where there is npm
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(SERVERS); \
	else echo "npm is missing: the tests with public MCP servers are skipped"; fi

$(SERVERS): tests/servers/package.json
	mkdir -p .servers
	cp tests/servers/package.json .servers/
	npm install --prefix .servers --no-package-lock --no-audit --no-fund --loglevel=error
	@touch $(SERVERS)

gateway: ## install LiteLLM's proxy, 740 MB, for the test of models behind a gateway
	$(PYTHON) -m venv .servers/litellm
	.servers/litellm/bin/pip install --quiet --disable-pip-version-check 'litellm[proxy]==1.106.2'

origins: ## install Inspect, lm-evaluation-harness, promptfoo and agent-eval-harness, 2 GB, for tests of imports
	$(PYTHON) -m venv .servers/origins
	.servers/origins/bin/pip install --quiet --disable-pip-version-check inspect_ai==0.3.285 lm_eval==0.4.13
	npm install --prefix .servers/origins --no-package-lock --no-audit --no-fund --loglevel=error \
		node@22 promptfoo@0.123.1 bun@1.4.5 @plaited/agent-eval-harness@0.12.2
	@touch .servers/origins/.ready

demo: $(READY) ## run examples/quickstart with the stand-in model and show its report
	$(BIN)/keval run examples/quickstart/eval.yaml --mock --output demo.jsonl

check: $(READY) ## formatting, lint, types, schemas, generated docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -m 'not slow' tests/unit/test_schema.py tests/schemas tests/test_quickstart.py
	$(BIN)/cog --check -r docs/*.md README.md CONTRIBUTING.md

fix: $(READY) ## format and apply safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: $(READY) ## all fast tests: no key, no network
	$(TEST) -n 2 -m 'not slow'

# Three at once on two cores: many of these tests wait.
test-slow: $(READY) servers ## what takes longer: the docs' commands, faults, kill -9, public MCP servers, the built wheel
	$(TEST) -n 3 -m slow
	$(TEST) -n 2 -m 'hypothesis and not slow' --hypothesis-profile=many

test-ray: $(READY) ## kill nodes of a Ray cluster in 20 runs; test-slow does it in 2
	NODE_RUNS=$${NODE_RUNS:-20} $(BIN)/python -m pytest -q -n 0 tests/pipes/test_ray.py

docs: $(READY) ## rewrite the generated parts of the schemas and the docs
	$(BIN)/python docs/generate_schemas.py
	$(BIN)/cog -r docs/*.md README.md CONTRIBUTING.md
	$(BIN)/python docs/generate.py

golden: $(READY) ## rewrite the expected output of the golden cases and show what changed
	GOLDEN=write $(BIN)/python -m pytest -q tests/golden
	git --no-pager diff --stat -- tests/golden

bench: $(READY) ## measure everything into benchmarks/runs/, a quarter of an hour; BENCH_SIZE=large for up to a million events
	$(BIN)/python -m benchmarks

site: $(READY) ## build the documentation with a gallery of the examples into build/site/
	$(BIN)/python docs/gallery.py
	$(BIN)/sphinx-build -q -W -b html -c docs . build/site

man: $(READY) ## build the man page keval.1 into build/man/
	$(BIN)/sphinx-build -q -W -b man -c docs . build/man

build: $(READY) ## build the wheel and the source distribution into dist/
	$(BIN)/python -m build
