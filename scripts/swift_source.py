"""A little knowledge of Swift's surface, shared by the checks: what is comment, what is text, what is code."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent

_TOKEN = re.compile(
    r"""
    (?P<doc>///[^\n]*|/\*\*.*?\*/)
  | (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<rawmulti>\#+\"\"\".*?\"\"\"\#+)
  | (?P<multi>\"\"\".*?(?<!\\)\"\"\")
  | (?P<raw>(?P<hashes>\#+)\"[^\n]*?\"(?P=hashes))
  | (?P<string>\"(?:\\\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)|\\.|[^\"\\\n])*\")
    """,
    re.VERBOSE | re.DOTALL,
)
_INTERPOLATION = re.compile(r"\\#*\(")


def code_of(text, keep_docs=False):
    """The text with comments and literals blanked, line for line and column for column.

    What stands in an interpolation is code and stays. With `keep_docs`, so do documentation comments.
    """

    def blank(match):
        found = match.group(0)
        if match.lastgroup == "doc" and keep_docs:
            return found
        if found.startswith("/"):
            return re.sub(r"[^\n]", " ", found)
        return _blank_literal(found)

    return _TOKEN.sub(blank, text)


def _blank_literal(literal):
    result = []
    index = 0
    while index < len(literal):
        match = _INTERPOLATION.match(literal, index)
        if not match:
            result.append("\n" if literal[index] == "\n" else " ")
            index += 1
            continue
        result.append(" " * (match.end() - index))
        index = match.end()
        depth = 1
        while index < len(literal) and depth:
            character = literal[index]
            depth += {"(": 1, ")": -1}.get(character, 0)
            result.append(" " if depth == 0 or character in '"{}' else character)
            index += 1
    return "".join(result)


def swift_files(folder):
    """The Swift files below a folder, in order."""
    return sorted(pathlib.Path(folder).rglob("*.swift"))


def shown(path):
    """A path as messages show it: from the root of the repository."""
    return pathlib.Path(path).resolve().relative_to(ROOT).as_posix()
