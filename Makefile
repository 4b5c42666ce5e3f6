# Every target sets up what it needs. `make demo` and `make test` are the only two commands a fresh machine needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name '*.js' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: setup build demo test lint fmt accuracy bench bench-scale bench-analysis bench-import compare-k6 fuzz known-capacity docs wheel-smoke postgresql clean

setup: $(VENV)/.ready
build: $(VENV)/.built

$(VENV)/.ready: pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python is missing: install Python 3.11 or later (Debian: apt-get install python3 python3-venv)"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; set PYTHON=/path/to/python3.11"; exit 2; }
	@command -v cargo >/dev/null || { echo "Rust is missing: install it with rustup (rustup.rs), 1.88 or later"; exit 2; }
	@command -v cc >/dev/null || { echo "A C compiler is missing (Debian: apt-get install gcc libc6-dev)"; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; print("\n".join(p["dependencies"] + p["optional-dependencies"]["development"]))' > $(VENV)/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(VENV)/requirements.txt
	touch $@

$(VENV)/.built: $(VENV)/.ready $(RUST_SOURCES)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --quiet
	cargo build --release --quiet --package plimsoll-testkit
	touch $@

demo: build
	$(BIN)/plimsoll demo

test: build postgresql
	cargo test --workspace --quiet
	$(BIN)/python -m pytest

# The tests of the PostgreSQL tracker start a server of their own; it only has to be installed.
postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || { \
	  if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null; \
	  else echo "PostgreSQL is missing, which tests need (Debian: sudo apt-get install postgresql)"; exit 2; fi; }

lint: build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff check python tests docs benches
	$(BIN)/ruff format --check python tests docs benches
	$(BIN)/lint-imports
	$(BIN)/mypy python/plimsoll

fmt: setup
	cargo fmt --all
	$(BIN)/ruff check --fix python tests docs benches
	$(BIN)/ruff format python tests docs benches

# The scorecard, docs/accuracy.md, and the few tests that need a machine to themselves. ROWS: only lines that contain
# this (no page is written); SCALE: so many times the repetitions; kneed is a peer, and no dependency.
ROWS ?=
SCALE ?= 1
accuracy: build
	$(BIN)/python -m pytest tests/accuracy -m timing
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'kneed>=0.8' || true
	$(BIN)/python tests/accuracy/scorecard.py --rows '$(ROWS)' --scale $(SCALE)

bench: build
	$(BIN)/python benches/cpu_per_request.py

bench-analysis: build
	$(BIN)/python benches/analysis.py

bench-import: build
	$(BIN)/python benches/import_memory.py

bench-scale: build
	$(BIN)/python benches/scale.py

compare-k6: build
	$(BIN)/python benches/compare_k6.py

# Each property for so many seconds, one after the other, from a seed that is printed; FUZZ_SEED gives one again.
FUZZ_SECONDS ?= 600
fuzz:
	FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test --package plimsoll-core --package plimsoll-engine --package plimsoll-script \
	  --lib properties:: -- --nocapture --test-threads 1

known-capacity: build
	$(BIN)/python benches/known_capacity.py

docs: build
	$(BIN)/plimsoll schema > docs/study.schema.json
	$(BIN)/python -m plimsoll.cli.reference > docs/cli.md
	$(BIN)/python docs/k6-surface/compatibility_page.py > docs/k6-compatibility.md

wheel-smoke: setup
	rm -rf target/wheels
	$(BIN)/maturin build --release --quiet
	rm -rf target/wheel-smoke && $(PYTHON) -m venv target/wheel-smoke
	target/wheel-smoke/bin/python -m pip install --quiet --disable-pip-version-check target/wheels/*.whl
	cd target && wheel-smoke/bin/plimsoll --help > /dev/null && wheel-smoke/bin/python -c 'import plimsoll; from plimsoll.study import study_schema; from plimsoll import _engine'

clean:
	rm -rf $(VENV) target
