#!/usr/bin/env bash
# Tests the session engine with random schedules.
#
#   scripts/fuzz.sh engine [SECONDS [SEED [FIRST]]]   runs random schedules; with SEED, prints the story of one; the
#                                                     seeds start at FIRST, or at a random number
#   scripts/fuzz.sh faults [SECONDS [NAME…]]          puts each fault of Fuzzing/Faults into a copy of the engine, and
#                                                     fails unless the fuzzer or the search finds it in time; those
#                                                     with a "Finder" are for the random orders of sign-ins; without a
#                                                     NAME, it also prints the rules that no fault has broken
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
engine() {
    local duration=${1:-60} seed=${2:-} first=${3:-$((RANDOM * 1000000 + 1))}
    local fuzzer=${FUZZ:-Fuzzing/.build/release}/martlet-fuzz digests core cores run runs=() status=0 options
    read -ra options <<<"${FUZZ_BUILD:--c release -Xswiftc -enable-testing}"
    swift build --package-path Fuzzing "${options[@]}" --quiet

    # A schedule must not depend on the order of sets and dictionaries, which differs between processes.
    digests=$("$fuzzer" --first-seed 1 --digests 200)
    if [[ -z "$digests" || "$digests" != "$("$fuzzer" --first-seed 1 --digests 200)" ]]; then
        echo "fuzz: two processes made different schedules from the same seeds" >&2
        exit 1
    fi
    # One order from here on, so that a seed always means the same schedule.
    export SWIFT_DETERMINISTIC_HASHING=1
    [[ -z "$seed" ]] || { "$fuzzer" --seed "$seed" && return; }

    # A schedule runs on one thread, so each core runs a process with its own seeds.
    for ((core = 0, cores = $(getconf _NPROCESSORS_ONLN); core < cores; core++)); do
        "$fuzzer" --seconds "$duration" --first-seed $((first + core * 100000000)) >"$scratch/$core" 2>&1 &
        runs+=($!)
    done
    for run in "${runs[@]}"; do wait "$run" || status=1; done
    grep -hvE '^(  .{30} *[0-9]+|[0-9]+ schedules.*)$' "$scratch"/* || true
    awk '
        /^[0-9]+ schedules and / { schedules_a_second += $1; jobs_a_second += $4; next }
        /^[0-9]+ schedules, / { schedules += $1; violations += $3; next }
        /^  .*[0-9]$/ && length($0) == 42 {
            name = substr($0, 1, 32)
            if (!(name in count)) names[++last] = name
            count[name] += $NF
        }
        END {
            # A name with an asterisk counts schedules.
            for (row = 1; row <= last; row++) {
                share = names[row] ~ /^  \*/ ? sprintf("%7.1f %% of the schedules", 100 * count[names[row]] / schedules) : ""
                printf "%s%10d%s\n", names[row], count[names[row]], share
            }
            printf "%d schedules and %d jobs a second.\n", schedules_a_second, jobs_a_second
            printf "%d schedules, %d violations\n", schedules, violations
        }' "$scratch"/*
    return "$status"
}

# Runs a fuzzer on each core until one of them finds a violation, and prints the output of that one.
fuzz_until_violation() {
    local core runs=() found=
    for ((core = 0; core < $(getconf _NPROCESSORS_ONLN); core++)); do
        "$scratch/Fuzzing/.build/debug/martlet-fuzz" --unchecked --seconds "$1" >"$scratch/run.$core" 2>&1 &
        runs+=($!)
    done
    while [[ -z $found ]] && ((${#runs[@]} > 0)); do
        sleep 0.2
        for core in "${!runs[@]}"; do
            if kill -0 "${runs[core]}" 2>/dev/null; then continue; fi
            wait "${runs[core]}" || found=$core
            unset "runs[core]"
        done
    done
    if [[ -z $found ]]; then return 1; fi
    for core in "${!runs[@]}"; do
        kill "${runs[core]}" 2>/dev/null || true
        wait "${runs[core]}" 2>/dev/null || true
    done
    cat "$scratch/run.$found"
}

# Prints the rules in source files that no fault of the run has broken. A fault that the fuzzer finds does not reach the
# search, so most rules of the search are among them.
print_unbroken() {
    echo "rules of the $1 that no fault has broken:"
    perl -0ne 'print "$1\n" while /(?:\brule:|\bcase \w+ =)\s*"([^"]*)"/g' "${@:2}" |
        grep -vxFf "$scratch/broken" | sed 's/^/  /' || true
}

faults() {
    local duration=${1:-60} log=$scratch/log count=0 missed=0 patch name start tool found first
    shift || true
    # A fault may leave a variable unused.
    export SWIFT_DETERMINISTIC_HASHING=1 MARTLET_STRICT=
    mkdir "$scratch/Fuzzing"
    cp -R Package.swift Sources Tests "$scratch" && cp -R Fuzzing/Package.swift Fuzzing/Sources "$scratch/Fuzzing"
    if [[ -e Fuzzing/Package.resolved ]]; then cp Fuzzing/Package.resolved "$scratch/Fuzzing"; fi

    printf '%-30s %-16s %s\n' fault found 'the rule that it breaks'
    for patch in Fuzzing/Faults/*.patch; do
        name=$(basename "$patch" .patch)
        if (($# > 0)) && [[ " $* " != *" $name "* ]]; then continue; fi
        count=$((count + 1))
        # Debug, because a fault changes one file, and compiling one file again takes seconds.
        if ! { patch --directory "$scratch" --strip 1 --forward --no-backup-if-mismatch <"$patch" &&
            swift build --package-path "$scratch/Fuzzing"; } >"$log" 2>&1; then
            cat "$log" >&2
            echo "fuzz: the fault $name does not apply or does not compile; update $patch" >&2
            exit 1
        fi
        found=MISSED
        start=$SECONDS
        # The steps of such a fault meet too rarely in the worlds of the fuzzer and the search.
        first=$(sed -n 's/^Finder: order, first seed //p' "$patch")
        if [[ -z $first ]] && grep -q '^Finder:' "$patch"; then
            echo "fuzz: $patch names a finder that does not exist: $(head -1 "$patch")" >&2
            exit 1
        fi
        if [[ -n $first ]]; then
            "$scratch/Fuzzing/.build/debug/martlet-search" --first --worlds 2000 --first-seed "$first" \
                >"$log" 2>&1 || found="order, $((SECONDS - start)) s"
        elif fuzz_until_violation "$duration" >"$log"; then
            found="fuzz, $((SECONDS - start)) s"
        else
            start=$SECONDS
            "$scratch/Fuzzing/.build/debug/martlet-search" --first --depth 9 --disturbances 1 --seconds "$duration" \
                >"$log" 2>&1 || found="search, $((SECONDS - start)) s"
        fi
        if [[ $found == MISSED ]]; then missed=$((missed + 1)); fi
        sed -n 's/^VIOLATION  //p' "$log" >>"$scratch/broken"
        printf '%-30s %-16s %s\n' "$name" "$found" \
            "$( (grep -m 1 '^VIOLATION' "$log" || tail -n 1 "$log") | sed 's/^VIOLATION  //')"
        patch --directory "$scratch" --strip 1 --reverse --silent --no-backup-if-mismatch <"$patch"
    done
    if (($# == 0)); then
        print_unbroken fuzzer Fuzzing/Sources/MartletFuzz/Judgement/Invariant+*.swift
        print_unbroken search Fuzzing/Sources/MartletSearch/World/Rules.swift
    fi
    printf '%s faults, %s missed\n' "$count" "$missed"
    ((missed == 0))
}

case "${1:-}" in
    engine | faults) "$@" ;;
    *) echo "usage: scripts/fuzz.sh engine|faults …" >&2 && exit 2 ;;
esac
