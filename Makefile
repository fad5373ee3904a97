# Everything a person needs: `make run` to use the app, `make test` to check it. `make help` lists
# the rest. Both build `.venv` on the first call; a later call installs only what changed.

VENV := .venv
PIP_VERSION := 26.3
HOST ?= 127.0.0.1
PORT ?=
WORKERS ?= 2
ARGS ?=

# The first Python on the path that is new enough; an empty value gets an explanation below.
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON ?= $(shell for python in $(CANDIDATES); do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { command -v "$$python"; break; }; done)

# Stamps are named after what they stand for (Python, pip, pinned packages), so a checkout with
# other pins, or a new Python, installs again and everything else does not.
SERIES := $(shell "$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
digest = $(shell cat $(1) | cksum | cut -d ' ' -f 1)
BASE := $(VENV)/.stamp-python-$(SERIES)-pip-$(PIP_VERSION)
APP := $(VENV)/.stamp-app-$(SERIES)-$(call digest,requirements.txt)
DEV := $(VENV)/.stamp-dev-$(SERIES)-$(call digest,requirements.txt requirements-dev.txt)
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
# Of fifteen thousand installed modules a fifth is ever imported. To compile them all takes longer
# than the rest of the installation, so Python compiles those that it imports, once: it is to keep
# what it compiled, even where the environment says otherwise.
INSTALL := $(PIP) install --no-compile --requirement
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help run test check lint pytest bench format readme clean

help: ## List the commands
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):.*## /  make \1 @/' | column -t -s '@'

# `exec`: the server takes the shell's place, so a signal that ends make reaches it.
run: $(APP) ## Start the app (HOST=0.0.0.0 to serve a class, PORT=8600 for a port of your choice)
	@exec $(PY) scripts/run.py --host "$(HOST)" $(if $(PORT),--port $(PORT))

test: lint pytest ## Check style and types, then run all tests

# Both halves at once: types are one process's work, and so are the tests.
check: $(DEV) ## Check style, types, rules, and engine and components on tiny models, in a minute
	$(MAKE) --no-print-directory --jobs 2 lint quick

.PHONY: quick
quick: $(DEV)
	OMP_NUM_THREADS=1 $(PY) -m pytest -q -n $(WORKERS) -m "not real and not slow" \
		tests/engine tests/components tests/test_*.py $(ARGS)

lint: $(DEV) ## Check style and types only
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy --num-workers $(WORKERS)

# The weights come first and once: test workers would otherwise wait for each other. One thread a
# worker: two workers with two threads each are several times slower on two cores. In the order of
# the folders the app and browser tests, which take longest, come first and not last.
pytest: $(DEV) ## Run the tests only (ARGS="tests/engine -k sampling" for some of them)
	$(PY) -m scripts.fetch_weights
	OMP_NUM_THREADS=1 $(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
		--durations 15 $(ARGS)

bench: $(DEV) ## Measure the budgets and write the table to docs/benchmarks.md
	$(PY) -m benchmarks $(ARGS)

format: $(DEV) ## Put the code into the one format
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

readme: $(DEV) ## Rewrite the tables of README.md and the guide from the code
	$(PY) -m scripts.readme_tables --write

clean: ## Remove the environment and every cache of the checkout (not the downloaded weights)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BASE):
	@test -n "$(SERIES)" || { echo "Token by Token needs Python 3.11 or newer, and none was found" \
		"on the path. Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; \
		exit 1; }
	@"$(PYTHON)" scripts/supported.py
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv module." \
		"On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	"$(PYTHON)" -m venv --clear $(VENV)
	$(PIP) install --quiet pip==$(PIP_VERSION)
	@touch $@

$(APP): $(BASE)
	$(INSTALL) requirements.txt
	@rm -f $(VENV)/.stamp-app-* && touch $@

$(DEV): $(BASE)
	$(INSTALL) requirements-dev.txt
	@rm -f $(VENV)/.stamp-dev-* $(VENV)/.stamp-app-* && touch $(APP) $@
