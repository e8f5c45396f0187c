#!/usr/bin/env bash
# Runs what must pass before a change is merged.
#
#   scripts/test.sh library   builds the library with the default traits, or with those of TRAITS, and runs its tests
#   scripts/test.sh checks    everything else: the other tests and builds, the documentation and the checks
#
# Each step logs to .build/logs and prints its last line or, if it fails, the relevant lines. VERBOSE=1 prints everything.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -x .venv/bin/python3 ]]; then PATH="$PWD/.venv/bin:$PATH"; fi

# The library without traits builds in its own folder, because each set of traits replaces the objects of the other.
core=.build/core
# CI builds Tools in the library's folder (TOOLS_BUILD=.build), so that shared dependencies build once. Elsewhere that
# costs more than it saves: each of the two packages then rebuilds the library.
tools=$PWD/${TOOLS_BUILD:-Tools/.build}
# Options for every build. The array is never empty, because bash 3.2 of macOS rejects empty arrays under `set -u`.
read -ra options <<<"--configuration debug ${BUILD_OPTIONS:-}"
# Options for the library. An app gets the default traits. CI passes --enable-all-traits, so that one build tests all code.
read -ra library_options <<<"${options[*]} ${TRAITS:-}"
logs=$PWD/.build/logs
mkdir -p "$logs"
closing=()

# step NAME COMMAND…: runs a step and keeps its last line.
step() {
    local name=$1 start=$SECONDS log line status
    shift
    log="$logs/${name//[^a-zA-Z0-9]/-}.log"
    printf -- '── %s\n' "$name"
    # After || or within if, bash would ignore `set -e` in the step's function.
    set +e
    if [[ -n "${VERBOSE:-}" ]]; then
        (set -e; "$@") </dev/null 2>&1 | tee "$log"
    else
        (set -e; "$@") </dev/null >"$log" 2>&1
    fi
    status=$?
    set -e
    line=$(grep -E 'Test run with|Build complete' "$log" | tail -n 1) || line=$(tail -n 1 "$log")
    if ((status != 0)); then
        printf '\n%s\n' "The end of $log:"
        tail -n 20 "$log"
        printf '\n%s\n' "What failed:"
        grep -E 'error:|✘|Fatal error|recorded an issue' "$log" | tail -n 40 || true
        printf '\n✗ %s failed (%s s)\n' "$name" "$((SECONDS - start))"
        exit 1
    fi
    printf '   %s (%s s)\n' "$line" "$((SECONDS - start))"
    closing+=("$name: $line")
}

# within SECONDS COMMAND…: interrupts a command that takes too long. SwiftPM then ends the tests that it has started.
within() {
    if command -v timeout >/dev/null; then
        timeout --signal=INT --kill-after=10 "$@"
    else
        perl -e 'alarm shift; exec @ARGV' "$@" # macOS has no timeout.
    fi
}

library() {
    step "library, build" swift build "${library_options[@]}" --build-tests
    step "library, tests" within 900 \
        swift test "${library_options[@]}" --skip-build --event-stream-output-path "$logs/library.events"
}

checks() {
    step "format" make lint
    step "layout" scripts/check_folders.py
    step "links" scripts/check_links.py
    step "names" scripts/check_names.py
    step "titles in the conformance table" scripts/conformance.py --titles
    step "example app's project" scripts/check_guest_app.py
    step "choice of a simulator" AppleTests/simulator.py --check
    step "warnings are errors" scripts/check_strict.py

    # CI has built and tested the library with all traits before.
    if [[ " ${library_options[*]} " != *" --enable-all-traits "* ]]; then
        library_options=("${options[@]}" --enable-all-traits)
        library
    fi
    step "docs" scripts/docs.py build
    step "Swift blocks of the documentation" scripts/check_readme.py

    step "example app's model" within 900 \
        swift test "${options[@]}" --package-path Examples/GuestApp/GuestKit --scratch-path "$core"
    step "example session for gRPC" within 900 \
        swift test "${options[@]}" --package-path Examples/GRPCSession --scratch-path "$core"
    step "apple-check" make apple-check

    step "tools, build" swift build "${options[@]}" --package-path Tools --scratch-path "$tools" --build-tests
    step "tools, tests" within 900 \
        swift test "${options[@]}" --package-path Tools --scratch-path "$tools" --skip-build \
        --event-stream-output-path "$logs/tools.events"
    step "kill -9 while a store writes" within 300 "$tools/debug/martlet" kills --rounds 1000
    # Says "skipped", and why, if the servers or the browser cannot be installed.
    [[ -n "${SKIP_OAUTH:-}" ]] || step "sign-ins at servers of other authors" within 420 \
        scripts/oauth.sh --if-possible "$tools/debug/martlet" --short --no-color
    step "app that adds the package by its URL" within 900 \
        scripts/consume.py --event-stream-output-path "$logs/consumer.events"
    step "conformance" scripts/conformance.py --check --markdown "$logs/conformance.md" \
        --events "$logs/library.events" "$logs/tools.events" "$logs/consumer.events"
    # Builds the product Martlet with the default traits.
    step "newcomer, with default traits" within 900 scripts/newcomer.py
    step "what the compiler says without a trait" within 900 scripts/check_hints.py
    step "benchmarks, one iteration" make bench-once
}

case "${1:-}" in
    library | checks) "$1" ;;
    *) echo "usage: scripts/test.sh library|checks" >&2 && exit 2 ;;
esac

printf '\n%s\n' "All of it passed, in $((SECONDS / 60)) min $((SECONDS % 60)) s:"
printf '   %s\n' "${closing[@]}"
