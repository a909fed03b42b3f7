# Everything runs in its own virtual environment below this folder; nothing is installed elsewhere.
comma := ,
PYTHON ?= python3
VENV ?= .venv
# The PyTorch the Trainer tests use, as pip takes it. Empty: do without, and those tests are skipped.
TORCH ?= torch==2.13.0
# The extras the tests use; tests of those left out are skipped with a reason.
EXTRAS ?= test,plot,space,browser,spark$(if $(strip $(TORCH)),$(comma)trainer)
# More requirements for the tests, such as "datasets<4".
WITH ?=
PYTEST ?= -n 2

.PHONY: demo space test test-slow test-all explore mutants lint bench dist-check clean

# Score the example predictions that ship with the package.
demo: $(VENV)/installed
	$(VENV)/bin/python -m toxeval.demo

# The demo page of a metric, on this machine: make space METRIC=oracle_collab
METRIC ?= oracle_collab
space: $(VENV)/installed-for-space
	$(VENV)/bin/python metrics/$(METRIC)/app.py

# Lint, types, and the tests, without those that take minutes each.
test: $(VENV)/installed-for-tests lint
	$(VENV)/bin/python -m pytest $(PYTEST) -m "not slow"

# The others: training, simulated coverage, Spark, processes that are killed, environments of their own.
test-slow: $(VENV)/installed-for-tests
	$(VENV)/bin/python -m pytest $(PYTEST) -m slow

test-all: test test-slow

# Hypothesis looks for new counterexamples; one that it finds is printed so that it can be pasted.
explore: $(VENV)/installed-for-tests
	HYPOTHESIS_PROFILE=explore $(VENV)/bin/python -m pytest $(PYTEST) -m "hypothesis and not slow"

# Faults put into the code by hand, one at a time: each must make some test fail.
mutants: $(VENV)/installed-for-tests
	$(VENV)/bin/python tests/mutants.py

lint: $(VENV)/installed-for-tests
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy metrics datasets_scripts toxeval

$(VENV)/installed: setup.cfg pyproject.toml
	@echo "Installing into $(VENV): a minute or more, once"
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-for-space: setup.cfg pyproject.toml
	@echo "Installing into $(VENV): a minute or more, once"
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --disable-pip-version-check --editable ".[space]"
	touch $(VENV)/installed $@

$(VENV)/installed-for-tests: setup.cfg pyproject.toml
	@echo "Installing into $(VENV): a minute or more, once"
	$(PYTHON) -m venv $(VENV)
	$(if $(strip $(TORCH)),$(VENV)/bin/pip install --disable-pip-version-check "$(TORCH)")
	$(VENV)/bin/pip install --disable-pip-version-check --editable ".[$(EXTRAS)]" $(if $(strip $(WITH)),"$(WITH)")
	touch $(VENV)/installed $@

# Ours against what people use today, and groups against all rows; prints tables and writes benchmarks/{results,groups}.md.
bench: $(VENV)/installed-for-tests
	$(VENV)/bin/pip install --disable-pip-version-check seqeval torchmetrics
	$(VENV)/bin/python benchmarks/bench.py
	$(VENV)/bin/python benchmarks/groups.py

# What a release uploads: wheel and sdist, their metadata checked, each installed in a fresh environment and used there.
dist-check: $(VENV)/installed
	rm -rf dist
	$(VENV)/bin/pip install --disable-pip-version-check build twine
	$(VENV)/bin/python -m build
	$(VENV)/bin/twine check --strict dist/*
	for file in $(CURDIR)/dist/*; do \
	    folder=$$(mktemp -d) && (cd $$folder && $(abspath $(VENV))/bin/python -m venv fresh && \
	    fresh/bin/pip install --disable-pip-version-check $$file && fresh/bin/pip check && \
	    fresh/bin/python -m toxeval.demo && fresh/bin/toxeval list) || exit 1; rm -r $$folder; \
	done

clean:
	rm -rf .venv* build dist *.egg-info
