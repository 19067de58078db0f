# Everything sets itself up: these targets need Python ≥ 3.11 and make, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
MODELS := $(abspath $(VENV))/models
MODEL := $(MODELS)/bge-small-en-v1.5
MODEL_STAMP := $(VENV)/.model
# Tests of one file share what is dear to make, so they run in one process.
AT_ONCE ?= -n auto --dist loadfile
# The contracts of the ports run on every engine in one run.
ON_EVERY_ENGINE := tests/cases tests/property tests/unit/test_evaluation.py

.PHONY: demo test test-postgres models test-harness check fix cover bench soak docs clean help

help:   ## list the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

demo: $(MODEL_STAMP)   ## a two-session story over a codebase, with real output
	@EUNOE_MODEL=$(MODEL) $(BIN)/python -m eunoe demo

test: $(MODEL_STAMP)   ## all tests, then once more those of behaviour, on PostgreSQL
	@EUNOE_TEST_MODEL=$(MODEL) $(BIN)/python -m pytest -q $(AT_ONCE)
	@$(MAKE) --no-print-directory test-postgres

test-postgres: $(MODEL_STAMP)   ## cases, properties and correctness on a PostgreSQL server that the tests start
	@EUNOE_TEST_ENGINE=postgres EUNOE_TEST_MODEL=$(MODEL) $(BIN)/python -m pytest -q $(AT_ONCE) $(ON_EVERY_ENGINE)

models: $(MODEL_STAMP)   ## the other models, too, so that no test is skipped
	@$(BIN)/python -m eunoe model install multilingual --to $(MODELS)/multilingual-e5-small
	@$(BIN)/python -m eunoe model install reranker --to $(MODELS)/ms-marco-MiniLM-L12-v2

test-harness: $(STAMP) .harness/.installed   ## Claude Code, Codex and OpenCode against scripted models; needs npm
	@tests/harness/sealed.sh $(BIN)/python -m pytest -q tests/harness
	@$(BIN)/python -m tests.harness.from_clone

check: $(STAMP)   ## format, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: $(STAMP)   ## format, and repair what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

cover: $(MODEL_STAMP)   ## tests with branch coverage
	EUNOE_TEST_MODEL=$(MODEL) $(BIN)/coverage run -m pytest -q
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --skip-covered --sort=cover | tail -40

bench: $(MODEL_STAMP)   ## measure; LOCOMO=file adds LoCoMo
	EUNOE_TEST_MODEL=$(MODEL) $(BIN)/python benchmarks/run.py $(if $(LOCOMO),--locomo $(LOCOMO))

soak: $(STAMP)   ## 1,000 kills, 8 × 500 writers, 5 minutes of a server under load
	$(BIN)/python benchmarks/soak.py

docs: $(STAMP)   ## write the generated reference pages and pictures
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/screenshots.py

clean:   ## remove what the targets made
	rm -rf $(VENV) .harness .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage dist

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Eunoe needs Python 3.11 or newer; found $$($(PYTHON) -V). Set PYTHON=python3.x"; exit 1; }
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --editable '.[mcp,local,endpoint,postgres]' --group dev
	@touch $(STAMP)

# Without it everything works but search by meaning, and the tests of that are skipped; so a failure stops nothing.
$(MODEL_STAMP): $(STAMP)
	@$(BIN)/python -m eunoe model install --to $(MODEL) >/dev/null && touch $@ || \
	  echo "Going on without a model."

.harness/.installed: tests/harness/install.sh
	@echo "Setting up .harness …"
	@tests/harness/install.sh
	@touch $@
