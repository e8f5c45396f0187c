"""Reads PyObjC's metadata: Python code, of which only the literals count. Nothing of it is run."""

import ast
import dataclasses
import re

from wheels import metadata


@dataclasses.dataclass
class Record:
    """What the headers of some frameworks declare."""

    # The type of a global constant in Objective-C's encoding; `@` is an object.
    constants: dict = dataclasses.field(default_factory=dict)
    # The value of an enumerator.
    values: dict = dataclasses.field(default_factory=dict)
    # The encodings of a function: the result, then the parameters.
    functions: dict = dataclasses.field(default_factory=dict)
    # For each selector the classes that have it, and what the record says of its types: `retval`, `arguments`.
    selectors: dict = dataclasses.field(default_factory=dict)
    types: set = dataclasses.field(default_factory=set)


def encodings(text):
    """Splits a signature such as `i@o^@` into the encodings of its types."""
    result, at = [], 0
    while at < len(text):
        start, at = at, _end(text, at)
        result.append(text[start:at].lstrip("rnNoORV"))
    return result


def _end(text, at):
    while text[at] in "rnNoORV":
        at += 1
    if text[at] == "^":
        return _end(text, at + 1)
    if text[at] in "{[(":
        depth = 0
        for at in range(at, len(text)):
            depth += (text[at] in "{[(") - (text[at] in "}])")
            if not depth:
                return at + 1
    return at + (2 if text[at : at + 2] == "@?" else 1)


def _literal(node):
    """The value of an expression of literals; what is no literal counts as None."""
    if isinstance(node, ast.Dict):
        return {_literal(key): _literal(value) for key, value in zip(node.keys, node.values)}
    if isinstance(node, (ast.Tuple, ast.List)):
        return [_literal(each) for each in node.elts]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("sel32or64", "selAorI"):
        # 64 bits, and Apple's processors rather than Intel's.
        return _literal(node.args[1 if node.func.id == "sel32or64" else 0])
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value.decode() if isinstance(value, bytes) else value


def _assigned(record, name, node):
    value = _literal(node)
    if name == "constants" and isinstance(value, str):
        for entry in filter(None, value.split("$")):
            constant, _, encoding = entry.partition("@")
            record.constants[constant] = encoding or "@"
    elif name == "enums" and isinstance(value, str):
        record.values |= {key: int(number) for key, number in re.findall(r"\$(\w+)@(-?\d+)(?=\$)", value)}
    elif name == "functions":
        record.functions |= {key: encodings(entry[0]) for key, entry in value.items() if entry and entry[0]}
    elif name in ("protocols", "formal_protocols"):
        record.types |= value.keys()
    elif name == "cftypes":
        record.types |= {entry[0].removesuffix("Ref") for entry in value}


def _called(record, node):
    """A call that declares something: a type, a method with its types, or an initializer."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "update" and node.args:
        for key, value in (_literal(node.args[0]) or {}).items():
            if isinstance(value, int):
                record.values[key] = value
    elif name == "NewType":
        record.types.add(_literal(node.args[0]))
    elif name in ("r", "registerNewKeywordsFromSelector", "registerNewKeywords"):
        owner, selector, *rest = [_literal(each) for each in node.args]
        if name == "registerNewKeywords":
            selector, rest = rest[0].replace("_", ":"), []
        record.types.add(owner)
        if selector:
            known = record.selectors.setdefault(selector, {})
            known[owner] = known.get(owner, {}) | (rest[0] if rest and rest[0] else {})
    elif name == "selector":
        selector = next((_literal(word.value) for word in node.keywords if word.arg == "selector"), None)
        if selector := selector or _literal(node.args[1]):
            record.selectors.setdefault(selector, {}).setdefault("NSObject", {})


def read(paths):
    """The record of some wheels."""
    record, aliases = Record(), {}
    for _, text in metadata(paths):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                _assigned(record, node.targets[0].id, node.value)
                if node.targets[0].id == "aliases":
                    aliases |= _literal(node.value)
            elif isinstance(node, ast.Call):
                _called(record, node)
    for alias, name in aliases.items():
        if name in record.values:
            record.values.setdefault(alias, record.values[name])
    return record
