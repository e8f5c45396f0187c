"""What each platform compiles, for apple_check.py: conditions, modules, and the versions that an API needs."""

import collections
import functools
import itertools
import re
import sys

from swift_source import ROOT, code_of, shown, swift_files

STUBS = ROOT / "AppleStubs" / "Modules"
FOREIGN = ROOT / "AppleStubs" / "Foreign"
SOURCES = ROOT / "Sources"
EXAMPLE = ROOT / "Examples" / "GuestApp"
# The modules of the example app and of the tests for a Mac are not part of the package.
EXAMPLES = {"GuestKit": EXAMPLE / "GuestKit" / "Sources" / "GuestKit"}
EXAMPLES |= {name: EXAMPLE / name for name in ("GuestApp", "GuestWidget")}
EXAMPLES |= {"AppleTestsHost": ROOT / "AppleTests" / "Host", "AppleTests": ROOT / "AppleTests" / "Tests"}
FORMER_LIBRARIES = "FormerLibrariesTests"
EXAMPLES |= {FORMER_LIBRARIES: ROOT / "AppleTests" / "FormerLibraries" / "Tests" / FORMER_LIBRARIES}
APPLE = ("iOS", "macOS", "tvOS", "watchOS", "visionOS")
# The platforms for which the check must find mistakes and compiles the documentation.
PROVEN = ("iOS", "macOS")
OTHERS = ("Linux", "Linux with Musl", "Android")

# Modules, of Apple and of ours, that only some of Apple platforms have.
ONLY_ON = {
    **dict.fromkeys(("AppleTests", "AppleTestsHost"), {"iOS", "macOS"}),
    "AppKit": {"macOS"},
    "AuthenticationServices": {"iOS", "macOS", "visionOS"},
    FORMER_LIBRARIES: {"macOS"},
    "GuestApp": {"iOS"},
    "GuestWidget": {"iOS"},
    "LocalAuthentication": {"iOS", "macOS", "watchOS", "visionOS"},
    "PhotosUI": {"iOS", "macOS", "watchOS", "visionOS"},
    "UIKit": {"iOS", "tvOS", "watchOS", "visionOS"},
    "WidgetKit": {"iOS", "macOS", "watchOS", "visionOS"},
    "_PhotosUI_SwiftUI": {"iOS", "macOS", "watchOS", "visionOS"},
}
# Apple modules that only some of ours may import.
ONLY_IN = {
    "Accessibility": {"GuestApp", "MartletUI"},
    "AppKit": {"MartletUI"},
    "AuthenticationServices": {"MartletOAuth"},
    "Combine": {"MartletCombine", "MartletUI"},
    "CoreGraphics": {"MartletImages"},
    "CoreTransferable": {"MartletUI"},
    "ImageIO": {"MartletImages"},
    "PhotosUI": {"MartletUI"},
    "SwiftUI": {"AppleTestsHost", "GuestApp", "GuestWidget", "MartletOAuth", "MartletUI"},
    "WidgetKit": {"GuestApp", "GuestWidget"},
}
# Modules with the same API on all platforms.
EVERYWHERE = {"HTTPTypes", "Observation", "RegexBuilder", "Synchronization"}
# Modules that Apple platforms lack, and the platforms that have them.
ELSEWHERE = {"Android": {"Android"}, "Glibc": {"Linux"}, "Musl": {"Linux with Musl"}}
ELSEWHERE |= dict.fromkeys(("FoundationEssentials", "FoundationNetworking"), OTHERS)
# The standard library's modules, and what Foundation consists of.
TOOLCHAIN = ("Swift", "_Concurrency", "_StringProcessing", "FoundationEssentials", "Observation", "Synchronization")

_MANIFEST = (ROOT / "Package.swift").read_text()


def _oldest(manifest):
    """The deployment targets that a manifest names."""
    return {system: (int(major), 0) for system, major in re.findall(r"\.(\w+OS)\(\.v(\d+)\)", manifest)}


OLDEST = _oldest(_MANIFEST)
OLDEST_OF_EXAMPLES = _oldest((EXAMPLE / "GuestKit" / "Package.swift").read_text())
_FEATURES = re.findall(r'enableUpcomingFeature\("(\w+)"\)', _MANIFEST)
UPCOMING_FEATURES = [word for name in _FEATURES for word in ("-enable-upcoming-feature", name)]
TRAITS = re.findall(r'\.trait\(\s*name: "(\w+)"', _MANIFEST)
STUB_MODULES = sorted(folder.name for folder in STUBS.iterdir() if any(folder.glob("*.swift")))
KNOWN = {*STUB_MODULES, *EVERYWHERE, *ELSEWHERE, *ONLY_ON, *TRAITS, "DEBUG"}


def imports_of(text):
    """The modules that Swift code imports on any platform."""
    return set(re.findall(r"\bimport (?:(?:class|enum|func|let|protocol|struct|typealias|var) )?(\w+)", code_of(text)))


def imported(folder):
    """The modules that a folder's files import on any platform."""
    return set().union(*(imports_of(path.read_text()) for path in swift_files(folder)))


def reachable(names, folders):
    """Those of some names that are modules in folders, and the modules in folders that these import."""
    found, waiting = set(), names & folders.keys()
    while waiting:
        found |= waiting
        waiting = set().union(*(imported(folders[name]) for name in waiting)) & folders.keys() - found
    return found


def in_order(folders):
    """The names of modules, each after those of them that it imports."""
    waiting = {name: imported(folder) & folders.keys() - {name} for name, folder in folders.items()}
    order = []
    while waiting:
        ready = [name for name, needs in waiting.items() if not needs & waiting.keys()]
        if not ready:
            sys.exit(f"error: these modules import each other: {', '.join(waiting)}")
        order += ready
        waiting = {name: needs for name, needs in waiting.items() if name not in ready}
    return order


# Our modules, each after those that it imports. Modules in C are the same on all platforms.
FOLDERS = {folder.name: folder for folder in sorted(SOURCES.iterdir()) if any(folder.rglob("*.swift"))} | EXAMPLES
TARGETS = in_order(FOLDERS)
# The modules of other libraries that the tests with these libraries use, likewise.
_FOREIGN = {folder.name: folder for folder in FOREIGN.iterdir()}
_USED = sorted(reachable(imported(EXAMPLES[FORMER_LIBRARIES]), _FOREIGN))
FOREIGN_MODULES = in_order({name: _FOREIGN[name] for name in _USED})


def on(system, modules):
    """Those of some modules that one of Apple platforms has."""
    return [name for name in modules if system in ONLY_ON.get(name, APPLE)]


def check_imports():
    """Fails if a module imports one that ONLY_IN reserves for others."""
    for target, folder in FOLDERS.items():
        for module in sorted(imported(folder) & ONLY_IN.keys()):
            if target not in ONLY_IN[module]:
                sys.exit(f"error: {target} imports {module}, which is for {', '.join(sorted(ONLY_IN[module]))}.")


_DIRECTIVE = re.compile(r"^(\s*#)(if|elseif|else|endif)\b(.*)$")
_TERM = re.compile(r"\s*(?:(\|\||&&|!|\(|\))|(?:(\w+)\s*\(\s*(\w+)\s*\))|(\w+)|(\S.*))")
_PYTHON = {"||": " or ", "&&": " and ", "!": " not ", "(": "(", ")": ")"}


# The lines between two directives.
Branch = collections.namedtuple("Branch", "line is_compiled code")


@functools.cache
def is_true(condition, system, traits):
    """Whether a condition holds on a platform with some traits. KeyError: the condition names something unknown."""
    if system in APPLE:
        modules = {*EVERYWHERE, *on(system, STUB_MODULES)}
    else:
        modules = {*EVERYWHERE, "Dispatch", "Foundation", *(name for name in ELSEWHERE if system in ELSEWHERE[name])}
    python = ""
    for sign, call, argument, word, _ in _TERM.findall(condition.split("//")[0].strip()):
        if sign:
            python += _PYTHON[sign]
        elif call == "os" and argument in {*APPLE, "Linux", "Android", "Windows"}:
            python += str(argument == system.split()[0])
        elif call == "canImport" and argument in KNOWN:
            python += str(argument in modules)
        elif word in KNOWN:
            python += str(word in {*traits, "DEBUG"})
        else:
            raise KeyError(condition.strip())
    # The text consists of True, False, and, or, not and brackets.
    return eval(python, {"__builtins__": {}})


def resolve(path, text, system, traits=()):
    """Decides the conditions of a file. Returns the text with `true` or `false` in their place, and all branches."""
    lines, branches = text.split("\n"), []
    # For each open #if: whether the code around it is compiled, whether one of its branches is, and the current branch.
    stack = []
    for index, line in enumerate(lines):
        match = _DIRECTIVE.match(line)
        if not match:
            if stack:
                stack[-1][2].code.append(line)
            continue
        start, kind, condition = match.groups()
        if kind == "endif":
            stack.pop()
            continue
        if kind == "if":
            stack.append([all(level[2].is_compiled for level in stack), False, None])
        level = stack[-1]
        try:
            is_compiled = level[0] and not level[1] and (kind == "else" or is_true(condition, system, traits))
        except KeyError as unknown:
            sys.exit(f"error: {shown(path)}:{index + 1}: scripts/apple_platforms.py does not know {unknown}.")
        level[1] = level[1] or is_compiled
        level[2] = Branch(index + 1, is_compiled, [])
        branches.append(level[2])
        if kind != "else":
            lines[index] = f"{start}{kind} {str(is_compiled).lower()}"
    return "\n".join(lines), branches


def count_apple_files():
    """Counts, for each platform, the files with code that no other system compiles. Fails if none compiles a branch."""
    traits = [chosen for size in range(len(TRAITS) + 1) for chosen in itertools.combinations(TRAITS, size)]
    counts, lost = dict.fromkeys(APPLE, 0), []
    files = [path for target in TARGETS for path in swift_files(FOLDERS[target])]
    for path, text in ((path, text) for path in files if "#if" in (text := path.read_text())):

        def compiled(systems, traits=((),)):
            columns = zip(*(resolve(path, text, system, chosen)[1] for system in systems for chosen in traits))
            return [any(branch.is_compiled for branch in column) for column in columns]

        # With traits, Apple platforms compile code that needs packages which the check does not have.
        by_others, by_apple = compiled(OTHERS, traits), compiled(APPLE)
        by_traits = compiled(APPLE, traits)
        for index, branch in enumerate(resolve(path, text, "Linux")[1]):
            is_empty = not any(line.strip() for line in branch.code)
            if not is_empty and not by_others[index] and not by_apple[index] and not by_traits[index]:
                lost.append(f"error: {shown(path)}:{branch.line}: no platform compiles this.")
        for system in APPLE:
            pairs = zip(resolve(path, text, system)[1], by_others)
            own = [line.strip() for each, others in pairs if each.is_compiled and not others for line in each.code]
            # Nearly every file imports Foundation in place of FoundationEssentials.
            counts[system] += any(line and not re.fullmatch(r"\w+ import Foundation", line) for line in own)
    if lost:
        sys.exit("\n".join(lost))
    return counts
