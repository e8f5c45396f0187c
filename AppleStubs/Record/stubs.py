"""Reads the declarations of our stubs."""

import dataclasses
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from swift_source import code_of, shown, swift_files  # noqa: E402


@dataclasses.dataclass
class Declaration:
    """A declaration of a stub."""

    place: str
    module: str
    # The type that it is a member of, such as `URLSession.ResponseDisposition`, or nothing.
    owner: str
    kind: str
    # With the labels of its parameters, such as `draw(_:in:byTiling:)`.
    name: str
    is_static: bool = False
    parameters: list = dataclasses.field(default_factory=list)
    # The type of a result or a value; of a type, what it inherits from.
    type: str = ""
    # A number, if the stub has one.
    value: int = None

    @property
    def path(self):
        return f"{self.owner}.{self.name}" if self.owner else self.name


# `class` before `var` and `func` is no type.
_TYPE = re.compile(r"\b(struct|class(?! (?:var|func)\b)|enum|protocol|typealias|extension) (`?[\w.]+`?)(?:<[^>{]*>)?\s*[:=]?\s*([^{]*)")
_MEMBER = re.compile(
    r"\b(?:(func|init[?!]?)(?: (`?\w+`?|[=<>+*&|!~/-]+))?\s*(?:<[^(]*>)?\((.*)|(var|let) (`?\w+`?)\s*(.*)|(case) (.*))"
)
_PUBLIC = re.compile(r"\b(public|open|case)\b|^\s*(extension|protocol)\b")


def declarations(folder, edit=lambda path, text: text):
    """All public declarations of the modules in a folder."""
    files = {path: edit(path, path.read_text()) for path in swift_files(folder)}
    found = [each for path in files for each in _of_file(path, path.relative_to(folder).parts[0], files[path])]
    # Without a number, a case has that of the case before it and one more.
    before = None
    for each in found:
        if each.kind == "case" and each.value is None and before and before.kind == "case" and before.value is not None:
            each.value = before.value + 1
        before = each
    return found


def _of_file(path, module, text):
    # Strings are blanked in `code`, which has the same columns.
    code = re.sub(r"(?m)^\s*#.*$", "", code_of(text))
    # The types around the current line: the name, whether it is a protocol, and the depth of its braces.
    around, depth, number = [], 0, 0
    lines = code.split("\n")
    while number < len(lines):
        start, statement = number, lines[number]
        while statement.count("(") > statement.count(")"):
            number += 1
            statement += " " + lines[number].strip()
        number += 1
        if depth == (around[-1][2] if around else 0):
            owner, place = (around[-1][0] if around else ""), f"{shown(path)}:{start + 1}"
            in_protocol = bool(around) and around[-1][1] == "protocol"
            kind, name = None, ""
            match = _TYPE.search(statement)
            if match and not re.search(r"\b(func|init|var|let|case)\b", statement[: match.start()]):
                kind, name = match[1], match[2].strip("`")
                name = f"{owner}.{name}" if owner and kind != "extension" else name
                if kind != "extension" and (in_protocol or _PUBLIC.search(statement)):
                    outer, _, own = name.rpartition(".")
                    yield Declaration(place, module, outer, kind, own, type=match[3].strip())
            elif (match := _MEMBER.search(statement)) and (in_protocol or _PUBLIC.search(statement[: match.end()])):
                yield from _members(place, module, owner, statement, match)
            if kind and kind != "typealias" and statement.count("{") > statement.count("}"):
                around.append((name, kind, depth + 1))
        depth += statement.count("{") - statement.count("}")
        while around and depth < around[-1][2]:
            around.pop()


def _members(place, module, owner, statement, match):
    function, name, rest, variable, variable_name, variable_rest, case, cases = match.groups()
    is_static = bool(re.search(r"\b(static|class)\b", statement[: match.start()])) or statement.lstrip().startswith("case")
    if case:
        for each in cases.split(","):
            own, _, number = (part.strip() for part in each.partition("="))
            yield Declaration(place, module, owner, "case", own.split("(")[0].strip("`"), True, value=_number(number))
    elif variable:
        own = variable_name.strip("`")
        type_, number = variable_rest.lstrip(":").strip(), None
        if body := re.search(r"\{ (?:return )?(.*) \}$", type_):
            number, type_ = _number(body[1]), type_[: body.start()].strip()
        type_, _, initial = (part.strip() for part in type_.removesuffix("{").partition("="))
        number = _number(initial) if number is None else number
        yield Declaration(place, module, owner, variable, own, is_static, [], type_, number)
    else:
        parameters, rest = _parameters(rest)
        labels = "".join(f"{label}:" for label, _ in parameters)
        own = (name or "init").strip("`")
        result = re.search(r"->\s*([^{]*?)\s*(?:where\b.*)?(?:\{|$)", rest)
        type_ = result[1].strip() if result else ""
        kind = "init" if function.startswith("init") else "func"
        yield Declaration(place, module, owner, kind, f"{own}({labels})", is_static, [each for _, each in parameters], type_)


def _number(text):
    match = re.search(r"(?:^|rawValue: )(-?(?:0x)?[0-9A-Fa-f_]+)\)?$", text.strip())
    return int(match[1].replace("_", ""), 0) if match else None


def _parameters(text):
    """The labels and types of parameters, and what follows their parenthesis."""
    depth, at, start, parts = 0, 0, 0, []
    for at, sign in enumerate(text):
        if sign in ",)" and depth == 0:
            parts.append(text[start:at])
            start = at + 1
            if sign == ")":
                break
        depth += (sign in "([{<") - (sign in ")]}" or (sign == ">" and text[at - 1] != "-"))
    found = []
    for part in filter(str.strip, parts):
        names, _, type_ = part.partition(":")
        type_ = re.sub(r"\s*=[^=>].*$", "", type_).strip()
        found.append((re.sub(r"@\w+(\([^)]*\))?\s*", "", names).split()[0], type_))
    return found, text[at + 1 :]
