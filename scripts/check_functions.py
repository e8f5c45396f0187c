#!/usr/bin/env python3
"""Checks that no function of the sources has more than 40 lines, from its first line to its last brace, and prints the
ten longest.

A function is whatever has a body of statements: a function, an initializer, a subscript or a computed property.
"""

import re
import sys

from swift_source import ROOT, code_of, shown, swift_files

MAX_LINES = 40
FOLDERS = ["Sources", "Fuzzing/Sources", "Tools/Sources"]

START = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:[a-z]+(?:\(\w+\))?\s+)*?"
    r"(func\s+[^\s(<]+|init[?!]?(?=\s*[<(])|deinit(?=\s*\{)|subscript(?=\s*[<(])|var\s+\w+(?=[^=\n]*\{))")


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
    for path in (path for folder in FOLDERS for path in swift_files(ROOT / folder) if ".build" not in path.parts):
        for lines, first, name in functions(code_of(path.read_text())):
            found.append((lines, f"{shown(path)}:{first}", name))
    found.sort(key=lambda each: (-each[0], each[1]))
    print("The ten longest functions:")
    for lines, place, name in found[:10]:
        print(f"  {lines} lines  {place}  {name}")
    long = [each for each in found if each[0] > MAX_LINES]
    for lines, place, name in long[10:]:
        print(f"  {lines} lines  {place}  {name}")
    if long:
        sys.exit(f"error: {len(long)} functions have more than {MAX_LINES} lines: split them by meaning")
    print(f"{len(found)} functions have at most {MAX_LINES} lines.")


if __name__ == "__main__":
    main()
