"""Where our sources are compiled: on Apple's systems, on the others, and in the shapes of scripts/apple_check.py."""

import itertools
import re
import sys

from apple_conditions import Place, Unclear, resolve
from swift_source import ROOT, code_of, shown, swift_files

STUBS = ROOT / "AppleStubs" / "Modules"
SOURCES = ROOT / "Sources"
# The example app, whose modules are no part of the package.
EXAMPLE = ROOT / "Examples" / "GuestApp"
EXAMPLES = {"GuestKit": EXAMPLE / "GuestKit" / "Sources" / "GuestKit", "GuestApp": EXAMPLE / "GuestApp"}
# Apple's systems, as the check plays them.
SHAPES = ("iOS", "macOS")
APPLE = ("iOS", "macOS", "tvOS", "watchOS", "visionOS")
OTHERS = ("Linux", "Linux with Musl", "Android")

# Stub modules that only some of Apple's systems have.
ONLY_ON = {
    "AppKit": {"macOS"},
    "LocalAuthentication": {"iOS", "macOS", "watchOS", "visionOS"},
    "PhotosUI": {"iOS", "macOS", "watchOS", "visionOS"},
    "UIKit": {"iOS", "tvOS", "watchOS", "visionOS"},
}
# Modules of Apple's that only some of ours may import.
ONLY_IN = {
    "Accessibility": {"GuestApp", "MartletUI"},
    "AppKit": {"MartletUI"},
    "CoreGraphics": {"MartletImages"},
    "CoreTransferable": {"MartletUI"},
    "ImageIO": {"MartletImages"},
    "PhotosUI": {"MartletUI"},
    "SwiftUI": {"GuestApp", "MartletUI"},
}
# Modules of ours that only some of Apple's systems get.
OURS_ONLY_ON = {
    "GuestApp": {"iOS"},
}
# Modules of the toolchain or of a package, with the same face on all systems.
EVERYWHERE = {"HTTPTypes", "Observation", "RegexBuilder", "Synchronization"}
# Modules that Apple's systems lack, and where they are.
ELSEWHERE = {
    "Android": {"Android"},
    "FoundationEssentials": set(OTHERS),
    "FoundationNetworking": set(OTHERS),
    "Glibc": {"Linux"},
    "Musl": {"Linux with Musl"},
}

_MANIFEST = (ROOT / "Package.swift").read_text()


def _promised(manifest):
    """The oldest versions that a package runs on, by its manifest."""
    return {system: (int(major), 0) for system, major in re.findall(r"\.(\w+OS)\(\.v(\d+)\)", manifest)}


# The oldest versions that the package runs on, and those of the example app.
PROMISED = _promised(_MANIFEST)
PROMISED_BY_EXAMPLES = _promised((EXAMPLE / "GuestKit" / "Package.swift").read_text())
UPCOMING_FEATURES = re.findall(r'enableUpcomingFeature\("(\w+)"\)', _MANIFEST)
TRAITS = re.findall(r'\.trait\(\s*name: "(\w+)"', _MANIFEST)
STUB_MODULES = sorted(folder.name for folder in STUBS.iterdir() if any(folder.glob("*.swift")))
KNOWN = frozenset({*STUB_MODULES, *EVERYWHERE, *ELSEWHERE, *ONLY_ON, *TRAITS, "DEBUG"})


def in_order(imports):
    """Modules, each after those of them that it imports. `imports` has for each the modules that it imports."""
    waiting = {name: found & imports.keys() - {name} for name, found in imports.items()}
    order = []
    while waiting:
        ready = [name for name, found in waiting.items() if not found & waiting.keys()]
        if not ready:
            sys.exit(f"error: these modules import each other: {', '.join(waiting)}")
        order += ready
        for name in ready:
            del waiting[name]
    return order


def imported(folder):
    """The modules that the files of a folder import somewhere."""
    code = "\n".join(code_of(path.read_text()) for path in swift_files(folder))
    return set(re.findall(r"\bimport (?:(?:class|enum|func|let|protocol|struct|typealias|var) )?(\w+)", code))


# Our modules, each after those that it imports. What has no Swift in it is C, which Apple's systems do not see.
FOLDERS = {folder.name: folder for folder in sorted(SOURCES.iterdir()) if any(folder.rglob("*.swift"))} | EXAMPLES
_IMPORTS = {name: imported(folder) for name, folder in FOLDERS.items()}
TARGETS = in_order(_IMPORTS)


def targets(system):
    """Those of our modules that one of Apple's systems gets."""
    return [name for name in TARGETS if system in OURS_ONLY_ON.get(name, APPLE)]


def check_imports():
    """Demands that modules of `ONLY_IN` are imported there alone."""
    for target, modules in _IMPORTS.items():
        for module in sorted(modules & ONLY_IN.keys()):
            if target not in ONLY_IN[module]:
                sys.exit(f"error: {target} imports {module}, which is for {', '.join(sorted(ONLY_IN[module]))} alone.")


def stub_modules(system):
    """The stub modules that one of Apple's systems has."""
    return [name for name in STUB_MODULES if system in ONLY_ON.get(name, APPLE)]


def place(system, traits=()):
    """A system, with some traits on."""
    if system in APPLE:
        modules = {*EVERYWHERE, *stub_modules(system)}
    else:
        modules = {*EVERYWHERE, "Dispatch", "Foundation"}
        modules |= {name for name, systems in ELSEWHERE.items() if system in systems}
    return Place(system.split()[0], frozenset(modules), frozenset({*traits, "DEBUG"}), KNOWN)


def resolved(path, text, somewhere):
    """`resolve`, for a file of ours."""
    try:
        return resolve(text, somewhere)
    except Unclear as condition:
        sys.exit(f"error: {shown(path)}: nobody has told scripts/apple_places.py what “{condition}” means in an #if.")


def count_apple_files():
    """How many files of each shape have something in them that only Apple's systems compile.

    Ends the script if there is something that no shape compiles, and no other system either.
    """
    combinations = [
        traits for size in range(len(TRAITS) + 1) for traits in itertools.combinations(TRAITS, size)
    ]
    others = [place(system, traits) for system in OTHERS for traits in combinations]
    # With traits of theirs, Apple's systems compile what the shapes cannot: the packages behind them are not there.
    with_traits = [place(system, traits) for system in APPLE for traits in combinations if traits]
    counts = dict.fromkeys(SHAPES, 0)
    lost = []
    for path in (path for target in TARGETS for path in swift_files(FOLDERS[target])):
        text = path.read_text()
        if "#if" not in text:
            continue

        def compiled(places):
            answers = [[branch.is_compiled for branch in resolved(path, text, each)[1]] for each in places]
            return [any(column) for column in zip(*answers)]

        by_others = compiled(others)
        by_apple = compiled([place(system) for system in APPLE])
        by_shapes = compiled([place(shape) for shape in SHAPES])
        by_traits = compiled(with_traits)
        for index, branch in enumerate(resolved(path, text, others[0])[1]):
            if by_others[index] or by_shapes[index] or not any(line.strip() for line in branch.code):
                continue
            if by_apple[index]:
                lost.append(f"error: {shown(path)}:{branch.line}: Apple's systems compile this, and no shape does.")
            elif not by_traits[index]:
                lost.append(f"error: {shown(path)}:{branch.line}: no system compiles this.")
        for shape in SHAPES:
            own = [
                line.strip()
                for branch, is_others in zip(resolved(path, text, place(shape))[1], by_others)
                if branch.is_compiled and not is_others
                for line in branch.code
            ]
            # In nearly every file there is Foundation in the place of FoundationEssentials.
            counts[shape] += any(line and not re.fullmatch(r"\w+ import Foundation", line) for line in own)
    if lost:
        sys.exit("\n".join(lost))
    return counts
