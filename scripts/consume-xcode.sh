#!/usr/bin/env bash
# Builds with Xcode a throwaway package that adds Martlet by its URL, as an app does. That passes -suppress-warnings.
#
# usage: scripts/consume-xcode.sh PLATFORM URL COMMIT     PLATFORM: macOS, or for example "iOS Simulator"
set -euo pipefail

platform=$1 url=$2 commit=$3
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/consumer/xcode" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/app/Sources/App"
cp "$sources/App.swift" "$folder/app/Sources/App/"

products=
for product in Martlet MartletAdoption MartletBackground MartletCombine MartletGuests MartletImages MartletJSON MartletOAuth MartletTesting MartletUI; do
    products+=".product(name: \"$product\", package: \"martlet\"), "
done
cat >"$folder/app/Package.swift" <<EOF
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "app",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [.library(name: "App", targets: ["App"])],
    dependencies: [.package(url: "$url", revision: "$commit")],
    targets: [.target(name: "App", dependencies: [${products%, }])]
)
EOF

cd "$folder/app"
# An app's build does not have the variable.
unset MARTLET_STRICT
# Git itself also fetches the commits of pull requests.
xcodebuild build -scheme App -destination "generic/platform=$platform" -derivedDataPath "$folder/derived" \
    -scmProvider system -skipMacroValidation CODE_SIGNING_ALLOWED=NO
echo "An app for $platform that adds Martlet by its URL builds."
