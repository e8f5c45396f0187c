"""Which version of Apple's systems our code needs, for scripts/apple_check.py.

The compiler for Linux does not check which version of Apple's platforms an API needs. So the symbol graphs say since when
an API exists, and the syntax tree says what our files refer to.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

from apple_platforms import OLDEST, UPCOMING_FEATURES


def newer_symbols(modules, folder):
    """The symbols that are newer than our deployment targets: {identifier: (name, {system: version})}.

    `folder` has the modules that are not in the toolchain.
    """
    target = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))["target"]["unversionedTriple"]
    graphs = folder / "graphs"
    graphs.mkdir()
    for module in modules:
        command = ["swift", "symbolgraph-extract", "-module-name", module, "-target", target, "-I", folder]
        subprocess.run([*command, "-output-dir", graphs], check=True, stdout=subprocess.DEVNULL)
    newer, older = {}, set()
    for symbol in (symbol for graph in graphs.iterdir() for symbol in json.loads(graph.read_text())["symbols"]):
        path = ".".join(symbol["pathComponents"])
        # An older declaration of the same form counts, such as one that later became a requirement of a protocol.
        form = (path, "".join(part["spelling"] for part in symbol.get("declarationFragments", ())))
        needs = {
            entry.get("domain"): (entry["introduced"]["major"], entry["introduced"].get("minor", 0))
            for entry in symbol.get("availability", ()) if "introduced" in entry
        }
        too_new = {system: version for system, version in needs.items() if version > OLDEST.get(system, version)}
        name = symbol["identifier"]["precise"]
        if not too_new:
            older.add(form)
        # Members from extensions of protocols are listed again, as new as the type. `for await` calls `next()` if
        # `next(isolation:)` is too new.
        elif "::SYNTHESIZED::" not in name and symbol["pathComponents"][-1] != "next(isolation:)":
            newer[name] = (form, too_new)
    return {name: (form[0], needs) for name, (form, needs) in newer.items() if form not in older}


# Function types that only the runtime of Swift 6.0 can create; older ones fail when a generic function or type gets one.
AT_RUN_TIME = {"throws(": "typed throws in a generic argument"}
AT_RUN_TIME |= {"@isolated(any)": "@isolated(any) in a generic argument"}
RUN_TIME_6 = {"iOS": (18, 0), "macOS": (15, 0), "tvOS": (18, 0), "watchOS": (11, 0), "visionOS": (2, 0)}


def too_new(folder, module, sources, packages, newer, oldest=OLDEST):
    """Yields (file, name, {system: version}) for each use of a newer symbol without a matching `#available`."""
    plugins = pathlib.Path(shutil.which("swiftc")).resolve().parent.parent / "lib" / "swift" / "host" / "plugins"
    command = ["swiftc", "-frontend", "-dump-ast", "-dump-ast-format", "json", "-parse-as-library", *UPCOMING_FEATURES]
    command += ["-swift-version", "6", "-package-name", "martlet", "-module-name", module, "-plugin-path", plugins]
    command += ["-I", folder, "-I", packages, "-enable-cross-import-overlays"]
    command += [word for source in sources for word in ("-primary-file", source)]
    tree = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    # The text before the first file, then in turn the name of a file and its tree.
    _, *parts = re.split(r'\{"_kind":"source_file","filename":"([^"]*)"', tree.stdout)
    if tree.returncode or set(parts[::2]) != {str(source) for source in sources}:
        sys.exit(f"{tree.stderr}error: the compiler does not list what {module} refers to.")
    for path, references in zip(parts[::2], parts[1::2]):
        allowed = dict(oldest)
        for guard in re.findall(r"available\s*\(([^)]*)\)", (folder / path).read_text()):
            for system, major, minor in re.findall(r"(\w+) (\d+)(?:\.(\d+))?", guard):
                allowed[system] = max(allowed.get(system, (0, 0)), (int(major), int(minor or 0)))
        arguments = "\n".join(sorted(set(re.findall(r'"replacement_type":"([^"]+)"', references))))
        types = subprocess.run(["swift", "demangle", "--compact"], input=arguments, capture_output=True, text=True).stdout
        for form, name in AT_RUN_TIME.items():
            if form in types and any(version > allowed.get(system, version) for system, version in RUN_TIME_6.items()):
                yield path, name, RUN_TIME_6
        for reference in sorted(set(re.findall(r'"((?:s|c):[^"]+)"', references)) & newer.keys()):
            name, needs = newer[reference]
            if any(version > allowed.get(system, version) for system, version in needs.items()):
                yield path, name, needs
