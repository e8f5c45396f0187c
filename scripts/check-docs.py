#!/usr/bin/env python3
"""How many public declarations have a documentation comment. Prints those without one, and exits with 1 if there are any.

Counted are public types, functions, properties, initialisers, subscripts and type aliases, the requirements of public
protocols, and the cases of public enums, in the modules below. Extensions are not: what stands in them is. Code in an
inactive #if counts too.
"""

import re
import sys

from swift_source import ROOT, code_of, shown, swift_files

MODULES = ["Martlet", "MartletImages", "MartletUI", "MartletTesting"]

WORDS = r"(?:(?:@\w+(?:\([^)]*\))?|[a-z]+(?:\((?:set|get|unsafe|safe)\))?)\s+)*"
DECLARATION = re.compile(
    rf"^\s*(?P<words>{WORDS})"
    r"(?P<kind>struct|class|enum|protocol|actor|typealias|associatedtype|extension|func|var|let|init|subscript|case)"
    r"\b[?!]?\s*(?P<name>[\w`.]+|[^\w\s(]+|)"
)
TYPES = {"struct", "class", "enum", "protocol", "actor", "extension"}


def declarations(text):
    """Yields (line number, kind, name, has documentation) for every public declaration."""
    code = code_of(text, keep_docs=True)
    scopes = []
    documented = False
    body = ("code", False)
    expression = 0  # inside parentheses or brackets, where nothing is declared
    for number, line in enumerate(code.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith(("///", "/**")):
            documented = True
            continue
        match = DECLARATION.match(line) if not expression else None
        scope = scopes[-1] if scopes else ("file", False)
        kind = match["kind"] if match else None
        if match and scope[0] in TYPES | {"file"}:
            words = match["words"].split()
            public = "public" in words or "open" in words
            if scope[0] == "protocol" or (scope[0] == "enum" and kind == "case"):
                public = scope[1]
            elif scope[0] == "extension" and scope[1] and not {"private", "fileprivate", "internal"} & set(words):
                public = True
            if public and kind != "extension":
                yield number, kind, match["name"] or kind, documented
        else:
            public = False
        if match and kind in TYPES:
            body = (kind, public)
        # The first brace opens the declaration's own body, also on a later line; any other opens code.
        for character in re.sub(r"///.*", "", line):
            if character == "{":
                scopes.append(body)
                body = ("code", False)
            elif character == "}" and scopes:
                scopes.pop()
            elif character in "([":
                expression += 1
            elif character in ")]":
                expression = max(expression - 1, 0)
        if stripped and not stripped.startswith(("@", "#if", "#else", "#elseif", "#endif")):
            documented = False


def main():
    total, missing = 0, []
    for module in MODULES:
        for path in swift_files(ROOT / "Sources" / module):
            for number, kind, name, documented in declarations(path.read_text()):
                total += 1
                if not documented:
                    missing.append(f"{shown(path)}:{number}: {kind} {name} has no documentation comment")
    for line in missing:
        print(line)
    share = 100 * (total - len(missing)) / total if total else 100
    print(f"{total - len(missing)} of {total} public declarations are documented ({share:.1f} %).")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
