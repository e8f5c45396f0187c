#!/usr/bin/env bash
# Runs the session engine in random schedules and looks for what must never happen.
#
# usage: scripts/fuzz.sh [SECONDS [SEED]]     with a seed: tells the story of its schedule
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

duration=${1:-60} seed=${2:-}
fuzzer=Fuzzing/.build/release/martlet-fuzz

swift build --package-path Fuzzing -c release --product martlet-fuzz --quiet

# Schedules do not depend on the order of sets and dictionaries, which is another one in each process: two processes
# with different orders must do the same. What follows runs with one order all the same, so that a seed stays what it is.
digests() { "$fuzzer" --first-seed 1 --digests 200; }
if [[ "$(digests)" != "$(digests)" ]]; then
    echo "fuzz: two processes made different schedules of the same seeds" >&2
    exit 1
fi
export SWIFT_DETERMINISTIC_HASHING=1
if [[ -n "$seed" ]]; then exec "$fuzzer" --seed "$seed"; fi
exec "$fuzzer" --seconds "$duration"
