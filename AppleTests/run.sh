#!/usr/bin/env bash
# Runs the tests of this folder on a Mac: on a simulator of iOS, and on macOS signed ad hoc and not signed by Xcode.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $(uname) != Darwin ]] || ! command -v xcodebuild >/dev/null; then
    echo "make apple-test needs a Mac with Xcode 26, where it runs the Keychain, Image I/O and URLSession tests of" \
        "AppleTests on a simulator of iOS and on macOS; here, make apple-check typechecks them." >&2
    exit 1
fi

command=${1:-Tools/.build/debug/martlet}
folder=$(mktemp -d)
mkfifo "$folder/output"
"$command" serve --port 0 --hostile >"$folder/output" &
backend=$!
trap 'kill "$backend"; rm -rf "$folder"' EXIT
exec 3<"$folder/output"
address=
while read -r line <&3; do
    if [[ $line =~ listens\ at\ (http://[^ ]+) ]]; then
        address=${BASH_REMATCH[1]}
        break
    fi
done
if [[ -z $address ]]; then
    echo "The reference backend ended before it had an address." >&2
    exit 1
fi
# The host app may use plain HTTP with names of the local network only.
export TEST_RUNNER_MARTLET_BACKEND=${address/127.0.0.1/localhost}
# A full pipe would stop the backend.
cat <&3 >/dev/null &

device=$(xcrun simctl list devices available | sed -nE 's/^ +iPhone.*\(([0-9A-F-]{36})\) \(.*/\1/p' | tail -n 1)
if [[ -z $device ]]; then
    echo "Xcode has no iPhone simulator: install one in its settings, under Components." >&2
    exit 1
fi

# run TITLE DESTINATION SETTING: runs all tests, and goes on with the next run if one fails.
failed=0
run() {
    printf '── %s\n' "$1"
    xcodebuild test -project AppleTests/AppleTests.xcodeproj -scheme AppleTests -destination "$2" \
        -derivedDataPath .build/apple-test -skipMacroValidation "$3" || failed=1
}

run "simulator of iOS" "id=$device" CODE_SIGN_IDENTITY=-
run "macOS, signed ad hoc" "platform=macOS" CODE_SIGN_IDENTITY=-
run "macOS, not signed by Xcode" "platform=macOS" CODE_SIGNING_ALLOWED=NO
exit "$failed"
