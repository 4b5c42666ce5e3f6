# Every target sets up what it needs. `make demo` and `make test` are the only two commands a fresh machine needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests start thousands of processes; where this is set, as in many containers, each compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name '*.js' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: setup build demo test lint lint-rust compiled-tests fmt accuracy bench bench-scale bench-ui bench-analysis bench-import bench-postgresql bench-index-advice bench-hardware compare-k6 fuzz experiments weaknesses known-capacity planted gauntlet knocks soak studies studies-beside docs docs-site lock audit notices notices-javascript miri wheel-smoke postgresql mariadb jdk chromium clean

setup: $(VENV)/.ready
build: $(VENV)/.built

# Exactly what the lock says, each file checked by its hash; `make lock` makes it from pyproject.toml.
$(VENV)/.ready: supply/locks/development.txt lab/pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python is missing: install Python 3.11 or later (Debian: apt-get install python3 python3-venv)"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; set PYTHON=/path/to/python3.11"; exit 2; }
	@command -v cargo >/dev/null || { echo "Rust is missing: install it with rustup (rustup.rs), 1.88 or later"; exit 2; }
	@command -v cc >/dev/null || { echo "A C compiler is missing (Debian: apt-get install gcc libc6-dev)"; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python supply/install.py $(BIN)/python supply/locks/development.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation --editable lab
	touch $@

$(VENV)/.built: $(VENV)/.ready $(RUST_SOURCES)
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet --locked
	cargo build --release --quiet --locked --package plimsoll-testkit
	touch $@

demo: build # 99: its answer is that the expected load is not carried
	$(BIN)/plimsoll demo || { code=$$?; test $$code -eq 99 || exit $$code; }

# Tests that compute share the cores. Those that mostly wait share them four at a time: runs of a second of which files,
# exit codes and counts are looked at, and servers that are started and watched. Searches and long runs go two at a time:
# their targets are slow enough for that; three at a time were tried and not shown to be safe. Those that look at the
# generator itself, or at a limit that a late generator would hide, run one at a time. A worker that has no test left
# takes some of another (worksteal): else the one that was given the slow tests goes on alone for minutes.
COMPUTING = tests/unit tests/docs tests/accuracy
PAIRED = tests/integration/capacity tests/integration/long_runs tests/integration/trials
ALONE = tests/integration/cli/run/test_run_self_diagnosis.py tests/integration/cli/test_every_run_ends.py tests/integration/mysql/test_statement_as_limit.py
PYTEST = $(BIN)/python -m pytest
test: build postgresql mariadb jdk chromium
	cargo test --workspace --quiet --locked
	$(PYTEST) --numprocesses auto --dist worksteal $(ALONE:%=--ignore=%) $(COMPUTING)
	$(PYTEST) --numprocesses 4 --dist worksteal $(COMPUTING:%=--ignore=%) $(PAIRED:%=--ignore=%) $(ALONE:%=--ignore=%)
	$(PYTEST) --numprocesses 2 --dist worksteal $(PAIRED)
	$(PYTEST) $(ALONE)

# Tests start a PostgreSQL server of their own; it only has to be installed. Those of hypopg are skipped without it.
postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null; \
	  else echo "PostgreSQL is missing, which tests need (Debian: sudo apt-get install postgresql)"; exit 2; fi; }
	@for folder in /usr/lib/postgresql/*/; do test -d $$folder || continue; version=$$(basename $$folder); \
	  test -e /usr/share/postgresql/$$version/extension/hypopg.control || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql-$$version-hypopg >/dev/null 2>&1; } || \
	  echo "hypopg is missing, so its tests are skipped (Debian: sudo apt-get install postgresql-$$version-hypopg)"; done

# Likewise a MariaDB server of their own.
mariadb:
	@PATH=$$PATH:/usr/sbin command -v mariadbd >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq mariadb-server >/dev/null; \
	  else echo "MariaDB is missing, which tests need (Debian: sudo apt-get install mariadb-server)"; exit 2; fi; }

# And a browser without a window, which lays reports out in narrow windows and looks at the live page. Without it tests
# of reports are skipped, and those of the live page fail.
chromium:
	@command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell >/dev/null; \
	  else echo "Chromium is missing, so tests of narrow windows are skipped and those of the live page fail (Debian: sudo apt-get install chromium-headless-shell)"; fi; }

# And a Java virtual machine.
jdk:
	@command -v javac >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq default-jdk-headless >/dev/null; \
	  else echo "Java is missing, which tests need (Debian: sudo apt-get install default-jdk-headless)"; exit 2; fi; }

lint: build lint-rust
	$(BIN)/ruff check python lab tests docs benches supply
	$(BIN)/ruff format --check python lab tests docs benches supply
	$(BIN)/lint-imports
	$(BIN)/mypy python/plimsoll lab/plimsoll_lab

lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet --locked -- -D warnings

# What `make test` and `make lint` compile, beside `make build` (make --jobs 2): that one links on one core for a minute.
compiled-tests: lint-rust
	cargo test --workspace --quiet --locked --no-run

fmt: setup
	cargo fmt --all
	$(BIN)/ruff check --fix python lab tests docs benches supply
	$(BIN)/ruff format python lab tests docs benches supply

# The scorecard, docs/accuracy.md, and the few tests that need a machine to themselves. ROWS: only lines that contain
# this (no page is written); SCALE: share of the repetitions, 1 takes over an hour; kneed, MLRsearch and
# apache-otava (in target/otava, as it pins an older numpy) are peers, and no dependencies.
ROWS ?=
SCALE ?= 0.4
accuracy: build
	-$(BIN)/python -m pytest tests/accuracy -m timing
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'kneed>=0.8' 'MLRsearch>=1.2' || true
	@test -d target/otava || { $(BIN)/python -m venv target/otava && \
		target/otava/bin/python -m pip install --quiet --disable-pip-version-check 'apache-otava>=0.8'; } || rm -rf target/otava
	$(BIN)/python tests/accuracy/scorecard.py --rows '$(ROWS)' --scale $(SCALE)

bench: build
	$(BIN)/python benches/cpu_per_request.py

bench-analysis: build
	$(BIN)/python benches/analysis.py

bench-import: build
	$(BIN)/python benches/import_memory.py

bench-postgresql: build postgresql
	$(BIN)/python benches/postgresql_probe_cost.py
	$(BIN)/python benches/probe_effect.py
	$(BIN)/python benches/folio_database.py

# Index advice on planted and healthy loads, each measured again with what was advised; goes on where it was. 20 minutes.
bench-index-advice: build postgresql
	$(BIN)/python benches/index_advice.py

bench-hardware: build
	$(BIN)/python benches/more_hardware.py

bench-ui: build
	$(BIN)/python benches/live_page_cost.py

bench-scale: build
	$(BIN)/python benches/scale.py

compare-k6: build
	$(BIN)/python benches/compare_k6.py
	$(BIN)/python benches/websockets_beside_k6.py

# Each property for so many seconds, one after the other, from a seed that is printed; FUZZ_SEED gives one again.
FUZZ_SECONDS ?= 600
fuzz: build
	FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test --package plimsoll-core --package plimsoll-engine --package plimsoll-script \
	  --lib properties:: -- --nocapture --test-threads 1
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python -m pytest --capture no --timeout 0 tests/unit/fuzz

# Each field report as a study, and one page of their answers; about 45 minutes on a machine to itself.
studies: build # 99: all ended, and an answer is one that a build should fail at, as planted weaknesses are
	$(BIN)/plimsoll study --all lab/studies --isolate || { code=$$?; test $$code -eq 99 || exit $$code; }

# Two studies that are no part of the six: the report's minor endpoints, and the database below folio; about 15 minutes.
studies-beside: build postgresql
	$(BIN)/plimsoll study lab/studies/youtrack/minor.yaml --isolate || { code=$$?; test $$code -eq 99 || exit $$code; }
	$(BIN)/plimsoll study lab/studies/folio/database.yaml --isolate || { code=$$?; test $$code -eq 99 || exit $$code; }

# Every experiment on the lab's tracker and on servers of known truth, as a user types it; about 30 minutes.
experiments: build
	$(BIN)/python benches/experiments.py

# Each weakness of the studies' targets, on and off: found, and gone; about 50 minutes on a machine to itself.
weaknesses: build
	$(BIN)/python benches/weaknesses.py

known-capacity: build
	$(BIN)/python benches/known_capacity.py

# Limits planted on real processes, and whether the answer names them; goes on where it was. Some kinds need root.
VARIATIONS ?= 12
HEALTHY ?= 60
KINDS ?= all
SEED ?= 1
planted: build postgresql
	$(BIN)/python benches/planted/suite.py --variations $(VARIATIONS) --healthy $(HEALTHY) --kinds $(KINDS) --seed $(SEED)

# Real products from package registries, and whether k6 confirms the answers; root, two cores, goes on where it was. Hours.
PRODUCTS ?= all
RUNS ?= 3
gauntlet: build postgresql mariadb jdk
	$(BIN)/python benches/gauntlet --products '$(PRODUCTS)' --runs $(RUNS)

# Hours of load on a target that dies each minute; writes docs/soak.md.
SOAK_HOURS ?= 8
SOAK_RATE ?= 500
soak: build
	$(BIN)/python benches/soak.py --hours $(SOAK_HOURS) --rate $(SOAK_RATE)

# Faults, and whether what docs/reliability.md promises holds; writes its table. About an hour; some knocks need root.
KNOCKS ?= all
KILLS ?= 100
knocks: build
	$(BIN)/python benches/knocks --knocks '$(KNOCKS)' --kills $(KILLS)

# The locks of Python packages from pyproject.toml; LOCK=--upgrade takes the newest versions. Asks the package index.
LOCK ?=
lock: setup
	$(BIN)/python supply/locks.py $(LOCK)

# Licences, bans, sources and advisories of crates and Python packages; what cannot be asked here is skipped aloud.
CARGO_DENY ?= 0.20.2
audit: setup
	@test -x target/tools/bin/cargo-deny || command -v cargo-deny >/dev/null || cargo install --quiet --locked --root target/tools --version $(CARGO_DENY) cargo-deny || true
	@test -x target/audit/bin/pip-audit || { $(PYTHON) -m venv target/audit && \
	  $(BIN)/python supply/install.py target/audit/bin/python supply/locks/audit.txt; } || true
	$(BIN)/python supply/audit.py

# THIRD-PARTY-NOTICES.txt, which the wheel contains; a test says when it is out of date.
notices: setup
	$(BIN)/python supply/notices.py

# The part of it that is about the charts' JavaScript, by npm: for a new release of vl-convert-python, with what that bundles.
notices-javascript: setup
	$(BIN)/python supply/javascript_notices.py
	$(BIN)/python supply/notices.py

# uPlot, which draws the live page's charts, from npm and by its checksum: for a new version.
uplot: setup
	$(BIN)/python supply/uplot.py
	$(BIN)/python supply/notices.py

# Undefined behaviour, looked for by Miri in the unsafe code that calls neither QuickJS nor the kernel: the list of jobs that
# suspended VUs take along, and all of crates/core. It cannot follow a call into C, so the rest is not covered.
miri:
	@if ! cargo +nightly miri --version >/dev/null 2>&1; then \
	  echo "SKIPPED: Miri is missing (rustup component add miri rust-src --toolchain nightly)"; exit 0; fi; \
	cargo +nightly miri test --locked --target-dir target/miri --package plimsoll-script --lib job_list:: && \
	cargo +nightly miri test --locked --target-dir target/miri --package plimsoll-core --lib -- --skip properties::

docs: build
	$(BIN)/plimsoll schema > docs/study.schema.json
	$(BIN)/plimsoll schema --findings > docs/findings.schema.json
	$(BIN)/python -m plimsoll.cli.reference > docs/cli.md
	$(BIN)/python docs/k6-surface/compatibility_page.py > docs/k6-compatibility.md
	$(BIN)/python lab/docs/conclusions_page.py > lab/docs/conclusions.md

# The pages as a site that opens from the disk, target/site/index.html; fails at a broken link. Needs no build.
SITE_TOOLS := target/site-tools
docs-site: $(SITE_TOOLS)/.ready
	$(SITE_TOOLS)/bin/python docs/site/build.py

$(SITE_TOOLS)/.ready: supply/locks/site.txt
	$(PYTHON) -m venv $(SITE_TOOLS)
	$(SITE_TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement supply/locks/site.txt
	touch $@

wheel-smoke: setup
	rm -rf target/wheels
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin build --release --quiet --locked --interpreter $(BIN)/python
	rm -rf target/wheel-smoke && $(PYTHON) -m venv target/wheel-smoke
	$(BIN)/python supply/install.py target/wheel-smoke/bin/python supply/locks/runtime.txt
	target/wheel-smoke/bin/python -m pip install --quiet --disable-pip-version-check --no-deps target/wheels/*.whl
	target/wheel-smoke/bin/python -m pip check --disable-pip-version-check
	target/wheel-smoke/bin/python -c 'from importlib.metadata import files; assert "QuickJS" in next(one for one in files("plimsoll-line") if one.name == "THIRD-PARTY-NOTICES.txt").read_text()'
	cd target && { wheel-smoke/bin/plimsoll lab --help 2>&1 || true; } | grep -q "pip install ./lab"
	cd lab && ../$(BIN)/python -m flit_core.wheel --outdir ../target/wheels
	target/wheel-smoke/bin/python -m pip install --quiet --disable-pip-version-check --no-deps target/wheels/plimsoll_lab-*.whl
	cd target && wheel-smoke/bin/plimsoll lab --help > /dev/null
	cd target && wheel-smoke/bin/plimsoll --help > /dev/null && wheel-smoke/bin/python -c 'import plimsoll; from plimsoll.study import study_schema; from plimsoll import _engine'

clean:
	rm -rf $(VENV) target
