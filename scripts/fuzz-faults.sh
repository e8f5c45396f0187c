#!/usr/bin/env bash
# Shows that the fuzzer can fail: puts one deliberate fault after the other into a copy of the engine (the patches in
# Fuzzing/Faults), and demands that each is found within the time. The sources here are never touched.
#
# usage: scripts/fuzz-faults.sh [SECONDS [NAME…]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

duration=${1:-60}
shift || true
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
export SWIFT_DETERMINISTIC_HASHING=1

mkdir "$copy/Fuzzing"
cp -R Package.swift Sources Tests "$copy"
cp -R Fuzzing/Package.swift Fuzzing/Sources "$copy/Fuzzing"
if [[ -e Fuzzing/Package.resolved ]]; then cp Fuzzing/Package.resolved "$copy/Fuzzing"; fi
log="$copy/log"

# Debug: each fault changes one file, which is compiled again in seconds, and the faults are found soon enough.
build() {
    swift build --package-path "$copy/Fuzzing" --disable-index-store --product martlet-fuzz >"$log" 2>&1 || {
        cat "$log"
        return 1
    }
}

patches=()
for patch in Fuzzing/Faults/*.patch; do
    name=$(basename "$patch" .patch)
    if (($# > 0)) && [[ " $* " != *" $name "* ]]; then continue; fi
    patches+=("$PWD/$patch")
done

missed=0
table=$(printf '%-28s %-10s %s' fault found 'the rule that it broke')
for patch in "${patches[@]}"; do
    name=$(basename "$patch" .patch)
    if ! patch --directory "$copy" --strip 1 --forward --silent --no-backup-if-mismatch <"$patch" >"$log" 2>&1; then
        echo "fuzz-faults: $name does not apply any more:" >&2
        cat "$log" >&2
        exit 1
    fi
    build
    start=$(date +%s)
    if "$copy/Fuzzing/.build/debug/martlet-fuzz" --seconds "$duration" --unchecked >"$log" 2>&1; then
        missed=$((missed + 1))
        line=$(printf '%-28s %-10s %s' "$name" MISSED "$(tail -n 1 "$log")")
    else
        rule=$(grep -m 1 '^VIOLATION' "$log" || tail -n 1 "$log")
        line=$(printf '%-28s %-10s %s' "$name" "in $(($(date +%s) - start)) s" "${rule#VIOLATION  }")
    fi
    echo "$line"
    table+=$'\n'$line
    patch --directory "$copy" --strip 1 --reverse --silent --no-backup-if-mismatch <"$patch"
done

printf '\n%s\n' "$table"
printf '%s faults, %s missed\n' "${#patches[@]}" "$missed"
((missed == 0))
