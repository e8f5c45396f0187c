#!/usr/bin/env bash
# Typechecks on Linux what only Apple's platforms compile. What it does stands in apple_check.py, what it means in
# AppleStubs/README.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ "$(uname)" == Darwin ]]; then
    echo "Apple's branches are compiled by swift build here, with Apple's own declarations: there is nothing to check."
    exit 0
fi
if [[ ! -e .build/core/debug/Modules/HTTPTypes.swiftmodule ]]; then
    read -ra options <<<"--configuration debug ${BUILD_OPTIONS:-}"
    swift build "${options[@]}" --disable-default-traits --scratch-path .build/core --target HTTPTypes
fi
exec python3 scripts/apple_check.py "$@"
