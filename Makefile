# make study    virtual environment, MovieLens 100K, the same algorithms in LensKit, Surprise and implicit, a report
# make study-all    the same question in every toolkit and under two protocols
# make audit    what every evaluator of every toolkit really computes, in hours: reports/evaluator-audit
# make reports  the questions of reports/ again, with pages, in build/reports: in hours, as most need their runs;
#               ONLY="evaluator-audit replications": only these; KEEP=1: the results back into reports/
# make test     virtual environment, tests, linter, type checker, layering check
# make docs     the site of the documentation, in build/site, with every example run anew
# make fuzz     looks for files that crash or hang a reader; FUZZ_SECONDS=600: for that long with each
# make benchmark    side by side with other evaluators, and with the frameworks themselves
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
STUDY ?= reports/cross-framework-ml100k/study.toml
# Those with which `make study` takes minutes; the study itself asks for every framework that can run.
FEW := reference,lenskit,surprise,implicit
# Every plug-in is installed; of the frameworks, those that can live together. The others build environments of
# their own (`repro plugins install`). The tutorial's plug-in is installed by its own tests.
PLUGINS := $(filter-out plugins/example,$(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml)))
TOGETHER := $(patsubst %/pyproject.toml,%,$(shell grep -lx 'together = true' plugins/*/pyproject.toml))
PIP := $(BIN)/python -m pip --disable-pip-version-check --retries 10 --timeout 60
# A package index that does not answer is asked again before giving up.
RETRY := retry() { for try in 1 2 3; do "$$@" && return 0; echo "try $$try failed: $$*"; sleep 5; done; return 1; }; retry

# Tests start hundreds of processes, which read modules that are compiled once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install programs study study-all audit reports docs test test-all fuzz check lint types layers format benchmark clean

help:
	@sed -n '1,/^PYTHON/{/^#/s/^# //p}' Makefile

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt Makefile tests/exports/validator.txt \
  $(wildcard plugins/*/pyproject.toml)
	@echo "== virtual environment in .venv"
	$(PYTHON) -m venv .venv
	@$(RETRY) $(PIP) install --quiet -c constraints.txt pip hatchling editables
	@echo "== installing repro, its plug-ins and the frameworks that can live together"
	@$(RETRY) $(PIP) install --quiet -c constraints.txt torch==2.13.0
	@$(RETRY) $(PIP) install --quiet --no-build-isolation -c constraints.txt -e '.[dev,docs,all]' \
	  $(foreach plugin,$(PLUGINS),-e './$(plugin)$(if $(filter $(TOGETHER),$(plugin)),[framework])')
	@echo "== the validator of RO-Crates, which needs an environment of its own"
	$(PYTHON) -m venv .venv/rocrate-validator
	@$(RETRY) .venv/rocrate-validator/bin/python -m pip --disable-pip-version-check --retries 10 --timeout 60 \
	  install --quiet -r tests/exports/validator.txt
	@touch $@

# Programs that tests need besides Python: a browser for pages, TeX for tables, zsh for completion. As root on Debian and its like they are
# installed; elsewhere a line names what is missing, and the tests that need it are skipped.
programs:
	@missing=""; \
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	  || missing="chromium"; \
	kpsewhich booktabs.sty >/dev/null 2>&1 && command -v pdflatex >/dev/null && command -v bibtex >/dev/null \
	  || missing="$$missing texlive-latex-base texlive-latex-extra"; \
	command -v zsh >/dev/null || missing="$$missing zsh"; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "== installing $$missing"; \
	  $(RETRY) sh -c "{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
	    --no-install-recommends $$missing; } >/dev/null" && exit 0; \
	fi; \
	echo "WARNING: tests that need one of these programs are skipped: $$missing"

study: install
	@echo "== MovieLens 100K"
	$(BIN)/repro data get ml-100k
	@echo "== study $(STUDY)"
	REPRO_PLUGINS=$(FEW) $(BIN)/repro run $(STUDY) --fresh

study-all: install
	$(BIN)/repro plugins install all
	$(BIN)/repro data get ml-100k
	$(BIN)/repro run reports/cross-framework-ml100k/study.toml --fresh
	$(BIN)/repro run reports/cross-framework-ml100k/ut/study.toml --fresh

AUDIT = --into reports/evaluator-audit --protocols protocols/tables/inferred.toml
# To continue an interrupted audit: make audit AUDIT_MODE=--resume
AUDIT_MODE = --fresh
audit: install
	$(BIN)/repro plugins install all
	$(BIN)/repro data get ml-100k
	$(BIN)/repro audit report $(AUDIT) $(AUDIT_MODE)
	PATH="$(CURDIR)/$(BIN):$$PATH" reports/keep.sh reports/evaluator-audit

reports: install
	$(BIN)/repro plugins install all
	$(BIN)/repro data get ml-100k
	PATH="$(CURDIR)/$(BIN):$$PATH" KEEP=$(KEEP) reports/make.sh $(ONLY)

docs: install
	@$(RETRY) $(BIN)/repro data get ml-100k
	$(BIN)/python docs/generate
	@echo "open build/site/index.html"

test: install programs
	@echo "== MovieLens 100K"
	@$(RETRY) $(BIN)/repro data get ml-100k
	@echo "== tests"
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"
	@$(MAKE) --no-print-directory check

test-all: install programs
	@echo "== MovieLens 100K"
	@$(RETRY) $(BIN)/repro data get ml-100k
	@echo "== all tests"
	$(BIN)/python -m pytest -n 2 --dist loadgroup
	@$(MAKE) --no-print-directory check

# Guided by coverage where atheris installs, which it does not on every platform.
FUZZ_SECONDS ?= 120
FUZZED := interactions recommendations toml journal wire
fuzz: install
	HYPOTHESIS_PROFILE=explore FUZZ=20 $(BIN)/python -m pytest -n 2 tests/fuzz tests/plugin/isolation/test_wire.py
	@$(PIP) install --quiet atheris || echo "atheris does not install here: hypothesis was all"
	@if $(BIN)/python -c "import atheris" 2>/dev/null; then for one in $(FUZZED); do \
	  $(BIN)/python tests/fuzz/atheris_all.py $$one -max_total_time=$(FUZZ_SECONDS) -timeout=30 -rss_limit_mb=4096 || exit 1; \
	done; fi

check: lint types layers

lint: install
	@echo "== linter"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	@echo "== type checker"
	$(BIN)/mypy

layers: install
	@echo "== layering"
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# LensKit needs torch; this release of it comes without an accelerator's libraries where there is such a build.
benchmarks/.venv/.installed: benchmarks/requirements.txt pyproject.toml
	$(PYTHON) -m venv benchmarks/.venv
	@$(RETRY) benchmarks/.venv/bin/pip install --quiet torch==2.13.0
	@$(RETRY) benchmarks/.venv/bin/pip install --quiet -r benchmarks/requirements.txt -e .
	touch $@

benchmark: install benchmarks/.venv/.installed
	benchmarks/.venv/bin/python benchmarks/evaluators.py
	benchmarks/.venv/bin/python benchmarks/scores_to_metrics.py
	benchmarks/.venv/bin/python benchmarks/scores_to_metrics.py --stream
	benchmarks/.venv/bin/python benchmarks/start.py
	benchmarks/.venv/bin/python benchmarks/randomisation.py
	benchmarks/.venv/bin/python benchmarks/weak_statistics.py
	benchmarks/.venv/bin/python benchmarks/reading.py
	$(BIN)/repro data get ml-100k
	$(BIN)/repro plugins install all
	$(BIN)/python benchmarks/surprise_scoring.py
	$(BIN)/python benchmarks/adapters.py
	$(BIN)/python benchmarks/isolation.py
	$(BIN)/python benchmarks/multiverse.py
	$(BIN)/python benchmarks/executors.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/faults.py

clean:
	rm -rf .venv benchmarks/.venv
