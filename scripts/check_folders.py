#!/usr/bin/env python3
"""Folders point one way: a file may use what its own folder declares and what the folders below declare.

    Publishers
    Client
    Interception
    Session
    Storage   Transport   Observation       (these three do not know each other)
    Body      Model                         (the ground floor; these two may know each other)

Names of types declared at the top of a file are looked for in the code of all other folders, comments and literals left
out; so are functions that an extension adds to a type of another package. Prints file:line for every reference that
points up or sideways, and exits with 1 if there is one.
"""

import collections
import re
import sys

from swift_source import ROOT, code_of, shown, swift_files

SOURCES = ROOT / "Sources" / "Martlet"

# What each folder may use besides itself.
GROUND = {"Model", "Body"}
MIDDLE = GROUND | {"Storage", "Transport", "Observation"}
MAY_USE = {
    "Model": GROUND,
    "Body": GROUND,
    "Storage": GROUND,
    "Transport": GROUND,
    "Observation": GROUND,
    "Session": MIDDLE,
    "Interception": MIDDLE | {"Session"},
    "Client": MIDDLE | {"Session", "Interception"},
    "Publishers": MIDDLE | {"Session", "Interception", "Client"},
}

TYPE = re.compile(r"\b(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)")
EXTENSION = re.compile(r"\bextension\s+(\w+)")
FUNCTION = re.compile(r"\bfunc\s+(\w+)")
WORD = re.compile(r"(\.?)\b(\w+)(\s*\()?")


def declarations(code):
    """Yields (kind, name, owner) for what stands at the top level, and for functions of extensions."""
    depth = 0
    owner = None
    for line in code.split("\n"):
        if depth == 0:
            if match := EXTENSION.search(line):
                owner = match.group(1)
            elif match := TYPE.search(line):
                owner = None
                if not re.search(r"\b(?:private|fileprivate)\b", line[: match.start()]):
                    yield "type", match.group(1), None
        elif depth == 1 and owner and (match := FUNCTION.search(line)):
            if not re.search(r"\b(?:private|fileprivate)\b", line[: match.start()]):
                yield "function", match.group(1), owner
        depth += line.count("{") - line.count("}")


def main():
    sources = {path: code_of(path.read_text()) for path in swift_files(SOURCES)}
    folder_of = {path: path.relative_to(SOURCES).parts[0] for path in sources}
    unknown = sorted({folder for folder in folder_of.values() if folder not in MAY_USE})
    if unknown:
        sys.exit(f"check_folders.py knows no place for: {', '.join(unknown)}")

    home = {}
    functions = collections.defaultdict(set)
    for path, code in sources.items():
        for kind, name, owner in declarations(code):
            if kind == "type":
                home[name] = (folder_of[path], path)
            else:
                functions[name].add((owner, folder_of[path], path))
    # A function is only telling if its name is declared once, on a type of another package.
    everywhere = collections.Counter(name for code in sources.values() for name in FUNCTION.findall(code))
    extra = {}
    for name, places in functions.items():
        owner, folder, path = next(iter(places))
        if len(places) == 1 and owner not in home and everywhere[name] == 1:
            extra[name] = (folder, path)

    violations = []
    for path, code in sources.items():
        folder = folder_of[path]
        for number, line in enumerate(code.split("\n"), 1):
            for dot, word, call in WORD.findall(line):
                target = home.get(word) if not dot else (extra.get(word) if call else None)
                if target and target[0] != folder and target[0] not in MAY_USE[folder]:
                    violations.append((shown(path), number, folder, word, target[0], shown(target[1])))
    for path, number, folder, word, target, declared in sorted(set(violations)):
        print(f"{path}:{number}: {folder} uses {word}, which belongs to {target} ({declared})")
    if violations:
        print(f"{len(set(violations))} references point up or sideways.")
        return 1
    print(f"Folders point one way: {len(sources)} files, {len(home)} types.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
