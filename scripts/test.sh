#!/usr/bin/env bash
# Everything that must hold before a change is good: builds, tests and checks. What a step prints goes to a log; shown
# are its closing line, or where it failed the lines that matter. VERBOSE=1 shows all of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Tests and checks find the Python that has what they need.
if [[ -x .venv/bin/python3 ]]; then PATH="$PWD/.venv/bin:$PATH"; fi

# A folder of its own for the library without traits: with one for both, each would undo what the other has built.
core=.build/core
# Where Tools is built. In the library's own folder (TOOLS_BUILD=.build) what both depend on is built once, but the next build
# of either makes the library anew.
tools=$PWD/${TOOLS_BUILD:-Tools/.build}
# Further options for every build, separated by spaces. One there is always: the bash that macOS has takes an empty list for
# a mistake.
read -ra options <<<"--configuration debug ${BUILD_OPTIONS:-}"
logs=$PWD/.build/logs
mkdir -p "$logs"
closing=()

# step NAME COMMAND…: runs a step and keeps its closing line.
step() {
    local name=$1 start=$SECONDS log line status
    shift
    log="$logs/${name//[^a-zA-Z0-9]/-}.log"
    printf -- '── %s\n' "$name"
    # Not behind || or if, where bash lets a function go on after a command in it has failed.
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
        grep -E 'error:|✘|Fatal error|recorded an issue' "$log" | tail -n 60 || true
        printf '\n%s\n' "The end of $log:"
        tail -n 40 "$log"
        printf '\n✗ %s failed (%s s)\n' "$name" "$((SECONDS - start))"
        exit 1
    fi
    printf '   %s (%s s)\n' "$line" "$((SECONDS - start))"
    closing+=("$name: $line")
}

only_http_types() {
    swift package --disable-default-traits --scratch-path "$core" show-dependencies --format json |
        python3 -c '
import json, sys
names = [each["identity"] for each in json.load(sys.stdin)["dependencies"]]
if names != ["swift-http-types"]:
    sys.exit(f"error: with all traits off these are resolved: {names}")
print("With all traits off swift-http-types is resolved and nothing else.")'
}

formatting() {
    local folders=(Package.swift Sources Tests Tools/Package.swift Tools/Sources Tools/Tests) folder
    for folder in AppleStubs Benchmarks Examples Fuzzing scripts; do
        if [[ -d "$folder" ]]; then folders+=("$folder"); fi
    done
    # Packages of their own keep what they build beside their sources.
    find "${folders[@]}" -name .build -prune -o -name '*.swift' -print0 |
        xargs -0 swift format lint --strict
    echo "The formatter has nothing to say."
}

# The quick checks come first: they say in seconds what would otherwise be learned in minutes.
step "formatting" formatting
for check in check-folders.sh check-docs.py check-links.py check-guest-app.py; do
    if [[ -e "scripts/$check" ]]; then step "$check" "scripts/$check"; fi
done

step "dependencies without traits" only_http_types
step "library without traits, build" swift build "${options[@]}" --disable-default-traits --scratch-path "$core" --build-tests
step "apple-check" scripts/apple-check.sh
step "library without traits, tests" scripts/within.py 900 swift test "${options[@]}" --disable-default-traits --scratch-path "$core" --skip-build
# It needs no trait either.
step "example app's model" scripts/within.py 900 \
    swift test "${options[@]}" --package-path Examples/GuestApp/GuestKit --scratch-path "$core"
step "tools, build" swift build "${options[@]}" --package-path Tools --scratch-path "$tools" --build-tests
step "tools, warnings" scripts/compiler-warnings.py "$tools"
step "library with default traits, build" swift build "${options[@]}"
step "library with default traits, warnings" scripts/compiler-warnings.py .build
# While .build has what a newcomer's package needs: the dependencies, built for the default traits.
step "newcomer" scripts/within.py 900 scripts/newcomer.py
step "library with all traits, build" swift build "${options[@]}" --enable-all-traits --build-tests
# No trait changes what the search walks through.
step "library with all traits, tests" scripts/within.py 900 \
    swift test "${options[@]}" --enable-all-traits --skip-build --skip StateSearchTests \
    --event-stream-output-path "$logs/library.events"
step "docs" scripts/docs.sh
step "check-readme.sh" scripts/check-readme.sh
step "tools, tests" scripts/within.py 900 \
    swift test "${options[@]}" --package-path Tools --scratch-path "$tools" --skip-build \
    --event-stream-output-path "$logs/tools.events"
step "conformance" scripts/conformance.py --check --events "$logs/library.events" "$logs/tools.events"
step "kill -9 while a store writes" scripts/within.py 300 "$tools/debug/martlet" kills --rounds 1000
step "warnings" scripts/compiler-warnings.py .build

printf '\n%s\n' "All of it passed, in $((SECONDS / 60)) min $((SECONDS % 60)) s:"
printf '   %s\n' "${closing[@]}"
