#!/usr/bin/env python3
"""Checks that Examples/GuestApp is consistent: its Xcode project, its property list and its string catalogs.

Xcode does not run on Linux. So this parses the project, follows its references, and checks that what it names exists. It
does so for the project of AppleTests, too.
Each text of the views must be in the catalog, in English and Korean with the same placeholders, and nothing else.
"""

import json
import plistlib
import re
import sys
import xml.etree.ElementTree

from swift_source import ROOT, shown, swift_files

APP = ROOT / "Examples" / "GuestApp"
PROJECT = APP / "GuestApp.xcodeproj"
TESTS = ROOT / "AppleTests"
LANGUAGES = {"en", "ko"}
PRODUCTS = {"GuestKit"} | {
    f"Martlet{name}" for name in ("", "Background", "Combine", "Guests", "Images", "JSON", "Testing", "UI")}

# Literals that SwiftUI takes as a LocalizedStringKey.
TEXTS = re.compile(
    r"(?:\b(?:Text|Button|Label|TextField|ContentUnavailableView|Section|Menu|Toggle|LabeledContent)\(\s*|"
    r"\.(?:navigationTitle|alert|accessibilityLabel|accessibilityHint|accessibilityValue)\(\s*)"
    r'"((?:[^"\\]|\\.)*)"')

_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:[^"\\]|\\.)*")|([\w$/:.-]+)|([()=;])', re.DOTALL)
_SIGNS = {"(": "[", ")": "]", "=": ":", ";": ","}


def fail(message):
    sys.exit(f"error: {message}")


def parse(path):
    """A property list in the OpenStep format, as Xcode writes its projects."""

    def json_token(match):
        quoted, word, sign = match.groups()
        return quoted or (f'"{word}"' if word else _SIGNS.get(sign, ""))

    def unique(pairs):
        keys = [key for key, _ in pairs]
        if len(keys) != len(set(keys)):
            fail(f"{shown(path)}: a key of these occurs twice: {', '.join(keys)}")
        return dict(pairs)

    text = path.read_text()
    if not text.startswith("// !$*UTF8*$!\n"):
        fail(f"{shown(path)}: the first line does not name UTF-8")
    text = re.sub(r",(\s*[}\]])", r"\1", _TOKEN.sub(json_token, text))
    try:
        return json.loads(text, object_pairs_hook=unique, strict=False)
    except json.JSONDecodeError as error:
        fail(f"{shown(path)}: cannot read {text[error.pos : error.pos + 40]!r}: {error.msg}")


def references(value):
    """The ids of objects in a value."""
    return set(re.findall(r'"([0-9A-F]{24})"', json.dumps(value)))


def read(project):
    """The objects of a project, all of which are used. Its schemes name no other targets."""
    parsed = parse(project / "project.pbxproj")
    objects = parsed["objects"]
    reached, waiting = set(), {parsed["rootObject"]}
    while waiting:
        name = waiting.pop()
        if name not in objects:
            fail(f"{shown(project)}: there is no object {name}")
        reached.add(name)
        waiting |= references(objects[name]) - reached
    if lost := objects.keys() - reached:
        fail(f"{shown(project)}: no object refers to {', '.join(sorted(lost))}")
    for path in project.rglob("*.xcscheme"):
        for reference in xml.etree.ElementTree.parse(path).iter("BuildableReference"):
            if objects.get(reference.get("BlueprintIdentifier"), {}).get("name") != reference.get("BlueprintName"):
                fail(f"{shown(path)} names a target that the project does not have")
    return objects


def check_tests():
    """Checks the project of AppleTests. Returns the number of its objects."""
    project = TESTS / "AppleTests.xcodeproj"
    objects = read(project)
    settings = [each["buildSettings"] for each in objects.values() if each["isa"] == "XCBuildConfiguration"]
    paths = [each["path"] for each in objects.values() if each["isa"] == "PBXFileSystemSynchronizedRootGroup"]
    names = ("INFOPLIST_FILE", "CODE_SIGN_ENTITLEMENTS[sdk=iphonesimulator*]")
    paths += [each[name] for each in settings for name in names if name in each]
    for path in paths:
        if not (TESTS / path).exists():
            fail(f"{shown(project)}: there is no {path}")
        if path.endswith((".plist", ".entitlements")):
            plistlib.loads((TESTS / path).read_bytes())
    linked = {each["productName"] for each in objects.values() if each["isa"] == "XCSwiftPackageProductDependency"}
    code = "\n".join(path.read_text() for path in swift_files(TESTS / "Tests"))
    imports = (PRODUCTS | {"HTTPTypes"}) & set(re.findall(r"^\s*(?:@testable )?import (\w+)", code, re.MULTILINE))
    if imports != linked:
        fail(f"the tests import {', '.join(sorted(imports))} and link {', '.join(sorted(linked))}")
    return len(objects)


def check_project():
    objects = read(PROJECT)

    def all_of(kind):
        return [each for each in objects.values() if each["isa"] == kind]

    paths = [package["relativePath"] + "/Package.swift" for package in all_of("XCLocalSwiftPackageReference")]
    paths += [group["path"] for group in all_of("PBXFileSystemSynchronizedRootGroup")]
    for exceptions in all_of("PBXFileSystemSynchronizedBuildFileExceptionSet"):
        paths += [f"GuestApp/{name}" for name in exceptions["membershipExceptions"]]
    for path in paths:
        if not (APP / path).exists():
            fail(f"{shown(PROJECT)}: there is no {path}")
    linked = {product["productName"] for product in all_of("XCSwiftPackageProductDependency")}
    for product in all_of("XCSwiftPackageProductDependency"):
        manifest = APP / objects[product["package"]]["relativePath"] / "Package.swift"
        if f'.library(name: "{product["productName"]}"' not in manifest.read_text():
            fail(f"{shown(manifest)} has no product {product['productName']}")
    used = {objects[each]["productName"] for each in all_of("PBXNativeTarget")[0]["packageProductDependencies"]}
    framework = all_of("PBXFrameworksBuildPhase")[0]
    if used != linked or {objects[objects[each]["productRef"]]["productName"] for each in framework["files"]} != used:
        fail(f"{shown(PROJECT)}: the target does not link all products that the project names")
    code = "\n".join(path.read_text() for path in swift_files(APP / "GuestApp"))
    if (imports := PRODUCTS & set(re.findall(r"^import (\w+)", code, re.MULTILINE))) != used:
        fail(f"the app imports {', '.join(sorted(imports))} and links {', '.join(sorted(used))}")

    settings = [each["buildSettings"] for each in all_of("XCBuildConfiguration")]
    deployed = {each["IPHONEOS_DEPLOYMENT_TARGET"] for each in settings if "IPHONEOS_DEPLOYMENT_TARGET" in each}
    promised = re.search(r"\.iOS\(\.v(\d+)\)", (APP / "GuestKit" / "Package.swift").read_text()).group(1)
    if deployed != {f"{promised}.0"}:
        fail(f"the app's deployment target is iOS {', '.join(deployed)}, and that of GuestKit {promised}")
    for path in {each["INFOPLIST_FILE"] for each in settings if "INFOPLIST_FILE" in each}:
        if plistlib.loads((APP / path).read_bytes())["NSAppTransportSecurity"] != {"NSAllowsLocalNetworking": True}:
            fail(f"{path} must allow the local network, and nothing else")
    return len(objects)


def strings(path):
    """The entries of a string catalog. Each has all languages and the same placeholders in each."""
    entries = json.loads(path.read_text())["strings"]
    for key, entry in entries.items():
        units = {language: part["stringUnit"] for language, part in entry["localizations"].items()}
        states = {unit["state"] if unit["value"] else "empty" for unit in units.values()}
        if units.keys() != LANGUAGES or states != {"translated"}:
            fail(f"{shown(path)}: translate “{key}” into {' and '.join(sorted(LANGUAGES))}")
        if len({tuple(sorted(re.findall(r"%(?:\d+\$)?(?:@|lld)", unit["value"]))) for unit in units.values()}) != 1:
            fail(f"{shown(path)}: “{key}” has other placeholders in another language")
    return entries.keys()


def check_texts():
    used = {}
    for path in swift_files(APP / "GuestApp"):
        for text in TEXTS.findall(path.read_text()):
            # SwiftUI looks up interpolated texts with placeholders.
            used[re.sub(r"\\\((?:[^()]|\([^()]*\))*\)", "%@", text)] = path
    catalog = APP / "GuestApp" / "Localizable.xcstrings"
    texts = strings(catalog)
    for text in sorted(used.keys() - texts):
        fail(f"{shown(used[text])}: “{text}” is not in the catalog")
    for text in sorted(texts - used.keys()):
        fail(f"{shown(catalog)}: no view uses “{text}”")
    strings(APP / "GuestApp" / "InfoPlist.xcstrings")
    return len(texts)


def main():
    objects, texts = check_project(), check_texts()
    print(f"The tests for a Mac are consistent: {check_tests()} objects in their project.")
    print(f"The example app is consistent: {objects} objects in its project, {texts} texts in two languages.")


if __name__ == "__main__":
    main()
