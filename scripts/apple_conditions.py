"""Swift's conditional compilation: which lines of a file are compiled where."""

import dataclasses
import functools
import re

DIRECTIVE = re.compile(r"^(\s*#)(if|elseif|else|endif)\b(.*)$")
_TOKEN = re.compile(
    r"\s*(?:(?P<sign>\|\||&&|!|\(|\))|(?P<call>\w+)\s*\(\s*(?P<argument>\w+)\s*\)|(?P<word>\w+)|(?P<other>\S.*))"
)
_PYTHON = {"||": " or ", "&&": " and ", "!": " not ", "(": "(", ")": ")"}
SYSTEMS = {"iOS", "macOS", "tvOS", "watchOS", "visionOS", "Linux", "Android", "Windows"}


class Unclear(Exception):
    """A condition that nobody has taught these scripts."""


@dataclasses.dataclass(frozen=True)
class Place:
    """Somewhere that a file is compiled: what it can import there, and what is defined. `known` is what can be asked for
    at all; of anything else nobody knows whether it is there or misspelled."""

    system: str
    modules: frozenset
    flags: frozenset
    known: frozenset

    @functools.cache
    def satisfies(self, condition):
        """Whether a condition is true here."""
        python = ""
        for match in _TOKEN.finditer(condition.split("//")[0].strip()):
            kind, argument = match["call"], match["argument"]
            if match["sign"]:
                python += _PYTHON[match["sign"]]
            elif kind == "os" and argument in SYSTEMS:
                python += str(argument == self.system)
            elif kind == "canImport" and argument in self.known:
                python += str(argument in self.modules)
            elif match["word"] in self.known:
                python += str(match["word"] in self.flags)
            else:
                raise Unclear(match.group().strip())
        # Nothing but True, False, and, or, not and brackets can be in there.
        return eval(python, {"__builtins__": {}})


@dataclasses.dataclass
class Branch:
    """What stands between two directives."""

    line: int
    is_compiled: bool
    code: list


def resolve(text, place):
    """Decides the conditions of a file.

    Returns the text with each condition replaced by `true` or `false`, line for line, and the branches in order, which
    are the same ones for every place.
    """
    lines = text.split("\n")
    branches = []
    # Of each #if that is open: whether it is reached, whether a branch of it was taken, and the current branch.
    stack = []
    for index, line in enumerate(lines):
        match = DIRECTIVE.match(line)
        if not match:
            if stack:
                stack[-1][2].code.append(line)
            continue
        start, kind, condition = match.groups()
        if kind == "endif":
            stack.pop()
            continue
        if kind == "if":
            stack.append([all(level[2].is_compiled for level in stack), False, None])
        level = stack[-1]
        is_compiled = level[0] and not level[1] and (kind == "else" or place.satisfies(condition))
        level[1] = level[1] or is_compiled
        level[2] = Branch(index + 1, is_compiled, [])
        branches.append(level[2])
        if kind != "else":
            lines[index] = f"{start}{kind} {str(is_compiled).lower()}"
    return "\n".join(lines), branches
