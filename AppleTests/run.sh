#!/usr/bin/env bash
# Runs the tests of this folder on a Mac: on a simulator of iOS, and on macOS signed ad hoc and not signed by Xcode.
# With --former-libraries, runs those of the package FormerLibraries instead, which need no app.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ $(uname) != Darwin ]] || ! command -v xcodebuild >/dev/null; then
    echo "make apple-test needs a Mac with Xcode 26.4, where it runs the Keychain, Image I/O and URLSession tests of" \
        "AppleTests on a simulator of iOS and on macOS, and so does make former-test for the tests with other" \
        "libraries; here, make apple-check typechecks them." >&2
    exit 1
fi

if [[ ${1:-} == --former-libraries ]]; then
    exec swift test --package-path AppleTests/FormerLibraries --scratch-path .build/former-test
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

sdk=$(xcrun --sdk iphonesimulator --show-sdk-version)
simulator=$(xcrun simctl list --json | AppleTests/simulator.py "$sdk")
read -r device name <<<"$simulator"

# run FOLDER TITLE DESTINATION SETTING: runs all tests, and goes on with the next run if one fails. Runs share no products:
# each is signed otherwise.
failed=0
run() {
    printf '── %s\n' "$2"
    rm -rf ".build/apple-test/$1"
    xcodebuild test -project AppleTests/AppleTests.xcodeproj -scheme AppleTests -destination "$3" \
        -derivedDataPath ".build/apple-test/$1" -skipMacroValidation "$4" || failed=1
}

run simulator "simulator of iOS ($name)" "id=$device" CODE_SIGN_IDENTITY=-
run ad-hoc "macOS, signed ad hoc" "platform=macOS" CODE_SIGN_IDENTITY=-
run unsigned "macOS, not signed by Xcode" "platform=macOS" CODE_SIGNING_ALLOWED=NO
exit "$failed"
