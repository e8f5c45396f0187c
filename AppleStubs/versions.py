"""Which version of Apple's systems our code needs, for scripts/apple_check.py.

The compiler for Linux does not check which version of Apple platforms an API needs. So the symbol graphs say since when
an API exists, and the syntax tree says what our files refer to.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

from apple_platforms import APPLE, OLDEST, ONLY_ON, STUBS, UPCOMING_FEATURES
from swift_source import code_of, shown, swift_files

# A version that no system has, for what a platform lacks.
NEVER = (999, 0)
_INTRODUCED = re.compile(r"(\w+OS) (\d+)(?:\.(\d+))?")
_ATTRIBUTE = re.compile(r"@available\(([^)]*)\)")
# A declaration at the top of a file, or within #if.
_DECLARATION = re.compile(
    r"^(?:    )?(?:@[\w.]+(?:\([^)]*\))? )*(?:(?:public|open|final|nonisolated) )*"
    r"(?:struct|class|enum|protocol|typealias|func|var|let|extension|actor) [\w`]")
ALWAYS = "// Always available."


def declared(attributes):
    """The version that `@available` names for each system; NEVER if it is unavailable there."""
    found = {}
    for arguments in _ATTRIBUTE.findall(attributes):
        if unavailable := re.fullmatch(r"(\w+OS), unavailable", arguments):
            found[unavailable[1]] = NEVER
        elif arguments.endswith("*"):
            found |= {each[0]: (int(each[1]), int(each[2] or 0)) for each in _INTRODUCED.findall(arguments)}
    return found


def undated(text, systems):
    """Yields the number of each line of a stub that declares something without its versions for these systems.

    Members have the versions of their type or extension, unless they name others. What Apple's headers give no version,
    such as the C library, has the comment ALWAYS in its paragraph.
    """
    attributes, is_always, depth = "", False, 0
    for number, line in enumerate(text.split("\n"), 1):
        is_always = bool(line.strip()) and (is_always or line.strip() == ALWAYS)
        if re.match(r"#(if|endif)", line):
            depth += 1 if line.startswith("#if") else -1
        if line.strip().startswith("@") and not _DECLARATION.match(line):
            attributes += line
            continue
        is_top = bool(_DECLARATION.match(line)) and line.startswith("    ") == bool(depth)
        if is_top and not is_always and not systems <= declared(attributes + line).keys():
            yield number
        attributes = ""


def check_availability():
    """Fails if a declaration of a stub does not say since when each platform has it."""
    for path in swift_files(STUBS):
        systems = {*ONLY_ON.get(path.relative_to(STUBS).parts[0], APPLE)}
        text = path.read_text()
        # The check must notice a version that is missing.
        mutilated, count = re.subn(r", visionOS [\d.]+|@available\(macOS 10.0, \*\)", "", text)
        if count and not [*undated(mutilated, systems)]:
            sys.exit(f"error: {shown(path)}: without some versions it passes all the same.")
        for number in undated(text, systems):
            sys.exit(f"error: {shown(path)}:{number}: name the versions of {', '.join(sorted(systems))} with @available.")


def is_dated(module):
    """Whether a stub has a declaration that one of the oldest supported systems lacks."""
    attributes = "\n".join(path.read_text() for path in swift_files(STUBS / module)).split("\n")
    found = (declared(line).items() for line in attributes if "@available(" in line)
    return any(version > OLDEST.get(system, NEVER) for entry in found for system, version in entry)


def newer_symbols(modules, folder, platform=None):
    """The symbols that are newer than our deployment targets: {identifier: (name, {system: version})}.

    `folder` has the modules that are not in the toolchain. What is unavailable on the platform has the version NEVER.
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
        if any(entry.get("domain") == platform and entry.get("isUnconditionallyUnavailable")
               for entry in symbol.get("availability", ())):
            needs[platform] = NEVER
        too_new = {system: version for system, version in needs.items() if version > OLDEST.get(system, version)}
        name = symbol["identifier"]["precise"]
        if not too_new:
            older.add(form)
        # Members from extensions of protocols are listed again, as new as the type. `for await` calls `next()` if
        # `next(isolation:)` is too new.
        elif "::SYNTHESIZED::" not in name and symbol["pathComponents"][-1] != "next(isolation:)":
            newer[name] = (form, too_new)
    return {name: (form[0], needs) for name, (form, needs) in newer.items() if form not in older}


# What only later runtimes of Swift support: metadata for types that a generic function or type gets, and kinds of
# declarations. https://github.com/swiftlang/swift/blob/main/include/swift/AST/FeatureAvailability.def has the runtimes.
def _runtime(*versions):
    return dict(zip(APPLE, versions))


RUNTIME_5_7 = _runtime((16, 0), (13, 0), (16, 0), (9, 0), (1, 0))
RUNTIME_5_9 = _runtime((17, 0), (14, 0), (17, 0), (10, 0), (1, 0))
RUNTIME_6_0 = _runtime((18, 0), (15, 0), (18, 0), (11, 0), (2, 0))
RUNTIME_6_1 = _runtime((18, 4), (15, 4), (18, 4), (11, 4), (2, 4))
RUNTIME_6_2 = _runtime((26, 0), (26, 0), (26, 0), (26, 0), (26, 0))
# What a file of AppleStubs/Mistakes supports that says so, to plant what the package's own systems have.
OLDER = _runtime((15, 0), (12, 0), (15, 0), (8, 0), (1, 0))
IN_TYPES = (
    (r"throws\(", "typed throws in a generic argument", RUNTIME_6_0),
    (r"@isolated\(any\)", "@isolated(any) in a generic argument", RUNTIME_6_0),
    (r"any [\w.]+<", "a parameterized existential in a generic argument", RUNTIME_5_7),
    (r"any .*AsyncSequence<.*Failure", "the Failure of an existential AsyncSequence", RUNTIME_6_0),
)
IN_CODE = (
    (r"\b(?:struct|class|enum|actor)\s+\w+<[^>{]*\blet \w+: Int\b", "an integer generic parameter", RUNTIME_6_2),
    (r"\b(?:struct|class|enum|actor)\s+\w+<[^>{]*\beach \w", "a generic type with a parameter pack", RUNTIME_5_9),
    (r"\b(?:struct|class|enum|actor)\s+\w+<[^>{]*~Copyable", "a generic type with noncopyable arguments", RUNTIME_6_0),
    (r"\bisolated\s+deinit\b", "isolated deinit", RUNTIME_6_1),
)


# The type in place of a generic parameter.
_TYPE = re.compile(r'"replacement_type":"([^"]+)"')


def demangled(names):
    """The spelling of each of some mangled names. The command starts once for all of them, because it takes a while."""
    names = sorted(names)
    command = ["swift", "demangle", "--compact"]
    text = subprocess.run(command, input="\n".join(names), capture_output=True, text=True).stdout
    spellings = text.split("\n")[: len(names)]
    if len(spellings) != len(names):
        sys.exit("error: swift demangle does not print one line for each name.")
    return dict(zip(names, spellings))


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
    files = dict(zip(parts[::2], parts[1::2]))
    spelled = demangled(set(_TYPE.findall(tree.stdout)))
    for path, references in files.items():
        allowed = dict(oldest)
        for guard in re.findall(r"available\s*\(([^)]*)\)", (folder / path).read_text()):
            for system, major, minor in re.findall(r"(\w+) (\d+)(?:\.(\d+))?", guard):
                allowed[system] = max(allowed.get(system, (0, 0)), (int(major), int(minor or 0)))
        types = "\n".join(spelled[name] for name in sorted(set(_TYPE.findall(references))))
        code = code_of((folder / path).read_text())
        forms = [entry for entry in IN_TYPES if re.search(entry[0], types)]
        for _, name, runtime in forms + [entry for entry in IN_CODE if re.search(entry[0], code)]:
            if any(version > allowed.get(system, version) for system, version in runtime.items()):
                yield path, name, runtime
        for reference in sorted(set(re.findall(r'"((?:s|c):[^"]+)"', references)) & newer.keys()):
            name, needs = newer[reference]
            if any(version > allowed.get(system, version) for system, version in needs.items()):
                yield path, name, needs


def described(needs):
    """Where a symbol is, for an error."""
    if lacking := [system for system, version in needs.items() if version == NEVER]:
        return f"is not available on {', '.join(lacking)}"
    return f"needs {', '.join(f'{system} {major}.{minor}' for system, (major, minor) in needs.items())}"
