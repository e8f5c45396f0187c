#!/usr/bin/env bash
# Makes random multipart forms and has them read by parsers that must all find in them what was put in.
#
# usage: scripts/fuzz-multipart.sh [FORMS [FIRST]]     FIRST: the seed of the first form; random without one
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -x .venv/bin/python3 ]]; then PATH="$PWD/.venv/bin:$PATH"; fi
export MARTLET_FORMS=${1:-20000}
export MARTLET_FIRST_FORM=${2:-$((RANDOM * 1000000 + RANDOM))}
# Further options for every build, separated by spaces.
read -ra options <<<"--configuration debug ${BUILD_OPTIONS:-}"
echo "$MARTLET_FORMS forms from seed $MARTLET_FIRST_FORM on."
swift test "${options[@]}" --disable-default-traits --scratch-path .build/core --filter MultipartFuzzTests
swift test "${options[@]}" --package-path Tools --scratch-path "${TOOLS_BUILD:-Tools/.build}" --filter MultipartFormTests
