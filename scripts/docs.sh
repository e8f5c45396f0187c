#!/usr/bin/env bash
# Makes the documentation of the library in docs/ with the toolchain's own DocC, which needs no plug-in and no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

docc=$(command -v docc || xcrun --find docc 2>/dev/null || true)
[[ -n "$docc" ]] || docc="$(dirname "$(readlink -f "$(command -v swift)")")/docc"
[[ -x "$docc" ]] || {
    echo "docs: there is no docc in this Swift toolchain" >&2
    exit 1
}

# With all traits, so that every transport has its page; the dependencies' symbols are left out.
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
swift package --enable-all-traits dump-symbol-graph --minimum-access-level public >"$graphs/log" 2>&1 || {
    cat "$graphs/log" >&2
    exit 1
}
mkdir "$graphs/Martlet"
cp "$(swift build --enable-all-traits --show-bin-path)/../symbolgraph"/Martlet{,@*}.symbols.json "$graphs/Martlet"

rm -rf docs
"$docc" convert Sources/Martlet/Martlet.docc --additional-symbol-graph-dir "$graphs/Martlet" \
    --fallback-display-name Martlet --fallback-bundle-identifier martlet.Martlet --warnings-as-errors \
    --transform-for-static-hosting --hosting-base-path "${HOSTING_BASE_PATH:-martlet}" --output-path docs
echo "docs/index.html is the front page; it wants a web server, with the folder at /${HOSTING_BASE_PATH:-martlet}."
