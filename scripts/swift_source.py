"""What the checks know about Swift's syntax: comments, literals, and the declarations at the top of a file."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent

_TOKEN = re.compile(
    r"""
    //[^\n]*
  | /\*.*?\*/
  | \#+\"\"\".*?\"\"\"\#+
  | \"\"\".*?(?<!\\)\"\"\"
  | (?P<hashes>\#+)\"[^\n]*?\"(?P=hashes)
  | \"(?:\\\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)|\\.|[^\"\\\n])*\"
    """,
    re.VERBOSE | re.DOTALL,
)
# Up to three levels of parentheses within an interpolation.
_INTERPOLATION = re.compile(r"\\#*\(((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*)\)")
_DECLARATION = re.compile(r"\b(struct|class|enum|protocol|actor|typealias|extension|func)\s+(\w+)")


def code_of(text):
    """The text with comments and literals blanked, column for column. Code in interpolations stays."""

    def blank(match):
        result, end = "", 0
        for code in _INTERPOLATION.finditer(match[0]) if match[0][0] in '#"' else ():
            result += _spaces(match[0][end : code.start(1)]) + re.sub('["{}]', " ", code[1])
            end = code.end(1)
        return result + _spaces(match[0][end:])

    return _TOKEN.sub(blank, text)


def comments(text):
    """Yields (line number, comment) for each line with a comment."""
    for match in _TOKEN.finditer(text):
        if match[0].startswith("//"):
            yield text.count("\n", 0, match.start()) + 1, match[0]


def _spaces(text):
    return re.sub(r"[^\n]", " ", text)


def declarations(code):
    """Yields (kind, name, modifiers, extended type) for each top-level type and for each function of an extension."""
    depth, extended = 0, None
    for line in code.split("\n"):
        match = _DECLARATION.search(line)
        if match and depth == 0:
            extended = match[2] if match[1] == "extension" else None
            if match[1] not in ("extension", "func"):
                yield match[1], match[2], line[: match.start()].split(), None
        elif match and depth == 1 and extended and match[1] == "func":
            yield "func", match[2], line[: match.start()].split(), extended
        depth += line.count("{") - line.count("}")


def swift_files(folder):
    """The Swift files below a folder, in order."""
    return sorted(pathlib.Path(folder).rglob("*.swift"))


def shown(path):
    """A path relative to the root of the repository."""
    return pathlib.Path(path).resolve().relative_to(ROOT).as_posix()
