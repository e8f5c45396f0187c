#!/usr/bin/env python3
"""Whether Examples/GuestApp hangs together: its Xcode project, its property list and its string catalogues.

Nothing here can open Xcode, so the project is parsed, each reference in it is followed, and what it names on disk must be
there. Each text of the views must be in the catalogue, in English and Korean with the same things put in, and nothing else.
"""

import json
import plistlib
import re
import sys
import xml.etree.ElementTree

from swift_source import ROOT, shown, swift_files

APP = ROOT / "Examples" / "GuestApp"
PROJECT = APP / "GuestApp.xcodeproj"
LANGUAGES = {"en", "ko"}

# The texts that a view shows: literals where SwiftUI takes a LocalizedStringKey.
TEXTS = re.compile(
    r"(?:\b(?:Text|Button|Label|TextField|ContentUnavailableView|Section|Menu|Toggle|LabeledContent)\(\s*|"
    r"\.(?:navigationTitle|alert|accessibilityLabel|accessibilityHint|accessibilityValue)\(\s*)"
    r'"((?:[^"\\]|\\.)*)"')

_TOKEN = re.compile(r'\s*(?://[^\n]*|/\*.*?\*/|"((?:[^"\\]|\\.)*)"|([\w$/:.-]+)|([{}()=;,]))', re.DOTALL)


def fail(message):
    sys.exit(f"error: {message}")


def parse(text):
    """A property list in the old style, as Xcode writes its projects."""
    tokens = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if not match:
            fail(f"{shown(PROJECT)}: nobody can read what stands at {text[position:position + 40]!r}")
        position = match.end()
        if match.group(3):
            tokens.append(match.group(3))
        elif match.group(1) is not None or match.group(2):
            tokens.append(("text", match.group(1) if match.group(1) is not None else match.group(2)))
    tokens.reverse()

    def expect(sign):
        if not tokens or tokens.pop() != sign:
            fail(f"{shown(PROJECT)}: “{sign}” is missing, {len(tokens)} words before the end")

    def value():
        token = tokens.pop()
        if token == "{":
            result = {}
            while tokens[-1] != "}":
                key = tokens.pop()[1]
                if key in result:
                    fail(f"{shown(PROJECT)}: {key} is there twice")
                expect("=")
                result[key] = value()
                expect(";")
            tokens.pop()
            return result
        if token == "(":
            result = []
            while tokens[-1] != ")":
                result.append(value())
                if tokens[-1] != ")":
                    expect(",")
            tokens.pop()
            return result
        if isinstance(token, str):
            fail(f"{shown(PROJECT)}: “{token}” stands where a value should")
        return token[1]

    result = value()
    if tokens:
        fail(f"{shown(PROJECT)}: something follows its end")
    return result


def references(value):
    """The ids of objects that a value names."""
    if isinstance(value, dict):
        return {name for part in (*value.keys(), *value.values()) for name in references(part)}
    if isinstance(value, list):
        return {name for part in value for name in references(part)}
    return {value} if re.fullmatch(r"[0-9A-F]{24}", value) else set()


def check_project():
    text = (PROJECT / "project.pbxproj").read_text()
    if not text.startswith("// !$*UTF8*$!\n"):
        fail(f"{shown(PROJECT)}: its first line does not say that it is UTF-8")
    project = parse(text)
    objects = project["objects"]

    reached = set()
    waiting = {project["rootObject"]}
    while waiting:
        name = waiting.pop()
        if name not in objects:
            fail(f"{shown(PROJECT)}: there is no object {name}")
        reached.add(name)
        waiting |= references({key: part for key, part in objects[name].items() if key != "isa"}) - reached
    if lost := objects.keys() - reached:
        fail(f"{shown(PROJECT)}: nothing leads to {', '.join(sorted(lost))}")

    def all_of(kind):
        return [each for each in objects.values() if each["isa"] == kind]

    for package in all_of("XCLocalSwiftPackageReference"):
        if not (APP / package["relativePath"] / "Package.swift").is_file():
            fail(f"{shown(PROJECT)}: there is no package at {package['relativePath']}")
    linked = set()
    for product in all_of("XCSwiftPackageProductDependency"):
        folder = APP / objects[product["package"]]["relativePath"]
        if f'.library(name: "{product["productName"]}"' not in (folder / "Package.swift").read_text():
            fail(f"{shown(folder)} has no product {product['productName']}")
        linked.add(product["productName"])
    for group in all_of("PBXFileSystemSynchronizedRootGroup"):
        if not (APP / group["path"]).is_dir():
            fail(f"there is no folder {group['path']}")
    for exceptions in all_of("PBXFileSystemSynchronizedBuildFileExceptionSet"):
        for name in exceptions["membershipExceptions"]:
            if not (APP / "GuestApp" / name).is_file():
                fail(f"there is no file GuestApp/{name}")
    target = all_of("PBXNativeTarget")[0]
    used = {objects[each]["productName"] for each in target["packageProductDependencies"]}
    framework = next(each for each in all_of("PBXFrameworksBuildPhase"))
    if used != linked or {objects[objects[each]["productRef"]]["productName"] for each in framework["files"]} != used:
        fail(f"{shown(PROJECT)}: not all products that are named are linked")
    ours = {"GuestKit", "Martlet", "MartletImages", "MartletTesting", "MartletUI"}
    imports = {name for path in swift_files(APP / "GuestApp") for name in re.findall(r"^import (\w+)", path.read_text(), re.M)}
    if imports & ours != used:
        fail(f"the app imports {', '.join(sorted(imports & ours))} and links {', '.join(sorted(used))}")

    settings = [each["buildSettings"] for each in all_of("XCBuildConfiguration")]
    deployed = {each["IPHONEOS_DEPLOYMENT_TARGET"] for each in settings if "IPHONEOS_DEPLOYMENT_TARGET" in each}
    promised = re.search(r"\.iOS\(\.v(\d+)\)", (APP / "GuestKit" / "Package.swift").read_text()).group(1)
    if deployed != {f"{promised}.0"}:
        fail(f"the app runs on iOS {', '.join(deployed)}, GuestKit on {promised}")
    for path in {each["INFOPLIST_FILE"] for each in settings if "INFOPLIST_FILE" in each}:
        security = plistlib.loads((APP / path).read_bytes())["NSAppTransportSecurity"]
        if security != {"NSAllowsLocalNetworking": True}:
            fail(f"{path} allows more than the local network, or not even that")

    for path in PROJECT.rglob("*.xcscheme"):
        for reference in xml.etree.ElementTree.parse(path).iter("BuildableReference"):
            if reference.get("BlueprintIdentifier") not in objects:
                fail(f"{shown(path)} is about another target")
    return len(objects)


def placeholders(text):
    return sorted(re.findall(r"%(?:\d+\$)?(?:@|lld)", text))


def entries(path):
    """What a catalogue has, once each entry is known to be whole."""
    strings = json.loads(path.read_text())["strings"]
    for key, entry in strings.items():
        units = {language: part["stringUnit"] for language, part in entry["localizations"].items()}
        if units.keys() != LANGUAGES:
            fail(f"{shown(path)}: “{key}” is in {', '.join(sorted(units))}")
        for language, unit in units.items():
            if unit["state"] != "translated" or not unit["value"]:
                fail(f"{shown(path)}: “{key}” is not translated in {language}")
            if placeholders(unit["value"]) != placeholders(units["en"]["value"]):
                fail(f"{shown(path)}: “{key}” has something else put in in {language}")
    return strings


def check_texts():
    used = {}
    for path in swift_files(APP / "GuestApp"):
        for text in TEXTS.findall(path.read_text()):
            # Interpolated texts are looked up with a placeholder.
            used[re.sub(r"\\\((?:[^()]|\([^()]*\))*\)", "%@", text)] = path
    catalogue = APP / "GuestApp" / "Localizable.xcstrings"
    strings = entries(catalogue)
    for text in sorted(used.keys() - strings.keys()):
        fail(f"{shown(used[text])}: “{text}” is not in the catalogue")
    for text in sorted(strings.keys() - used.keys()):
        fail(f"{shown(catalogue)}: “{text}” is not used")
    entries(APP / "GuestApp" / "InfoPlist.xcstrings")
    return len(strings)


def main():
    objects = check_project()
    texts = check_texts()
    print(f"The example app hangs together: {objects} objects in its project, {texts} texts in {len(LANGUAGES)} languages.")


main()
