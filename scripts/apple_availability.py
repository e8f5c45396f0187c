"""Which version of Apple's systems an API needs, and which of ours need more than Package.swift promises.

The compiler for Linux knows this of the standard library and of FoundationEssentials, but does not judge it. So it is
asked for two lists: what has come when (symbol graphs), and what our files refer to (the syntax tree).
"""

import functools
import json
import pathlib
import re
import shutil
import subprocess

from apple_places import PROMISED, UPCOMING_FEATURES

# The standard library's parts, and what Foundation is made of.
TOOLCHAIN = ("Swift", "_Concurrency", "_StringProcessing", "FoundationEssentials", "Observation", "Synchronization")
# `for await` takes the older `next()` by itself where this is too new.
CHOSEN_BY_THE_COMPILER = {"next(isolation:)"}

_FILE = re.compile(r'\{"_kind":"source_file","filename":"([^"]*)"')
_REFERENCE = re.compile(r'"((?:s|c):[^"]+)"')
_GUARD = re.compile(r"available\s*\(([^)]*)\)")
_VERSION = re.compile(r"(\w+) (\d+)(?:\.(\d+))?")


def newer_symbols(modules, folder):
    """What is newer than what Package.swift promises, by the compiler's name for it: (name, {system: version}).

    `folder` has the modules that the toolchain has not.
    """
    graphs = folder / "graphs"
    graphs.mkdir()
    for module in modules:
        subprocess.run(
            [
                "swift", "symbolgraph-extract", "-module-name", module, "-target", target(), "-I", folder,
                "-output-dir", graphs, "-minimum-access-level", "public",
            ],
            check=True, stdout=subprocess.DEVNULL)
    newer = {}
    older = set()
    for path in graphs.iterdir():
        for symbol in json.loads(path.read_text())["symbols"]:
            name = symbol["identifier"]["precise"]
            path = ".".join(symbol["pathComponents"])
            # The same words on the same type: what became a requirement of a protocol later, say.
            face = (path, "".join(part["spelling"] for part in symbol.get("declarationFragments", ())))
            needs = {
                entry.get("domain"): (entry["introduced"]["major"], entry["introduced"].get("minor", 0))
                for entry in symbol.get("availability", ()) if "introduced" in entry
            }
            too_new = {system: version for system, version in needs.items() if version > PROMISED.get(system, version)}
            if not too_new:
                older.add(face)
            # What a type has from an extension of a protocol is listed there too, as new as the type.
            elif "::SYNTHESIZED::" not in name and symbol["pathComponents"][-1] not in CHOSEN_BY_THE_COMPILER:
                newer[name] = (face, too_new)
    return {name: (face[0], needs) for name, (face, needs) in newer.items() if face not in older}


@functools.cache
def target():
    """The machine's own, as the compiler calls it."""
    info = subprocess.run(["swiftc", "-print-target-info"], check=True, capture_output=True, text=True).stdout
    return json.loads(info)["target"]["unversionedTriple"]


def too_new(folder, module, sources, packages, newer, promised=PROMISED):
    """Yields (file, name, {system: version}) for what files of a module need, beyond what they ask for by `#available`.

    `promised` are the oldest versions that the module runs on.
    """
    plugins = pathlib.Path(shutil.which("swiftc")).resolve().parent.parent / "lib" / "swift" / "host" / "plugins"
    command = ["swiftc", "-frontend", "-dump-ast", "-dump-ast-format", "json", "-parse-as-library"]
    command += ["-swift-version", "6", "-package-name", "martlet", "-module-name", module, "-plugin-path", plugins]
    command += [word for feature in UPCOMING_FEATURES for word in ("-enable-upcoming-feature", feature)]
    command += ["-I", folder, "-I", packages, *(word for source in sources for word in ("-primary-file", source))]
    tree = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    starts = list(_FILE.finditer(tree.stdout))
    if tree.returncode or {start.group(1) for start in starts} != {str(source) for source in sources}:
        raise SystemExit(f"{tree.stderr}error: the compiler does not tell what {module} refers to.")
    for start, end in zip(starts, [*(each.start() for each in starts[1:]), len(tree.stdout)]):
        allowed = guarded((folder / start.group(1)).read_text(), promised)
        for reference in sorted(set(_REFERENCE.findall(tree.stdout, start.end(), end)) & newer.keys()):
            name, needs = newer[reference]
            if any(version > allowed.get(system, version) for system, version in needs.items()):
                yield start.group(1), name, needs


def guarded(text, promised):
    """The newest versions that a file asks for by `#available` or `@available`, or else those that are promised."""
    allowed = dict(promised)
    for match in _GUARD.finditer(text):
        for system, major, minor in _VERSION.findall(match.group(1)):
            version = (int(major), int(minor or 0))
            allowed[system] = max(allowed.get(system, version), version)
    return allowed
