# Two commands: `make demo` and `make test`. Each makes its own environment first.
# Another Python: `make test PYTHON=python3.13 VENV=.venv313`, or `make test-py PYTHON=python3.13`, which does the same.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help demo paper test test-slow test-py test-oldest lint format typecheck benchmarks bench clean docs release-check validate

help:
	@echo "make demo        fit the motorcycle data: summary, pictures, report and model (folder demo/)"
	@echo "make paper       the paper's figures and tables, small sizes (folder paper/)"
	@echo "make docs        the documentation site: examples run, links checked (folder site/)"
	@echo "make test        lint, types and the default tests (ten to twelve minutes on two cores, and two to set up)"
	@echo "make test-slow   the long statistical checks"
	@echo "make validate    the evidence of docs/validation.md (days at full size; it goes on where it was)"
	@echo "make test-py     the default tests on another Python: make test-py PYTHON=python3.13"
	@echo "make test-oldest the default tests with the oldest versions that pyproject.toml declares"
	@echo "make benchmarks  speed and memory figures"
	@echo "make bench       the page docs/benchmarks.md: peers side by side; make bench PEERS=porbnet AGAIN=1 for some anew"
	@echo "make release-check  wheel and sdist, each wheel installed and tried in an empty environment of every Python here"
	@echo "make clean       remove the environment and what was built"

$(VENV)/.plot: pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 11) else 'porbnet needs Python 3.11 or newer; set PYTHON=...')"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[plot]"
	touch $@

$(VENV)/.test: $(VENV)/.plot
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,paper]"
	touch $@

demo: $(VENV)/.plot
	mkdir -p demo
	$(BIN)/porbnet data motorcycle --out demo/motorcycle.csv
	$(BIN)/porbnet fit demo/motorcycle.csv --x time --y acceleration --noise varying --seed 1 --out demo \
		--overwrite || [ $$? -eq 3 ]  # 3: done, and the verdict says that the chains should run longer
	@echo "open demo/report.html in a browser; demo/curves.png is the picture, demo/model.npz the model"

$(VENV)/.paper: $(VENV)/.plot
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[paper]"
	touch $@

paper: $(VENV)/.paper
	$(BIN)/porbnet paper all --quick --out paper

$(VENV)/.docs: $(VENV)/.plot
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $@

# warnings are errors; examples of the gallery that have changed are run, and those of a first build all of them
docs: $(VENV)/.docs
	rm -rf site
	$(BIN)/python -m sphinx -W --keep-going -E -q -b html -d build/doctrees docs site
	$(BIN)/python scripts/check_links.py site
	@echo "open site/index.html in a browser, or: $(BIN)/porbnet docs"

.venv-release/.made: pyproject.toml
	test -x .venv-release/bin/python || $(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check "build>=1.2" "twine>=6.0"
	touch $@

# wheel and sdist in dist/; the wheel in an empty environment of every Python here
release-check: .venv-release/.made
	.venv-release/bin/python scripts/release_check.py

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: $(VENV)/.test
	$(BIN)/mypy

# kernels are compiled on one core while the other checks style and types
test: $(VENV)/.test
	$(BIN)/porbnet warmup --quiet & \
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy; checked=$$?; wait; exit $$checked
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -n auto -m slow

# evidence, at full size: days on one core; what was made is kept in .validation, so that it goes on where it was
JOBS ?= 2
validate: $(VENV)/.test
	$(BIN)/porbnet warmup --quiet
	$(BIN)/python tests/fuzz/fuzz_run.py --cases 10000 --jobs $(JOBS)
	$(BIN)/python tests/statistical/mutant_power.py --runs 20
	$(BIN)/python tests/statistical/joint_evidence.py --sweeps 300000
	$(BIN)/python -m porbnet.validation drift --sweeps 1000000
	$(BIN)/python -m porbnet.validation coverage --repetitions 20 --jobs $(JOBS)
	$(BIN)/python -m porbnet.validation calibration --datasets 1000 --jobs $(JOBS)
	$(BIN)/python -m porbnet.validation page

test-py:
	$(MAKE) test VENV=.venv-$(notdir $(PYTHON))

# as declared: if a test fails here, the declared version is too old; kernels in a cache of their own, as an old Numba
# cannot read what a newer one has left beside the sources
test-oldest:
	$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info[:2] == (3, 11) else 'the oldest versions are for Python 3.11; set PYTHON=...')"
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	$(PYTHON) scripts/oldest.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -e ".[test]" -c .venv-oldest/constraints.txt
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-oldest/numba .venv-oldest/bin/python -m pytest -n auto --dist worksteal -m "not slow"

benchmarks: $(VENV)/.plot
	$(BIN)/python benchmarks/prior_speed.py --quick
	$(BIN)/python benchmarks/first_use.py
	$(BIN)/python benchmarks/efficiency.py --no-peers
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/speed.py --quick
	$(BIN)/python benchmarks/rows.py --quick

# each peer in an environment of its own, made on first use; finished cells are kept, so that a stopped run goes on
bench: $(VENV)/.paper
	$(BIN)/porbnet warmup --quiet
	nice -n 10 $(BIN)/python benchmarks/against_peers.py $(if $(PEERS),--peers $(PEERS)) \
		$(if $(PROBLEMS),--problems $(PROBLEMS)) $(if $(AGAIN),--again)

clean:
	rm -rf $(VENV) .venv-* demo paper site build dist docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis
