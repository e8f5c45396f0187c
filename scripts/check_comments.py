#!/usr/bin/env python3
"""Checks the words of the comments in Swift files. A documentation comment opens with a noun or a verb, as in "The result
that a caller gets", and not with a relative clause, as in "What a caller gets".
"""

import os
import pathlib
import re
import sys

from swift_source import ROOT, comments, shown

OPENER = re.compile(r"/// +(?:- (?:Parameter )?\w+: )?(What|Whatever|Whose|Who|Where)\b")
WORD = re.compile(r"\b(meanwhile|whoever|somebody|nobody|anybody|mends|mended|forbids to)\b", re.IGNORECASE)


def sources():
    """Yields the Swift files. Hidden folders have those of dependencies."""
    for name, folders, files in os.walk(ROOT):
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        yield from (pathlib.Path(name, file) for file in sorted(files) if file.endswith(".swift"))


def main():
    count, found = 0, []
    for path in sources():
        for line, comment in comments(path.read_text()):
            count += 1
            if match := OPENER.match(comment):
                found.append(f'{shown(path)}:{line}: open with a noun or a verb instead of "{match[1]}"')
            if match := WORD.search(comment):
                found.append(f'{shown(path)}:{line}: rewrite the sentence without "{match[1]}"')
    if found:
        sys.exit("\n".join(["error: rewrite these comments", *found]))
    print(f"No findings in {count} lines of comments.")


if __name__ == "__main__":
    main()
