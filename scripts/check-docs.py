#!/usr/bin/env python3
"""How many public declarations have a documentation comment. Prints those without one, and exits with 1 if there are any.

Counted are public types, functions, properties, initialisers, subscripts and type aliases, the requirements of public
protocols, and the cases of public enums, in the modules of every library product. Extensions are not: what stands in them
is. Code in an inactive #if counts too.

Each of these modules must have a documentation catalogue whose front page names every public type that is declared at the
top of a file, so that none is to be found in the alphabetical rest only.
"""

import re
import sys

from swift_source import ROOT, code_of, shown, swift_files

WORDS = r"(?:(?:@\w+(?:\([^)]*\))?|[a-z]+(?:\((?:set|get|unsafe|safe)\))?)\s+)*"
DECLARATION = re.compile(
    rf"^\s*(?P<words>{WORDS})"
    r"(?P<kind>struct|class|enum|protocol|actor|typealias|associatedtype|extension|func|var|let|init|subscript|case)"
    r"\b[?!]?\s*(?P<name>[\w`.]+|[^\w\s(]+|)"
)
TYPES = {"struct", "class", "enum", "protocol", "actor", "extension"}


def modules():
    """The modules of the library products."""
    manifest = (ROOT / "Package.swift").read_text()
    for targets in re.findall(r"\.library\(\s*name:.*?targets:\s*\[(.*?)\]", manifest, re.DOTALL):
        yield from re.findall(r'"(\w+)"', targets)


def declarations(text):
    """Yields (line number, kind, name, has documentation, stands at the top) for every public declaration."""
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
                yield number, kind, match["name"] or kind, documented, not scopes
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


def unlisted(module, names):
    """Yields a line for what the front page of a module's catalogue does not name."""
    page = ROOT / "Sources" / module / f"{module}.docc" / f"{module}.md"
    if not page.exists():
        yield f"{shown(page)} is missing: each product has a catalogue"
        return
    # What is not there on every platform stands between single backticks, as DocC finds no page for it here.
    listed = set(re.findall(r"`(\w+)`", page.read_text()))
    for name in sorted(set(names) - listed):
        yield f"{shown(page)} does not name {name}"


def main():
    total, missing, lost = 0, 0, []
    for module in modules():
        names = []
        for path in swift_files(ROOT / "Sources" / module):
            for number, kind, name, documented, is_top in declarations(path.read_text()):
                total += 1
                if is_top and kind in TYPES:
                    names.append(name)
                if not documented:
                    missing += 1
                    print(f"{shown(path)}:{number}: {kind} {name} has no documentation comment")
        lost += unlisted(module, names)
    for line in lost:
        print(line)
    share = 100 * (total - missing) / total if total else 100
    print(f"{total - missing} of {total} public declarations are documented ({share:.1f} %).")
    return 1 if missing or lost else 0


if __name__ == "__main__":
    sys.exit(main())
