#!/usr/bin/env python3
"""Checks that Examples/GuestApp is consistent: its Xcode project, its property lists and its string catalogs.

Xcode does not run on Linux. So this parses the project, follows its references, and checks that what it names exists. It
does so for the project of AppleTests, too.
Each text of the views must be in the catalog, in English and Korean with the same placeholders, and nothing else.
"""

import json
import plistlib
import re
import sys
import xml.etree.ElementTree

from swift_source import ROOT, code_of, shown, swift_files

APP = ROOT / "Examples" / "GuestApp"
PROJECT = APP / "GuestApp.xcodeproj"
# The app and its extension: folders, targets and modules have these names.
PARTS = ("GuestApp", "GuestWidget")
GROUP = "com.apple.security.application-groups"
TESTS = ROOT / "AppleTests"
LANGUAGES = {"en", "ko"}
PRODUCTS = {"GuestKit"} | {
    f"Martlet{name}" for name in ("", "Adoption", "Background", "Combine", "Guests", "Images", "JSON", "OAuth", "Testing", "UI")}

# Literals that SwiftUI takes as a LocalizedStringKey.
TEXTS = re.compile(
    r"(?:\b(?:Text|Button|Label|TextField|ContentUnavailableView|Section|Menu|Toggle|LabeledContent)\(\s*|"
    r"\.(?:navigationTitle|alert|accessibilityLabel|accessibilityHint|accessibilityValue|configurationDisplayName|description)"
    r"\(\s*|\bString\(localized:\s*)"
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
        paths += [f"{objects[exceptions['target']]['name']}/{name}" for name in exceptions["membershipExceptions"]]
    for path in paths:
        if not (APP / path).exists():
            fail(f"{shown(PROJECT)}: there is no {path}")
    for product in all_of("XCSwiftPackageProductDependency"):
        manifest = APP / objects[product["package"]]["relativePath"] / "Package.swift"
        if f'.library(name: "{product["productName"]}"' not in manifest.read_text():
            fail(f"{shown(manifest)} has no product {product['productName']}")
    targets = {target["name"]: target for target in all_of("PBXNativeTarget")}
    if targets.keys() != set(PARTS):
        fail(f"{shown(PROJECT)}: the targets are not {' and '.join(PARTS)}")
    for name, target in targets.items():
        check_target(objects, name, target)
    check_group(objects)

    settings = [each["buildSettings"] for each in all_of("XCBuildConfiguration")]
    deployed = {each["IPHONEOS_DEPLOYMENT_TARGET"] for each in settings if "IPHONEOS_DEPLOYMENT_TARGET" in each}
    promised = re.search(r"\.iOS\(\.v(\d+)\)", (APP / "GuestKit" / "Package.swift").read_text()).group(1)
    if deployed != {f"{promised}.0"}:
        fail(f"the app's deployment target is iOS {', '.join(deployed)}, and that of GuestKit {promised}")
    for path in {each["INFOPLIST_FILE"] for each in settings if "INFOPLIST_FILE" in each}:
        if plistlib.loads((APP / path).read_bytes())["NSAppTransportSecurity"] != {"NSAllowsLocalNetworking": True}:
            fail(f"{path} must allow the local network, and nothing else")
    # Without the text, the system shows no prompt for Face ID.
    app = [each for each in settings if each.get("INFOPLIST_FILE") == "GuestApp/Info.plist"]
    if not app or not all(each.get("INFOPLIST_KEY_NSFaceIDUsageDescription") for each in app):
        fail(f"{shown(PROJECT)}: the app has no NSFaceIDUsageDescription")
    return len(objects)


def check_target(objects, name, target):
    """Checks that a target links what it imports, and that the app contains its extension."""
    used = {objects[each]["productName"] for each in target["packageProductDependencies"]}
    phases = [objects[each] for each in target["buildPhases"]]
    framework = next(each for each in phases if each["isa"] == "PBXFrameworksBuildPhase")
    if {objects[objects[each]["productRef"]]["productName"] for each in framework["files"]} != used:
        fail(f"{shown(PROJECT)}: {name} does not link all products that it names")
    code = "\n".join(path.read_text() for path in swift_files(APP / name))
    if (imports := PRODUCTS & set(re.findall(r"^import (\w+)", code, re.MULTILINE))) != used:
        fail(f"{name} imports {', '.join(sorted(imports))} and links {', '.join(sorted(used))}")
    copied = [objects[file]["fileRef"] for each in phases if each["isa"] == "PBXCopyFilesBuildPhase" for file in each["files"]]
    others = [each for each in objects.values() if each["isa"] == "PBXNativeTarget" and each is not target]
    is_app = target["productType"] == "com.apple.product-type.application"
    if copied != ([each["productReference"] for each in others] if is_app else []):
        fail(f"{shown(PROJECT)}: {name} does not contain the right extensions")


def check_group(objects):
    """Checks that the app and its extension are signed for the app group that the code names, and have their own ids."""
    shared = (APP / "GuestKit" / "Sources" / "GuestKit" / "SharedSession.swift").read_text()
    group = re.search(r'static let group = "(.+)"', shared)[1]
    ids = {}
    for settings in (each["buildSettings"] for each in objects.values() if each["isa"] == "XCBuildConfiguration"):
        if path := settings.get("CODE_SIGN_ENTITLEMENTS"):
            if plistlib.loads((APP / path).read_bytes()) != {GROUP: [group]}:
                fail(f"{path} does not name the app group {group}, and nothing else")
            ids.setdefault(path, set()).add(settings["PRODUCT_BUNDLE_IDENTIFIER"])
    if ids.keys() != {f"{part}/{part}.entitlements" for part in PARTS} or len(set.union(*ids.values())) != len(PARTS):
        fail(f"{shown(PROJECT)}: a target has no entitlements, or the bundle identifier of another one")
    app, widget = (ids[f"{part}/{part}.entitlements"].pop() for part in PARTS)
    if not widget.startswith(app + "."):
        fail(f"{shown(PROJECT)}: the identifier of an extension begins with that of its app")
    extension = plistlib.loads((APP / "GuestWidget" / "Info.plist").read_bytes())["NSExtension"]
    if extension != {"NSExtensionPointIdentifier": "com.apple.widgetkit-extension"}:
        fail("GuestWidget/Info.plist does not describe a widget")
    if set(re.findall(r"case app, (\w+)", shared)) != {"widget"} or "transfers.\\(process.rawValue)" not in shared:
        fail("the processes do not have their own identifiers for background sessions")


def check_previews():
    """Checks that each screen has a preview. Those of MartletUI need no macro: that one is missing without Xcode."""
    count = 0
    for part in PARTS:
        for path in swift_files(APP / part):
            text = path.read_text()
            for screen in re.findall(r"^struct (\w+): View\b", text, re.MULTILINE):
                count += 1
                if not re.search(rf"#Preview\(\"[^\"]+\"\) {{[^#]*\b{screen}\(", text):
                    fail(f"{shown(path)}: {screen} has no preview")
    code = "\n".join(code_of(path.read_text()) for path in swift_files(ROOT / "Sources"))
    if "#Preview" in code:
        fail("Sources: use PreviewProvider, because the macro is missing without Xcode")
    previews = re.findall(r"^\s*(?:private )?struct \w+Previews: PreviewProvider {(.*?)^    }", code, re.MULTILINE | re.DOTALL)
    for screen in re.findall(r"^\s*public struct (\w+)(?:<[^>]*>)?: View\b", code, re.MULTILINE):
        count += 1
        if not any(re.search(rf"\b{screen}\(", each) for each in previews):
            fail(f"Sources/MartletUI: {screen} has no preview")
    return count


def check_privacy(part):
    """An app that calls an API with required reasons itself needs a privacy manifest of its own."""
    uses = any("UserDefaults" in code_of(path.read_text()) for path in swift_files(APP / part))
    manifest = APP / part / "PrivacyInfo.xcprivacy"
    listed = plistlib.loads(manifest.read_bytes())["NSPrivacyAccessedAPITypes"] if manifest.exists() else []
    reasons = {entry["NSPrivacyAccessedAPIType"]: entry["NSPrivacyAccessedAPITypeReasons"] for entry in listed}
    if uses != (reasons == {"NSPrivacyAccessedAPICategoryUserDefaults": ["CA92.1"]}):
        fail(f"{shown(manifest)}: {part} {'uses' if uses else 'does not use'} UserDefaults")


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


def check_texts(part):
    used = {}
    for path in swift_files(APP / part):
        for text in TEXTS.findall(path.read_text()):
            # SwiftUI looks up interpolated texts with placeholders.
            used[re.sub(r"\\\((?:[^()]|\([^()]*\))*\)", "%@", text)] = path
    catalog = APP / part / "Localizable.xcstrings"
    texts = strings(catalog)
    for text in sorted(used.keys() - texts):
        fail(f"{shown(used[text])}: “{text}” is not in the catalog")
    for text in sorted(texts - used.keys()):
        fail(f"{shown(catalog)}: no view uses “{text}”")
    return len(texts)


def main():
    objects, texts, previews = check_project(), sum(map(check_texts, PARTS)), check_previews()
    strings(APP / "GuestApp" / "InfoPlist.xcstrings")
    for part in PARTS:
        check_privacy(part)
    print(f"The tests for a Mac are consistent: {check_tests()} objects in their project.")
    print(
        f"The example app is consistent: {objects} objects in its project, {texts} texts in two languages, "
        f"{previews} screens with a preview.")


if __name__ == "__main__":
    main()
