#!/usr/bin/env python3
"""Checks the functions of the sources: their length, the number of their parameters, and that none of them is a `Bool?`.

No function has more than 40 lines, from its first line to its last brace; the ten longest are printed. Here a function is
whatever has a body of statements: a function, an initializer, a subscript or a computed property. No function of the
library has more than four parameters without a default; initializers, and functions that repeat a declaration of the
system, are excepted.
"""

import re
import sys

from swift_source import ROOT, code_of, shown, swift_files

MAX_LINES = 40
MAX_PARAMETERS = 4
FOLDERS = ["Sources", "Fuzzing/Sources", "Tools/Sources"]
# A delegate's method of URLSession, and a call of the C library.
OF_THE_SYSTEM = {"urlSession", "linkat"}

START = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:[a-z]+(?:\(\w+\))?\s+)*?"
    r"(func\s+[^\s(<]+|init[?!]?(?=\s*[<(])|deinit(?=\s*\{)|subscript(?=\s*[<(])|var\s+\w+(?=[^=\n]*\{))")

HEADER = re.compile(r"\bfunc\s+([^\s(<]+)(?:<[^(]*>)?\(")
MAYBE_BOOL = re.compile(r"(?<=[(,])\s*(?:\w+\s+)?(\w+): Bool\?(?=\s*[,)=])")


def required(code, start):
    """Returns the number of parameters without a default in a list that begins at `start`, after its parenthesis."""
    depth, angles, parameters, current = 1, 0, [], ""
    for position in range(start, len(code)):
        character = code[position]
        depth += (character in "([{") - (character in ")]}")
        if depth == 0:
            break
        angles += (character == "<") - (character == ">" and code[position - 1] != "-" and angles > 0)
        if character == "," and depth == 1 and angles == 0:
            parameters, current = [*parameters, current], ""
        else:
            current += character
    return sum("=" not in each and ":" in each for each in [*parameters, current])


def signatures(code):
    """Yields (line, finding) for each function with too many parameters and for each `Bool?`."""
    for match in HEADER.finditer(code):
        count = required(code, match.end())
        if count > MAX_PARAMETERS and match[1] not in OF_THE_SYSTEM:
            yield code.count("\n", 0, match.start()) + 1, f"{match[1]} has {count} parameters without a default"
    for match in MAYBE_BOOL.finditer(code):
        yield code.count("\n", 0, match.start(1)) + 1, f"{match[1]} is a `Bool?`: name the three cases"


def functions(code):
    """Yields (number of lines, first line, name) for each function of code without comments and literals."""
    depth, parentheses, begun, open_functions = 0, 0, None, []
    for number, line in enumerate(code.split("\n"), 1):
        # A requirement of a protocol has no body, so another declaration may follow at once.
        if (begun is None or parentheses == 0) and (match := START.match(line)):
            begun, parentheses = (number, " ".join(match[1].split())), 0
        for character in line:
            if character in "([":
                parentheses += 1
            elif character in ")]":
                parentheses -= 1
            elif character == "{":
                depth += 1
                # A brace within parentheses begins the closure that is a parameter's default value.
                if begun and parentheses == 0:
                    open_functions.append((depth, *begun))
                    begun = None
            elif character == "}":
                if open_functions and open_functions[-1][0] == depth:
                    _, first, name = open_functions.pop()
                    yield number - first + 1, first, name
                depth -= 1
                if parentheses == 0:
                    begun = None


def main():
    found = []
    wrong = []
    for path in (path for folder in FOLDERS for path in swift_files(ROOT / folder) if ".build" not in path.parts):
        code = code_of(path.read_text())
        for lines, first, name in functions(code):
            found.append((lines, f"{shown(path)}:{first}", name))
        if (ROOT / FOLDERS[0]) in path.parents:
            wrong += [f"{shown(path)}:{line}: {finding}" for line, finding in signatures(code)]
    found.sort(key=lambda each: (-each[0], each[1]))
    print("The ten longest functions:")
    for lines, place, name in found[:10]:
        print(f"  {lines} lines  {place}  {name}")
    long = [each for each in found if each[0] > MAX_LINES]
    for lines, place, name in long[10:]:
        print(f"  {lines} lines  {place}  {name}")
    if long:
        sys.exit(f"error: {len(long)} functions have more than {MAX_LINES} lines: split them by meaning")
    if wrong:
        sys.exit("\n".join(["error: these functions take too much, or are not clear:", *wrong]))
    print(f"{len(found)} functions have at most {MAX_LINES} lines.")


if __name__ == "__main__":
    main()
