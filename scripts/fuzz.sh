#!/usr/bin/env bash
# Runs the session engine in random schedules and looks for what must never happen.
#
# usage: scripts/fuzz.sh [SECONDS [SEED [FIRST]]]     with a seed: tells the story of its schedule
#
# The seeds are random ones, or those from FIRST on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

duration=${1:-60} seed=${2:-} first=${3:-}
fuzzer=Fuzzing/.build/release/martlet-fuzz

swift build --package-path Fuzzing -c release --product martlet-fuzz --quiet

# Schedules do not depend on the order of sets and dictionaries, which is another one in each process: two processes
# with different orders must do the same. What follows runs with one order all the same, so that a seed stays what it is.
digests() { "$fuzzer" --first-seed 1 --digests 200; }
one=$(digests)
other=$(digests)
if [[ -z "$one" || "$one" != "$other" ]]; then
    echo "fuzz: two processes made different schedules of the same seeds" >&2
    exit 1
fi
export SWIFT_DETERMINISTIC_HASHING=1
if [[ -n "$seed" ]]; then exec "$fuzzer" --seed "$seed"; fi

# A schedule runs on one thread, so each core has a process of its own, with seeds of its own.
cores=$(getconf _NPROCESSORS_ONLN)
first=${first:-$((RANDOM * 1000000 + 1))}
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
runs=()
for ((core = 0; core < cores; core++)); do
    "$fuzzer" --seconds "$duration" --first-seed $((first + core * 100000000)) >"$reports/$core" 2>&1 &
    runs+=($!)
done
status=0
for run in "${runs[@]}"; do wait "$run" || status=1; done

for ((core = 0; core < cores; core++)); do
    grep -vE '^(  .{30} *[0-9]+|[0-9]+ schedules.*)$' "$reports/$core" || true
done
# The figures of all of them, added up.
awk '
    /^[0-9]+ schedules and / { schedules_a_second += $1; jobs_a_second += $4; next }
    /^[0-9]+ schedules, / { schedules += $1; violations += $3; next }
    /^  .*[0-9]$/ && length($0) == 42 {
        name = substr($0, 1, 32)
        if (!(name in count)) names[++last] = name
        count[name] += $NF
    }
    END {
        for (place = 1; place <= last; place++) printf "%s%10d\n", names[place], count[names[place]]
        printf "%d schedules and %d jobs a second.\n", schedules_a_second, jobs_a_second
        printf "%d schedules, %d violations\n", schedules, violations
    }' "$reports"/*
exit "$status"
