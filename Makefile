# make demo and make test are all a fresh machine needs: Python 3.11 or newer, pip and make.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed

# a process per core, since threads that wait for each other keep the cores busy; compiled modules are kept for the
# processes that tests start
PER_CORE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=

.PHONY: demo test paper check crash dist docs fuzz messages mutants versions bench bench-default bench-estimates bench-labelling bench-strategies clean

demo: $(INSTALLED)  ## label handwritten digits and write demo/report.html
	$(BIN)/featprop demo --out demo --force

test: check  ## linters, type checks and all tests, with at least 95 % coverage of src/
	$(PER_CORE) $(BIN)/python -m pytest -n auto --dist worksteal --cov

fuzz: $(INSTALLED)  ## run EXAMPLES damaged inputs of each target from SEED
	$(PER_CORE) EXAMPLES=$(or $(EXAMPLES),600) $(BIN)/python -m pytest fuzz -n auto --hypothesis-seed=$(or $(SEED),0) --hypothesis-show-statistics

mutants: $(INSTALLED)  ## test COUNT random mutants of the numerical core from SEED; resumes where it stopped
	$(BIN)/python -m mutants --count $(or $(COUNT),400) --seed $(or $(SEED),0)

docs: $(INSTALLED)  ## build the documentation without the network: site/index.html
	rm -rf site
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs site
	@echo "Open site/index.html in a browser."

dist: $(INSTALLED)  ## build sdist and wheel in dist/, and test the wheel alone and with each extra in fresh environments
	rm -rf dist
	$(BIN)/python -m hatchling build --target sdist --directory dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz
	FEATPROP_DIST=dist $(BIN)/python -m pytest -m "fresh or not fresh" tests/installing

versions: $(INSTALLED)  ## run all tests with the oldest and newest dependencies and every installed Python
	$(BIN)/python constraints/try_versions.py

paper: $(INSTALLED)  ## run the paper's experiments, write report/report.html and update docs/reproduction.md; resumes
	$(BIN)/featprop experiments run $(patsubst %,--settings %,$(wildcard experiments/*.toml)) --out experiments/results
	$(BIN)/featprop experiments report experiments/results --out report --force
	$(BIN)/python benchmarks/pages.py report docs/reproduction.md

bench-default: $(INSTALLED)  ## compare the default with other strategies and update docs/default.md; resumes where it stopped
	$(BIN)/python benchmarks/made_graphs.py --out experiments/default/graphs
	$(BIN)/featprop experiments run --settings experiments/default/default.toml --reuse experiments/results --out experiments/default/results
	$(BIN)/featprop experiments run --settings experiments/default/made.toml --settings experiments/default/made-cosine.toml --out experiments/default/made
	$(BIN)/featprop experiments report experiments/default/results experiments/default/made experiments/results --out report/default --force
	$(BIN)/python benchmarks/pages.py report/default docs/default.md
	$(BIN)/python benchmarks/robustness.py --run --into docs/default.md
	$(BIN)/python benchmarks/constants.py --run --into docs/default.md

messages: $(INSTALLED)  ## write every user-visible message to tests/messages.txt, for review
	$(BIN)/python tests/messages.py

check: $(INSTALLED)  ## check style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

crash: $(INSTALLED)  ## kill each task KILLS times at random moments from SEED: nothing may be lost
	$(BIN)/python -m crash --kills $(or $(KILLS),100) --seed $(or $(SEED),0)

bench: $(INSTALLED)  ## measure time, memory and loss next to other programs, and update docs/performance.md
	$(BIN)/python benchmarks/performance.py

bench-estimates: $(INSTALLED)  ## measure estimates, advice, doubts and audits, and update docs/how-good-measured.md
	$(BIN)/python benchmarks/estimates.py --run --into docs/how-good-measured.md
	$(BIN)/python benchmarks/doubts.py --run --into docs/how-good-measured.md
	$(BIN)/python benchmarks/audit.py --run --into docs/how-good-measured.md

bench-labelling: $(INSTALLED)  ## measure the labelling page with 64 annotators for a minute
	$(BIN)/python benchmarks/labelling.py

bench-strategies: $(INSTALLED)  ## measure time and memory of every strategy
	$(BIN)/python benchmarks/strategies.py

$(INSTALLED): requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf .venv demo dist report site .coverage .pytest_cache .mypy_cache .ruff_cache
