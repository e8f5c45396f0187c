#!/usr/bin/env python3
"""Compares the declarations in Modules with PyObjC's metadata, which is generated from the headers of Apple's SDK.

Names, values, numbers of parameters and types of parameters must agree. What the record cannot know is listed in
unrecorded.txt, with the reason; everything else that it does not know is an error. To show that the comparison can fail,
it must find the mistakes of mistakes.txt.
"""

import fnmatch
import pathlib
import re
import sys

from metadata import read
from stubs import declarations
from wheels import wheels

HERE = pathlib.Path(__file__).resolve().parent
MODULES = HERE.parent / "Modules"
# Requirements of Swift's own protocols.
SWIFT_ONLY = {"rawValue", "init(rawValue:)", "==(left:right:)", "hash(into:)"}
# The record has each method and property with a truth value, a block or a pointer.
AT_RUN_TIME = "Types known at run time"
NUMBERS = {"Int": "qQ", "UInt": "Q", "Int32": "i", "UInt32": "I", "Int64": "q", "UInt64": "Q", "CGFloat": "d", "Double": "d"}
NUMBERS |= {"Bool": "ZB", "": "v", "Void": "v"}


def entries(name, separator):
    """The lines of a file that are no comments, split in two."""
    for line in (HERE / name).read_text().splitlines():
        if line and not line.startswith("#"):
            left, _, right = line.partition(separator)
            yield left.strip(), right.strip()


class Comparison:
    def __init__(self, record, found):
        self.record, self.found = record, found
        self.names = dict(entries("names.txt", " = "))
        self.types = {each.path: each for each in found if each.kind in ("struct", "class", "enum", "protocol", "typealias")}
        self.raw = {each.owner: each.type for each in found if each.name == "rawValue"}
        self.spelled = {name.lower(): name for name in (*record.values, *record.constants)}
        # By the number of their parameters.
        self.selectors = {}
        for entry in record.selectors.items():
            self.selectors.setdefault(entry[0].count(":"), []).append(entry)
        self.used, self.compared = set(), 0

    def errors(self):
        """Yields a line for each declaration that does not agree with the record."""
        modules, listed = {}, {}
        for reason, names in entries("unrecorded.txt", ": "):
            for name in names.split():
                (modules if name.endswith("/") else listed)[name.rstrip("/")] = reason
        seen = set()
        for each in self.found:
            entry = next((name for name in listed if fnmatch.fnmatchcase(each.path, name)), None)
            if each.module in modules:
                seen.add(each.module)
                continue
            if each.name in SWIFT_ONLY:
                continue
            problem = self.problem(each)
            # A type may be declared for each platform.
            is_type = each.path in self.types and each.kind == self.types[each.path].kind
            if entry and (is_type or self.name(each) is None):
                seen.add(entry)
                if listed[entry] == AT_RUN_TIME and re.search(r"\bBool\b|->|Unsafe", f"{each.type} {each.parameters}"):
                    yield f"{each.place}: {each.path}: the record has such members: this one is not spelled as in the SDK"
                # A declaration of a listed name may have the same name as one that the record has.
                if problem is None and "*" not in entry and [other.path for other in self.found].count(each.path) == 1:
                    yield f"{each.place}: the record has {each.path}: remove it from unrecorded.txt"
            elif problem:
                yield f"{each.place}: {each.path}: {problem}"
            else:
                self.compared += 1
        for name in sorted((modules.keys() | listed.keys()) - seen):
            yield f"unrecorded.txt: there is no declaration of {name}"
        for name in sorted(self.names.keys() - self.used):
            yield f"names.txt: there is no declaration of {name}"
        yield from self.incomplete()

    def incomplete(self):
        """A switch over an enumeration must know each case."""
        for pattern, stem in self.names.items():
            type_ = self.types.get(pattern.rpartition(".")[0])
            if type_ and type_.kind == "enum" and stem.endswith("*"):
                wanted = {value: key for key, value in self.record.values.items() if re.match(rf"{stem[:-1]}[A-Z]", key)}
                own = {each.value for each in self.found if each.owner == type_.path and each.kind == "case"}
                if missing := sorted(key for value, key in wanted.items() if value not in own):
                    yield f"{type_.place}: {type_.path} lacks {', '.join(missing)}"

    def problem(self, each):
        """What is wrong with a declaration. None: it agrees with the record."""
        if each.path in self.types and each is self.types[each.path]:
            names = {each.path.replace(".", ""), f"NS{each.path.replace('.', '')}", each.path.replace(".", "") + "Ref"}
            return None if names & self.record.types else "the record has no such type"
        name = self.name(each)
        if name is None:
            return self.problem_of_method(each)
        if name in self.record.functions:
            return self.problem_of_function(each, self.record.functions[name])
        if each.parameters:
            return f"the record has no function {name}"
        if name in self.record.values:
            if each.value is None:
                return f"the value is {self.record.values[name]}"
            return None if each.value == self.record.values[name] else f"the value is {self.record.values[name]}, not {each.value}"
        if name in self.record.constants:
            return None if self.fits(each.type, self.record.constants[name]) else f"the type is {self.record.constants[name]}"
        return f"the record has no {name}"

    def name(self, each):
        """The name in C of a function, a constant or a case; of a method, None."""
        patterns = [each.path, *(name for name in self.names if name.endswith("*") and each.path.startswith(name[:-1]))]
        if not (pattern := next((pattern for pattern in patterns if pattern in self.names), None)):
            return None if each.owner else each.name.partition("(")[0]
        self.used.add(pattern)
        name = self.names[pattern]
        if not name.endswith("*"):
            return name
        # Swift writes the first word in lower case, even where it is an abbreviation.
        name = name[:-1] + each.path[len(pattern) - 1 :]
        return self.spelled.get(name.lower(), name)

    def problem_of_function(self, each, encodings):
        result, *wanted = encodings
        # A method of a type in C has the object as its first parameter.
        types = [*([each.owner] if each.owner and each.kind != "init" and not each.is_static else []), *each.parameters]
        if len(types) != len(wanted):
            return f"the function has {len(wanted)} parameters"
        for at, (type_, encoding) in enumerate(zip(types, wanted), 1):
            if not self.fits(type_, encoding):
                return f"parameter {at} is {encoding} in C, not {type_}"
        type_ = each.owner if each.kind == "init" else each.type
        return None if self.fits(type_, result) else f"the result is {result} in C, not {type_}"

    def problem_of_method(self, each):
        owners = self.ancestors(each.owner)
        pieces = self.pieces(each)
        candidates = [
            known[owner]
            for selector, known in self.selectors.get(len(each.parameters), ()) if self.is_spelled(selector, pieces, each)
            for owner in owners & known.keys()
        ]
        if not candidates:
            return "the record has no such method or property"
        return min((self.problem_of_types(each, known) for known in candidates), key=lambda problem: problem is not None)

    def problem_of_types(self, each, known):
        result = known.get("retval", {}).get("type", "")
        if result and (result in "ZB") != (each.type.strip("?!") == "Bool") and each.kind != "init":
            return f"the result is {result}, not {each.type}"
        for at, type_ in enumerate(each.parameters):
            argument = known.get("arguments", {}).get(at + 2, {})
            if "callable" in argument:
                wanted = [entry["type"] for entry in list(argument["callable"].get("arguments", {}).values())[1:]]
                block = re.search(r"\((.*)\)\s*->", type_)
                own = [part.strip() for part in block[1].split(",") if part.strip()] if block else None
                if own is None or len(own) != len(wanted):
                    return f"parameter {at + 1} is a block with {len(wanted)} parameters"
                if any((one == "Bool") != (other in "ZB") for one, other in zip(own, wanted)):
                    return f"parameter {at + 1} is a block of {' '.join(wanted)}"
            elif argument.get("type", "") and (argument["type"] in "ZB") != (type_ == "Bool"):
                return f"parameter {at + 1} is {argument['type']}, not {type_}"
        return None

    def ancestors(self, name):
        """The classes of Objective-C that a member of a type may belong to."""
        found = set()
        while name in self.types or not found:
            found |= {name.replace(".", ""), f"NS{name.replace('.', '')}"}
            type_ = self.types.get(name)
            if type_ is None or type_.kind == "protocol":
                # The record has the methods of protocols under this name.
                return found | {"NSObject"} if type_ else found
            name = type_.type.split(",")[0].strip()
        return found

    @staticmethod
    def pieces(each):
        name, _, labels = each.name.rstrip(")").partition("(")
        first, *others = [label.strip("_") for label in labels.split(":")[:-1]] or [""]
        return [(name + first).lower(), *(other.lower() for other in others)]

    @staticmethod
    def is_spelled(selector, pieces, each):
        """Whether Swift imports a selector under a name: it may drop words at the end of each piece, and `With`."""
        own = selector.lower().rstrip(":").split(":")
        if pieces[0].endswith("completionhandler"):
            own[0] = own[0].replace("withcompletionhandler", "completionhandler")
        if each.kind in ("var", "let"):
            return own[0] in (pieces[0], f"is{pieces[0]}")
        if each.kind == "init":
            pieces = [pieces[0].replace("init", "initwith", 1) if each.parameters else "init", *pieces[1:]]
        return len(own) == len(pieces) and all(one.startswith(other) for one, other in zip(own, pieces))

    def fits(self, type_, encoding):
        """Whether a type of Swift is one of C. Objects and structures count as one kind, and so do all pointers."""
        type_ = re.sub(r"@\w+\s*", "", type_).strip("?!() ")
        while (alias := self.types.get(type_)) and alias.kind == "typealias":
            type_ = alias.type
        declared = self.types.get(type_)
        if declared and declared.kind == "enum":
            type_ = declared.type.split(",")[0]
        type_ = self.raw.get(type_, type_)
        while (alias := self.types.get(type_)) and alias.kind == "typealias":
            type_ = alias.type
        if type_ in NUMBERS:
            return encoding in NUMBERS[type_]
        if type_.startswith("Unsafe"):
            return encoding.startswith("^")
        return encoding == "@" or encoding.startswith(("^{", "{", "@?"))


def main():
    if not (paths := wheels()):
        return print("Skipped: there is no record to compare the declarations with.")
    record = read(paths)
    comparison = Comparison(record, declarations(MODULES))
    if errors := [*comparison.errors()]:
        print("\n".join(f"error: {each}" for each in errors))
        return 1
    mistakes = [*entries("mistakes.txt", " => ")]
    for right, wrong in mistakes:
        applied = []

        def edit(path, text):
            applied.extend([path] if right in text else [])
            return text.replace(right, wrong)

        if not [*Comparison(record, declarations(MODULES, edit)).errors()] or not applied:
            print(f"error: the comparison misses “{wrong}” in place of “{right}” ({len(applied)} files have it)")
            return 1
    print(f"{comparison.compared} declarations of Apple's API agree with PyObjC's record of the SDK, and the comparison "
          f"finds all {len(mistakes)} deliberate mistakes.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
