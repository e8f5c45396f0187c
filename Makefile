# Martlet's tasks. Each works on a fresh machine with a Swift toolchain. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help demo serve test check ci smoke consumers weight adapters api apple-check apple-test former-test \
	conformance torture kills tsan tsan-short bench bench-once interop bench-micro bench-json search order fuzz \
	fuzz-multipart fuzz-faults fuzz-json fuzz-oauth oauth oauth-verdicts mutants format lint docs docs-preview clean

# Warnings are errors (see Package.swift). `make demo MARTLET_STRICT=` tolerates those of a newer compiler.
export MARTLET_STRICT ?= 1

# The picture of the demo's guest, for example `make demo IMAGE=me.jpg`.
IMAGE ?=
# The server's port, address and dialect. HOST=0.0.0.0 lets a phone connect, for example, and turns the controls off.
PORT ?= $(if $(filter docs-preview,$(MAKECMDGOALS)),8000,8080)
HOST ?= 127.0.0.1
DIALECT ?= envelope
# A file for the conformance table, and options for the benchmarks.
MARKDOWN ?=
BENCH ?=
# Options for make interop, such as "--seconds 60 --server simple_jwt", and for make oauth, such as "--pictures folder".
INTEROP ?=
OAUTH ?=
# The rounds of torture and kills, the lease of the torture's lock in milliseconds, and the fuzzer's time in seconds.
ROUNDS ?= 1000
LEASE ?=
SECONDS := 60
# The seed of one round or schedule. Without one, the seed is random and printed.
SEED ?=
# The number of choices in a sequence of the search, and of failures, restarts and other processes among them.
DEPTH ?= 5
DISTURBANCES ?= 1
# The number of random worlds of processes with one store, in each setting.
WORLDS ?= 100000
# The first seed of the fuzzers; random without one. The number of random multipart forms.
FIRST ?=
FORMS ?= 20000
# The number of random JSON documents.
DOCUMENTS ?= 1000000
# The number of random inputs of each kind for a sign-in with a browser.
INPUTS ?= 1000000
# The number of random faults, and the folders of Sources/Martlet that get them; without a list, six. The numbers of the
# faults to run; without a list, all.
COUNT ?= 30
FOLDERS ?=
ONLY ?=
# A part of the matrix of make consumers, such as "native debug none".
CELLS ?=
# Folders of libraries for make adapters, such as "Apollo=../apollo-ios".
LIBRARIES ?=
# Options for every build.
BUILD_OPTIONS ?=

SOURCES := Package.swift Sources Tests Tools/Package.swift Tools/Sources Tools/Tests AppleStubs AppleTests Benchmarks Examples \
	Fuzzing scripts
SWIFT_FILES := find $(SOURCES) -name .build -prune -o -name '*.swift' -print0

# A debug build takes a third less time than a release build, and `make check` uses the same objects. The first build
# shows its progress.
TOOLS_BUILD ?= Tools/.build
COMMAND := $(TOOLS_BUILD)/debug/martlet
BUILD_COMMAND := swift build --package-path Tools --scratch-path $(TOOLS_BUILD) --product martlet $(BUILD_OPTIONS) \
	$(if $(wildcard $(COMMAND)),--quiet)
# In the library's folder if Tools is there, too, because they share most of their dependencies.
BENCH_BUILD := $(if $(filter .build,$(TOOLS_BUILD)),.build,Benchmarks/.build)

# ThreadSanitizer needs objects of its own. CI runs only the suites whose tests run tasks, threads or processes at the
# same time.
TSAN_BUILD := --sanitize=thread $(BUILD_OPTIONS)
# If all tests began at once, each would take as long as all of them, and a slow machine would exceed their time limits.
# RedactionWorkTests count the work of one thread on large texts.
TSAN_WIDTH := --experimental-maximum-parallelization-width
TSAN_TEST = swift test $(TSAN_BUILD) --disable-default-traits --scratch-path .build/tsan --skip RedactionWorkTests \
	$(if $(findstring $(TSAN_WIDTH),$(shell swift test --help-hidden)),$(TSAN_WIDTH) 8)
TSAN_SUITES := Race|Fencing|SharedRecord|Lock|Store|SaveRetry|Burst|SignOut|SingleFlight|Broadcast|WriteBehind|FileQueue

# A debug build of the fuzzers finds as much in a schedule, but runs fewer of them. CI has one already.
FUZZ_BUILD ?= -c release -Xswiftc -enable-testing
FUZZ ?= Fuzzing/.build/release
export FUZZ_BUILD FUZZ

help: ## Lists the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-14s %s\n", $$1, $$2 }'

demo: ## Runs a whole session against a difficult server (IMAGE=path for a picture of yours).
	@scripts/install-dependencies.sh tools
	@$(if $(wildcard $(COMMAND)),,echo "Building the command: a few minutes the first time.")
	@$(BUILD_COMMAND)
	@$(COMMAND) demo $(if $(IMAGE),--image "$(abspath $(IMAGE))")

serve: ## Runs the reference backend until Ctrl-C, for curl or an app (PORT=8080 HOST=127.0.0.1 DIALECT=envelope).
	@scripts/install-dependencies.sh tools
	@$(BUILD_COMMAND)
	@exec $(COMMAND) serve --host "$(HOST)" --port "$(PORT)" --dialect "$(DIALECT)" \
		$(if $(filter 127.0.0.1 localhost,$(HOST)),--hostile --openid)

# TRAITS=--enable-all-traits tests all code, and needs more libraries.
test: ## Builds the library with the default traits, and runs its tests.
	@scripts/install-dependencies.sh $(if $(TRAITS),all,library)
	@scripts/test.sh library

check: ## Runs the tests of all traits and tools, and checks the sources and the documentation.
	@scripts/install-dependencies.sh
	@scripts/test.sh checks

ci: ## Runs what CI runs: make test, make check, make smoke and make tsan-short.
	@.ci/run

# The same seeds each time, so that only a change of the code changes the result, and a long lease, so that a busy machine
# does not. The fuzzer then tries a random seed, which it prints.
smoke: ## Runs the demo, the search, the random orders, the fuzzers and the torture, a few seconds each.
	@$(MAKE) demo
	@$(MAKE) search DEPTH=3
	@$(MAKE) order WORLDS=500
	@$(MAKE) fuzz SECONDS=5 FIRST=1
	@$(MAKE) fuzz SEED=$$((RANDOM * 32768 + RANDOM)) | sed -n '1p; $$p'
	@$(MAKE) fuzz-json DOCUMENTS=20000 FIRST=1
	@$(MAKE) torture ROUNDS=50 SEED=1 LEASE=3000

# Each cell builds seven programs. Not part of make check, which has one of them.
consumers: ## Builds apps that add Martlet by its URL: both build systems, traits, debug and release (CELLS="native debug").
	@scripts/consume.py --matrix --only "$(CELLS)"

# Not part of make test, because the build takes minutes.
weight: ## Builds a small app in release, prints its size and build time, and fails if it is a tenth larger than recorded.
	@scripts/weight.py

# Not part of make check, because it needs the libraries from GitHub and builds them. LIBRARIES="Apollo=folder" takes one
# from a folder.
adapters: ## Tries the adapters of KeepingTheClientYouHave with the libraries themselves.
	@scripts/try_adapters.py $(LIBRARIES)

# The newest tag by its version, because a fix of an old version may have been tagged later. The release may have warnings.
api: ## Compares the public API with the last release, and fails if a change breaks it.
	@tag=$$(git tag --list '[0-9]*.[0-9]*.[0-9]*' --sort=-version:refname | sed -n 1p); \
	if [[ -n $$tag ]]; then \
		MARTLET_STRICT= swift package diagnose-api-breaking-changes "$$tag"; \
	else \
		echo "There is no release yet to compare the API with: no tag has the form 1.2.3."; \
	fi

apple-check: ## Typechecks on Linux the code that only Apple platforms compile, against declarations of their API.
	@scripts/apple_check.py
	@AppleStubs/Record/compare.py

# On another system, the script says what it would run and fails.
apple-test: ## Runs on a Mac with Xcode the tests that need the Keychain, Image I/O and URLSession (AppleTests).
	@if [[ $$(uname) == Darwin ]]; then scripts/install-dependencies.sh tools && $(BUILD_COMMAND); fi
	@AppleTests/run.sh "$(COMMAND)"

former-test: ## Adopts on a Mac sessions that AppAuth, GTMAppAuth, Auth0.swift and supabase-swift have stored.
	@AppleTests/run.sh --former-libraries

conformance: ## Runs the conformance cases and prints a table of them (MARKDOWN=file writes it there too).
	@scripts/install-dependencies.sh
	@scripts/conformance.py $(if $(MARKDOWN),--markdown "$(MARKDOWN)")

torture: ## Runs processes that share a session, and kills and stops them (ROUNDS=1000 SEED=a number).
	@scripts/install-dependencies.sh
	@$(BUILD_COMMAND)
	@$(COMMAND) torture --rounds "$(ROUNDS)" $(if $(LEASE),--lease "$(LEASE)") $(if $(SEED),--seed "$(SEED)")

kills: ## Kills a process while it writes to the file stores and downloads (ROUNDS=1000 SEED=a number).
	@scripts/install-dependencies.sh tools
	@$(BUILD_COMMAND)
	@$(COMMAND) kills --rounds "$(ROUNDS)" $(if $(SEED),--seed "$(SEED)")

# Django and Flask come from PyPI, into .venv. Not part of make check, which needs no network.
interop: ## Runs processes that share a session of Django SimpleJWT, Django OAuth Toolkit and Flask-JWT-Extended.
	@scripts/install-dependencies.sh tools
	@$(BUILD_COMMAND)
	@if [[ ! -x .venv/bin/python3 ]]; then python3 -m venv .venv; fi
	@.venv/bin/python3 -m pip install --quiet --disable-pip-version-check -r Tools/Interop/requirements.txt || { \
		echo "PyPI did not deliver what Tools/Interop/requirements.txt lists. Install it into .venv by other means." >&2; \
		exit 1; \
	}
	@$(COMMAND) interop $(INTEROP)

# Glewlwyd and Chromium come from Debian, the others from PyPI. make check has a part of it, if they can be installed.
oauth: ## Signs in with a browser at Glewlwyd, Canaille and Django OAuth Toolkit (OAUTH="--server glewlwyd").
	@scripts/install-dependencies.sh tools
	@$(BUILD_COMMAND)
	@scripts/oauth.sh "$(COMMAND)" $(OAUTH)

# The sanitizer slows the processes down, so a refresh gets more time. It knows nothing of the locks in libcurl and
# Foundation, so the processes use one transport.
tsan: ## Runs the tests without traits and SECONDS=60 of torture under ThreadSanitizer.
	@scripts/install-dependencies.sh
	@$(TSAN_TEST)
	@swift build $(TSAN_BUILD) --package-path Tools --scratch-path .build/tsan-tools --product martlet
	@TSAN_OPTIONS="halt_on_error=1 suppressions=$(CURDIR)/Tools/thread-sanitizer.txt" \
		.build/tsan-tools/debug/martlet torture --lease "$(or $(LEASE),4000)" --seconds "$(SECONDS)" \
		--transport async-http-client $(if $(SEED),--seed "$(SEED)")

tsan-short: ## Runs the tests of concurrent code under ThreadSanitizer, as CI does.
	@$(TSAN_TEST) --filter '$(TSAN_SUITES)'

bench: ## Measures Martlet beside its transports; the chart is .build/bench.svg (BENCH="--quick" for a rough result).
	@scripts/install-dependencies.sh
	@swift build --package-path Benchmarks -c release
	@mkdir -p .build
	@Benchmarks/.build/release/martlet-bench --svg .build/bench.svg $(BENCH)
	@$(if $(findstring --part,$(BENCH)),,$(MAKE) bench-micro)

bench-micro: ## Measures the steps of a call, each by itself, in nanoseconds and instructions.
	@swift build --package-path Fuzzing -c release -Xswiftc -enable-testing --product martlet-bench-micro --quiet
	@Fuzzing/.build/release/martlet-bench-micro

bench-json: ## Compares the speed and memory of MartletJSON and Foundation's JSONDecoder.
	@swift build --package-path Fuzzing -c release --product martlet-bench-json --quiet
	@Fuzzing/.build/release/martlet-bench-json

# A debug build, in folders that have most of it. The figures mean nothing.
bench-once: ## Builds the benchmarks and runs one iteration of each, as make check does.
	@swift build $(BUILD_OPTIONS) --package-path Fuzzing --scratch-path .build/core --product martlet-bench-micro \
		--quiet
	@.build/core/debug/martlet-bench-micro --once
	@swift build $(BUILD_OPTIONS) --package-path Benchmarks --scratch-path $(BENCH_BUILD) --quiet
	@$(BENCH_BUILD)/debug/martlet-bench --once

search: ## Tries every sequence of events on the session engine (DEPTH=5 DISTURBANCES=1).
	@swift build --package-path Fuzzing $(FUZZ_BUILD) --quiet
	@SWIFT_DETERMINISTIC_HASHING=1 $(FUZZ)/martlet-search --depth "$(DEPTH)" \
		--disturbances "$(DISTURBANCES)"

order: ## Signs in and out at random in processes that share a failing store (WORLDS=100000 in each of 12 settings).
	@swift build --package-path Fuzzing $(FUZZ_BUILD) --quiet
	@SWIFT_DETERMINISTIC_HASHING=1 $(FUZZ)/martlet-search --worlds "$(WORLDS)" --first-seed "$(or $(FIRST),1)"

fuzz: ## Runs the session engine in random schedules (SECONDS=60), or prints the story of one of them (SEED=…).
	@scripts/fuzz.sh engine "$(SECONDS)" "$(SEED)" "$(FIRST)"

fuzz-multipart: ## Reads random multipart forms with a strict parser, two of Python's and the backend's (FORMS=20000).
	@scripts/install-dependencies.sh
	@export PATH="$(CURDIR)/.venv/bin:$$PATH" MARTLET_FORMS=$(FORMS); \
	export MARTLET_FIRST_FORM=$(or $(FIRST),$$((RANDOM * 1000000 + RANDOM))); \
	echo "$$MARTLET_FORMS forms from seed $$MARTLET_FIRST_FORM on." && \
	swift test $(BUILD_OPTIONS) --disable-default-traits --scratch-path .build/core --filter MultipartFuzzTests && \
	swift test $(BUILD_OPTIONS) --package-path Tools --scratch-path $(TOOLS_BUILD) --filter MultipartFormTests

fuzz-faults: ## Puts deliberate faults into a copy of the engine; the fuzzer must find each (SECONDS=60).
	@scripts/fuzz.sh faults "$(SECONDS)"

# A test, because what it tries is not public. The optimizer makes it about ten times as fast.
fuzz-oauth: ## Tries a sign-in with random tokens, key sets, metadata, callbacks and requests (INPUTS=1000000 FIRST=a seed).
	@MARTLET_OAUTH_INPUTS="$(INPUTS)" $(if $(FIRST),MARTLET_OAUTH_SEED="$(FIRST)") swift test --enable-all-traits \
		--configuration release -Xswiftc -enable-testing --filter RandomInputTests

# joserfc comes from PyPI, into .venv. Not part of make check, which needs no network.
oauth-verdicts: ## Compares the verdicts about the signatures of 10,000 ID tokens with those of joserfc and jwt-kit.
	@mkdir -p .build && rm -f .build/oauth-verdicts.* .build/jwt-kit-verdicts
	@MARTLET_OAUTH_VERDICTS="$(CURDIR)/.build/oauth-verdicts" swift test $(BUILD_OPTIONS) --enable-all-traits \
		--filter DamagedTokenTests
	@$(BUILD_COMMAND)
	@$(COMMAND) oauth-verdicts .build/oauth-verdicts.* > .build/jwt-kit-verdicts
	@if [[ ! -x .venv/bin/python3 ]]; then python3 -m venv .venv; fi
	@.venv/bin/python3 -m pip install --quiet --disable-pip-version-check -r Tools/Interop/requirements.txt
	@.venv/bin/python3 -W ignore Tools/Interop/oauth_verdicts.py --jwt-kit .build/jwt-kit-verdicts .build/oauth-verdicts.*

fuzz-json: ## Decodes random documents with MartletJSON and Foundation (DOCUMENTS=1000000), or one again (SEED=…).
	@swift build --package-path Fuzzing $(FUZZ_BUILD) --product martlet-fuzz-json --quiet
	@$(FUZZ)/martlet-fuzz-json --documents "$(DOCUMENTS)" $(if $(SEED),--seed "$(SEED)") \
		$(if $(FIRST),--first-seed "$(FIRST)")

mutants: ## Runs the tests with random faults, and lists those that no test notices (COUNT=30 SEED=… FOLDERS=…).
	@swift build --package-path Fuzzing --product martlet-mutants --quiet $(BUILD_OPTIONS)
	@Fuzzing/.build/debug/martlet-mutants --count "$(COUNT)" $(if $(SEED),--seed "$(SEED)") \
		$(if $(FOLDERS),--folders "$(FOLDERS)") $(if $(ONLY),--only "$(ONLY)")

format: ## Formats the sources in place.
	@$(SWIFT_FILES) | xargs -0 swift format format --in-place --parallel

lint: ## Checks the format and the style, the words of comments, and the length of functions.
	@scripts/check_comments.py
	@scripts/check_functions.py
	@$(SWIFT_FILES) | xargs -0 swift format lint --strict --parallel
	@echo "The formatter has no findings."

docs: ## Builds the documentation in docs/ as a static website. Warnings of DocC and missing files are errors.
	@scripts/install-dependencies.sh
	@scripts/docs.py build

docs-preview: ## Serves the documentation at http://127.0.0.1:8000 until Ctrl-C (PORT=0 picks a free port).
	@if [[ ! -e docs/index.html ]]; then $(MAKE) docs; fi
	@exec scripts/docs.py serve "$(PORT)"

clean: ## Deletes everything that was built.
	rm -rf .build .venv docs Tools/.build Benchmarks/.build Fuzzing/.build Examples/GuestApp/GuestKit/.build Examples/GRPCSession/.build
