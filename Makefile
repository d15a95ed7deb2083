# Everything runs in a virtual environment inside the checkout. One stamp file per set of packages
# records when it was installed; the set is installed again when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Part of the first stamp's name, so that another PYTHON creates a new environment.
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

.PHONY: demo test fuzz docs examples paper bench quality lint dist clean help

help:
	@echo "make demo      run LinCFA on generated data, print the results, write a report with a map"
	@echo "make test      run the tests"
	@echo "make fuzz      try to break it with random problems (10 minutes)"
	@echo "make docs      build the documentation: build/docs/index.html (2 minutes)"
	@echo "make examples  predict from three climate fields, against EOF regression, PLS, … (3 minutes)"
	@echo "make paper     run the paper's experiments and compare with its tables (6 minutes)"
	@echo "make bench     time and memory against other methods, and how they scale (50 minutes)"
	@echo "make quality   prediction against PCA, PLS, ridge, … on 23 data sets (15 minutes)"
	@echo "make lint      ruff and strict mypy"
	@echo "make dist      the source distribution and the wheel, in dist/"
	@echo "make clean     remove the virtual environment and the caches"

demo: $(VENV)/.installed-demo
	$(BIN)/lincfa demo --force

# One process per core, so each needs only one thread for arithmetic.
test: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal $(ARGS)

fuzz: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m fuzz $(ARGS)

# The gallery runs its examples; those that did not change since the last build are not run again.
docs: $(VENV)/.installed-docs
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --jobs auto $(ARGS) docs build/docs

# Two processes, so each needs only one thread for arithmetic.
examples: $(VENV)/.installed-examples
	OMP_NUM_THREADS=1 $(BIN)/python examples/north_america.py $(ARGS)
	OMP_NUM_THREADS=1 $(BIN)/python examples/pacific.py $(ARGS)
	OMP_NUM_THREADS=1 $(BIN)/python examples/el_nino.py $(ARGS)

paper: $(VENV)/.installed-bench
	$(BIN)/python -m experiments $(ARGS)

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.engine $(ARGS)
	$(BIN)/python -m benchmarks.strategies $(ARGS)
	$(BIN)/python -m benchmarks.tables $(ARGS)
	$(BIN)/python -m benchmarks.distributed $(ARGS)
	$(BIN)/python -m benchmarks.structure $(ARGS)
	$(BIN)/python -m benchmarks.search $(ARGS)
	$(BIN)/python -m benchmarks.fields $(ARGS)

quality: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks.quality $(ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

dist: $(VENV)/.installed-release
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*

$(VENV)/.created-$(VERSION):
	@$(PYTHON) -c 'import sys; sys.exit("lincfa needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; choose another with make PYTHON=...") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.installed-demo: $(VENV)/.created-$(VERSION) pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[cli,xarray]"
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.created-$(VERSION) pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[tables,cli,plot,dask,xarray,fast]" --group bench
	@touch $@

$(VENV)/.installed-examples: $(VENV)/.created-$(VERSION) pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[plot,xarray]" --group examples
	@touch $@

$(VENV)/.installed-release: $(VENV)/.created-$(VERSION) pyproject.toml
	$(BIN)/python -m pip install --quiet --group release
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.created-$(VERSION) pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group docs
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.created-$(VERSION) pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[tables,cli,plot,report,xarray,dask,onnx,fast]" --group dev
	@touch $@ $(VENV)/.installed-demo $(VENV)/.installed-bench $(VENV)/.installed-examples

clean:
	rm -rf $(VENV) build dist docs/gallery docs/generated .mypy_cache .pytest_cache .ruff_cache .hypothesis
