# make demo and make test are all a fresh machine needs: Python 3.11 or newer, pip and make.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed

.PHONY: demo test paper check crash dist docs fuzz mutants versions bench bench-default bench-estimates bench-kmedoids bench-labelling bench-scale bench-strategies clean

demo: $(INSTALLED)  ## label handwritten digits and write demo/report.html
	$(BIN)/featprop demo --out demo --force

test: check  ## every check and every test, and that tests reach 95 % of src/
	$(BIN)/python -m pytest -n auto --dist loadfile --cov

fuzz: $(INSTALLED)  ## damaged inputs of every kind: CASES of them, for SECONDS at most, from SEED
	$(BIN)/python -m fuzz --cases $(or $(CASES),10000) --seconds $(or $(SECONDS),7200) --seed $(or $(SEED),0)

mutants: $(INSTALLED)  ## the numerical core with one change at a time: COUNT changes by lot, from SEED; goes on where it stopped
	$(BIN)/python -m mutants --count $(or $(COUNT),400) --seconds $(or $(SECONDS),14400) --seed $(or $(SEED),0)

docs: $(INSTALLED)  ## the documentation as a site, without the network: site/index.html
	rm -rf site
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs site
	@echo "Open site/index.html in a browser."

dist: $(INSTALLED)  ## sdist and the wheel made of it in dist/, and that wheel tried alone and with each extra, in environments of their own
	rm -rf dist
	$(BIN)/python -m hatchling build --target sdist --directory dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz
	FEATPROP_DIST=dist $(BIN)/python -m pytest -m "fresh or not fresh" tests/installing

versions: $(INSTALLED)  ## every test with the oldest versions of what featprop needs, the newest, and every Python found here
	$(BIN)/python constraints/try_versions.py

paper: $(INSTALLED)  ## the paper's experiments, from where the last run stopped, and report/report.html
	$(BIN)/featprop experiments run $(patsubst %,--settings %,$(wildcard experiments/*.toml)) --out experiments/results
	$(BIN)/featprop experiments report experiments/results --out report --force

bench-default: $(INSTALLED)  ## the default compared with others, from where the last run stopped, and docs/default.md
	$(BIN)/python benchmarks/made_graphs.py --out experiments/default/graphs
	$(BIN)/featprop experiments run --settings experiments/default/default.toml --reuse experiments/results --out experiments/default/results
	$(BIN)/featprop experiments run --settings experiments/default/made.toml --settings experiments/default/made-cosine.toml --out experiments/default/made
	$(BIN)/featprop experiments report experiments/default/results experiments/default/made experiments/results --out report/default --force --into docs/default.md
	$(BIN)/python benchmarks/robustness.py --run --into docs/default.md
	$(BIN)/python benchmarks/constants.py --run --into docs/default.md
	$(BIN)/python benchmarks/rounds.py

check: $(INSTALLED)  ## style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

crash: $(INSTALLED)  ## killed 100 times each, out of room, and two at once: nothing is lost
	$(BIN)/python -m crash

bench: $(INSTALLED)  ## what is measured against what
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/opening.py
	$(BIN)/python benchmarks/protocol.py
	$(BIN)/python benchmarks/constants.py --run --into docs/default.md
	$(BIN)/python benchmarks/rounds.py

bench-estimates: $(INSTALLED)  ## how far estimates, advice, doubts and audits hold, and the tables of docs/how-good-measured.md
	$(BIN)/python benchmarks/estimates.py --run --into docs/how-good-measured.md
	$(BIN)/python benchmarks/doubts.py --run --into docs/how-good-measured.md
	$(BIN)/python benchmarks/audit.py

bench-kmedoids: $(INSTALLED)  ## K-Medoids beside kmedoids, scikit-learn, faiss and BanditPAM
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/requirements.txt
	$(BIN)/python benchmarks/kmedoids.py

bench-labelling: $(INSTALLED)  ## the labelling page: 64 people for a minute
	$(BIN)/python benchmarks/labelling.py

bench-scale: $(INSTALLED)  ## millions of nodes, a bound of memory, two Dask workers
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/converting.py

bench-strategies: $(INSTALLED)  ## time and memory of every strategy
	$(BIN)/python benchmarks/strategies.py

$(INSTALLED): requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

clean:
	rm -rf .venv demo dist report site .coverage .pytest_cache .mypy_cache .ruff_cache
