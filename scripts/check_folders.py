#!/usr/bin/env python3
"""Checks the layout of the sources: folders depend in one direction, the public API stays small, and each suite of tests
has a time limit.

A file may use only its own folder and the folders listed earlier, in ORDER.
"""

import collections
import re
import sys

from swift_source import ROOT, code_of, declarations, shown, swift_files

# From bottom to top. An entry includes its subfolders, except those with an entry of their own.
ORDER = """
    Support Connectivity Endpoints Transport Errors Session/Record Session/Stores Session/Refreshers Session/Engine
    Session/Signing Session/Accounts Observation Transfers/Progress Transfers/Multipart Interceptors Client/Decoding
    Client Transfers/Downloads Transfers/Events
""".split()
# The public API that `import Martlet` makes visible. Below Martlet, the compiler sees to the direction.
MAX_TYPES, MAX_DECLARATIONS = 127, 704
# Files whose declarations only say which trait is missing.
HINTS = "+MissingTrait"
# Terms of the field, which files that import Alamofire or Moya qualify.
SHARED_NAMES = {"RequestInterceptor", "RetryPolicy", "Endpoint"}

MODULE, REEXPORTED = ROOT / "Sources/Martlet", ROOT / "Sources/MartletStorage"
PUBLIC = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public|open)\s+(?!import\b)(?=[a-z])(.*)", re.MULTILINE)
TYPE = re.compile(r"(?:(?:final|indirect|nonisolated)\s+)*(?:struct|class|enum|protocol|actor|typealias)\s+([A-Z]\w*)")
WORD = re.compile(r"(\.?)\b(\w+)(\s*\()?")


def wrong_direction(sources):
    """Yields a line for each use of a declaration in a folder further up."""
    level, home, owners = {}, {}, collections.defaultdict(list)
    for path in sources:
        entry = next((name for each in path.parents if (name := each.as_posix()[len(f"{MODULE}/") :]) in ORDER), None)
        if entry is None:
            yield f"{shown(path)}: add its folder to ORDER in scripts/check_folders.py"
            continue
        level[path] = ORDER.index(entry)
        for kind, name, modifiers, extended in declarations(sources[path]):
            if "private" not in modifiers and "fileprivate" not in modifiers:
                owners[name].append((extended, path)) if kind == "func" else home.setdefault(name, path)
    # A call shows where a function is declared if no other function has its name and the extended type is not ours.
    count = collections.Counter(name for code in sources.values() for name in re.findall(r"\bfunc\s+(\w+)", code))
    functions = {name: found[0][1] for name, found in owners.items() if count[name] == 1 and found[0][0] not in home}
    for path in level:
        for number, line in enumerate(sources[path].split("\n"), 1):
            for dot, word, call in WORD.findall(line):
                target = home.get(word) if not dot else functions.get(word) if call else None
                if target and level[target] > level[path]:
                    yield f"{shown(path)}:{number}: {ORDER[level[path]]} uses {word}, which {shown(target)} declares"


def clashes(types):
    """Yields a line for each public type whose name is also declared in a module that apps import with Martlet."""
    for line in (ROOT / "AppleStubs/type-names.txt").read_text().splitlines():
        module, _, names = line.partition(": ")
        for name in {*names.split()} & types - SHARED_NAMES:
            yield f"{name} is also a type of {module}: rename ours"


def endless_suites():
    """Yields a line for each suite of tests without a time limit. With one, a hang is a failure with a name."""
    folders = ["Tests", "Tools/Tests", "Examples", "AppleTests"]
    for path in (path for folder in folders for path in swift_files(ROOT / folder) if ".build" not in path.parts):
        text = path.read_text()
        for match in re.finditer(r"@Suite\(", text):
            if ".timeLimit(" not in text[match.end() : text.find("struct ", match.end())]:
                yield f"{shown(path)}:{text.count(chr(10), 0, match.start()) + 1}: the suite has no time limit"


def main():
    sources = {path: code_of(path.read_text()) for path in swift_files(MODULE)}
    visible = [path for path in [*swift_files(MODULE), *swift_files(REEXPORTED)] if HINTS not in path.name]
    visible = [code_of(path.read_text()) for path in visible]
    public = [match for code in visible for match in PUBLIC.findall(code)]
    types = [match.group(1) for each in public if (match := TYPE.match(each))]
    violations = [*dict.fromkeys(wrong_direction(sources)), *clashes({*types}), *endless_suites()]
    if len(types) > MAX_TYPES or len(public) > MAX_DECLARATIONS:
        violations.append(
            f"Martlet has {len(types)} public types ({MAX_TYPES} are allowed) and {len(public)} public declarations "
            f"({MAX_DECLARATIONS}): keep it package or internal, or raise the number in this script and say why in "
            "the commit")
    summary = f"{len(sources)} files depend in one direction: {len(types)} public types, {len(public)} public declarations."
    print("\n".join([*violations, summary]))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
