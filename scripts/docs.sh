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
read -ra options <<<"--configuration debug ${BUILD_OPTIONS:-}"
symbols="$(swift build "${options[@]}" --enable-all-traits --show-bin-path)/../symbolgraph"
rm -rf "$symbols"
# It wants to see the tests as well, and says that it has failed where they were not built. What counts is what it has written.
swift package "${options[@]}" --enable-all-traits dump-symbol-graph --minimum-access-level public >"$graphs/log" 2>&1 || true
for catalogue in Sources/*/*.docc; do
    [[ -e "$symbols/$(basename "$catalogue" .docc).symbols.json" ]] || {
        cat "$graphs/log" >&2
        exit 1
    }
done

# convert MODULE FOLDER BASE: makes the site of a module.
convert() {
    mkdir "$graphs/$1"
    cp "$symbols/$1.symbols.json" "$graphs/$1"
    # What it adds to other modules, if anything.
    find "$symbols" -name "$1@*.symbols.json" -exec cp {} "$graphs/$1" \;
    "$docc" convert "Sources/$1/$1.docc" --additional-symbol-graph-dir "$graphs/$1" \
        --fallback-display-name "$1" --fallback-bundle-identifier "martlet.$1" --warnings-as-errors \
        --transform-for-static-hosting --hosting-base-path "$3" --output-path "$2"
}

base=${HOSTING_BASE_PATH:-martlet}
rm -rf docs
convert Martlet docs "$base"
pages=docs/index.html
for catalogue in Sources/Martlet?*/*.docc; do
    module=$(basename "$catalogue" .docc)
    name=$(tr '[:upper:]' '[:lower:]' <<<"${module#Martlet}")
    convert "$module" "docs/$name" "$base/$name"
    pages+=", docs/$name/index.html"
done
echo "Without a warning: $pages. They want a web server, with the folder docs at /$base."
