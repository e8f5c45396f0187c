# Martlet's errands. Each works on a fresh machine with a Swift toolchain; `make help` says what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo serve test apple-check conformance torture kills bench fuzz fuzz-multipart fuzz-faults format lint docs clean

# The picture that the demo's guest registers with, the server's port and dialect; say e.g. `make demo IMAGE=me.jpg`.
IMAGE ?=
PORT ?= 8080
# The address it listens on. 0.0.0.0 lets other machines in, such as a phone; then it has no controls.
HOST ?= 127.0.0.1
DIALECT ?= envelope
# A file for the conformance table, and options for the benchmarks.
MARKDOWN ?=
BENCH ?=
# How many rounds of the torture, and for how long the fuzzer runs, in seconds.
ROUNDS ?= 1000
SECONDS := 60
# Which rounds, or which of the fuzzer's schedules; a random seed is taken, and named, without one.
SEED ?=
# The first of the fuzzer's seeds; random without one.
FIRST ?=
# How many random multipart forms are read back; they start with the seed FIRST, or a random one.
FORMS ?= 20000

SOURCES := Package.swift Sources Tests Tools/Package.swift Tools/Sources Tools/Tests \
	$(wildcard AppleStubs Benchmarks Examples Fuzzing scripts)

# Further options for every build.
BUILD_OPTIONS ?=

# Debug: from nothing it is there in two thirds of the time of a release build, and `make test` uses the same objects. The
# first build shows how it gets on; later ones have nothing to say.
TOOLS_BUILD ?= Tools/.build
COMMAND := $(TOOLS_BUILD)/debug/martlet
BUILD_COMMAND := swift build --package-path Tools --scratch-path $(TOOLS_BUILD) --product martlet $(BUILD_OPTIONS) \
	$(if $(wildcard $(COMMAND)),--quiet)

help: ## Lists what there is.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

demo: ## Plays the life of a session against a server that does not make it easy (IMAGE=path for a picture of yours).
	@scripts/install-dependencies.sh tools
	@$(if $(wildcard $(COMMAND)),,echo "Building the command: a few minutes the first time.")
	@$(BUILD_COMMAND)
	@$(COMMAND) demo $(if $(IMAGE),--image "$(abspath $(IMAGE))")

serve: ## Runs the reference backend until Ctrl-C, for curl or an app (PORT=8080 HOST=127.0.0.1 DIALECT=envelope).
	@scripts/install-dependencies.sh tools
	@$(BUILD_COMMAND)
	@exec $(COMMAND) serve --host "$(HOST)" --port "$(PORT)" --dialect "$(DIALECT)" \
		$(if $(filter 127.0.0.1 localhost,$(HOST)),--hostile)

test: ## Builds the library in every combination of traits, runs all tests and checks.
	@scripts/install-dependencies.sh
	@scripts/test.sh

apple-check: ## Typechecks on Linux what only Apple's platforms compile, against declarations of their API.
	@scripts/apple-check.sh

conformance: ## Runs the conformance cases C01 to C65 and prints a table of them (MARKDOWN=file writes it there too).
	@scripts/install-dependencies.sh
	@scripts/conformance.py $(if $(MARKDOWN),--markdown "$(MARKDOWN)")

torture: ## Lets processes share a session, and kills and stops them at it (ROUNDS=1000 SEED=a number).
	@scripts/install-dependencies.sh tools
	@$(BUILD_COMMAND)
	@$(COMMAND) torture --rounds "$(ROUNDS)" $(if $(SEED),--seed "$(SEED)")

kills: ## Kills a process 1,000 times while it writes to the file stores and downloads (ROUNDS=1000 SEED=a number).
	@scripts/install-dependencies.sh tools
	@$(BUILD_COMMAND)
	@$(COMMAND) kills --rounds "$(ROUNDS)" $(if $(SEED),--seed "$(SEED)")

bench: ## Measures what Martlet costs on top of its transport (BENCH="--quick" for a few seconds of it).
	@scripts/install-dependencies.sh
	@swift build --package-path Benchmarks -c release
	@Benchmarks/.build/release/martlet-bench $(BENCH)

fuzz: ## Runs the session engine in random schedules (SECONDS=60), or tells the story of one of them (SEED=…).
	@scripts/fuzz.sh "$(SECONDS)" "$(SEED)" "$(FIRST)"

fuzz-multipart: ## Has random multipart forms read by a strict parser, two of Python's and the backend's (FORMS=20000).
	@scripts/install-dependencies.sh
	@scripts/fuzz-multipart.sh "$(FORMS)" "$(FIRST)"

fuzz-faults: ## Puts deliberate faults into a copy of the engine and demands that the fuzzer finds each within 60 s.
	@scripts/fuzz-faults.sh "$(SECONDS)"

format: ## Formats the sources in place.
	@find $(SOURCES) -name .build -prune -o -name '*.swift' -print0 | xargs -0 swift format format --in-place --parallel

lint: ## Says what the formatter would change.
	@find $(SOURCES) -name .build -prune -o -name '*.swift' -print0 | xargs -0 swift format lint --strict --parallel

docs: ## Makes the documentation in docs/, as a site of static files (any warning of DocC fails it).
	@scripts/install-dependencies.sh
	@scripts/docs.sh

clean: ## Deletes everything that was built.
	rm -rf .build .venv docs Tools/.build Benchmarks/.build Fuzzing/.build Examples/GuestApp/GuestKit/.build
