#!/usr/bin/env python3
"""Checks that the names in the Markdown files exist: the back-quoted paths, types, functions and targets of make.

The changelog is left out, because it names what is gone, and so is text within code blocks, because check_readme.py
compiles it. The form of a name decides what it must be:

    `make fuzz`                   a target of the Makefile
    `Stores/File/`, `Call.swift`  a folder or a file: below the root, Sources, Sources/Martlet or the document's folder; for
                                  a file, its name is enough
    `signIn(_:as:)`               a function, initializer or case with these labels; those with a default may be missing
    `Query`, `Query.items`        identifiers of the repository's code; in the second form, both of one file

If a row of a table also names Swift files, as the maps do, its lower-case names must occur in one of these files. Words with an
underscore, and words in capitals, are names of other systems. FOREIGN has the rest of those.

The list of folders in CONTRIBUTING.md must have each folder of the repository, and its table the layers of
check_folders.py in their order.
"""

import functools
import re
import subprocess
import sys

from check_folders import ORDER
from check_links import SKIPPED, prose
from swift_source import ROOT, code_of, shown

# Names of other programs, services, formats and modules.
FOREIGN = set("""
Age CFBundleAllowMixedLocalizations ETag Expect Expires HttpOnly NSAllowsLocalNetworking NSExceptionAllowsInsecureHTTPLoads NSFaceIDUsageDescription
NSURLErrorBackgroundSessionWasDisconnected SameSite Vary
apikey closeCode co.uk com com.example.martlet.GuestApp GuestApp.entitlements GuestWidget.entitlements libheif libheif1 sudo vipsthumbnail xcodebuild
AccessToken AuthenticationResult GetTokensFromRefreshToken NotAuthorizedException RefreshToken RefreshTokenReuseException
UserNotFoundException
as DecodableWithConfiguration assumesTopLevelDictionary cICP
ErrorResponse.error NIOHTTPClient URLSessionHTTPClient createURLSession urlsession
aud azp iss nbf
delayMs dropConnectionAfterCommit dropConnectionBefore profileUrl redirectTo totalItems totalPages
Sources/main.swift
""".split())

QUOTED = re.compile(r"(?<!`)(`{1,2})([^`\n]+)\1(?!`)")
FILE = re.compile(r"[\w+.*/-]*[\w+*]\.(?:swift|py|sh|md|yml|json|txt|plist)")
FOLDER = re.compile(r"[\w+.*-]+(?:/[\w+.*-]+)*/")
FUNCTION = re.compile(r"(?:\w+\.)?(\w+)\(((?:\w+:)*)\)")
NAME = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z]\w*)*")
WORD = re.compile(r"\b[A-Za-z]\w*\b")
# The beginning of a declaration with parameters. A type's name before its parameters stands for an initializer.
SIGNATURE = re.compile(r"(?:\bfunc\s+|\bcase\s+|,\s*|\b(?=init\b|subscript\b))`?(\w+)`?[?!]?\s*(?:<[^(]*?>)?\(")
LABEL = re.compile(r"\s*(?:@\w+\s+)*(\w+)(?:\s+\w+)?\s*:")


def documents():
    """The Markdown files that speak of the present."""
    found = (path for path in sorted(ROOT.rglob("*.md")) if not SKIPPED & set(path.relative_to(ROOT).parts))
    return [path for path in found if path.name != "CHANGELOG.md"]


@functools.cache
def files():
    """The files of the repository, new ones included, as paths relative to its root."""
    command = ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(command, text=True).split("\n")
    return [name for name in names if name and (ROOT / name).exists()]


@functools.cache
def folders():
    """The folders that have files, as paths relative to the root."""
    return {parent.as_posix() for name in files() for parent in (ROOT / name).relative_to(ROOT).parents}


@functools.cache
def targets():
    """The targets of the Makefile."""
    return set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@functools.cache
def code():
    """The code of each Swift file, without comments and literals."""
    return {name: code_of((ROOT / name).read_text()) for name in files() if name.endswith(".swift")}


@functools.cache
def words():
    """The identifiers of each Swift file."""
    return {name: set(WORD.findall(text)) for name, text in code().items()}


@functools.cache
def known():
    """The identifiers of all Swift files, the names in manifests, and the types of Apple's modules."""
    names = set().union(*words().values(), re.findall(r"\w+", (ROOT / "AppleStubs/type-names.txt").read_text()))
    manifests = (ROOT / name for name in code() if name.endswith("Package.swift"))
    return names.union(*(re.findall(r'"(\w+)"', path.read_text()) for path in manifests))


@functools.cache
def signatures():
    """The labels of the functions, initializers and cases of all Swift files, by name."""
    found = {}
    for text in code().values():
        for match in SIGNATURE.finditer(text):
            parameters = [part for part in inside(text, match.end()).split(",") if part.strip()]
            labels = [label[1] if (label := LABEL.match(part)) else "_" for part in parameters]
            found.setdefault(match[1], []).append(labels)
    return found


def inside(text, start):
    """The text up to the closing bracket, without the text within further brackets."""
    depth, kept = 1, ""
    for character in text[start : start + 4000]:
        depth += (character in "([{") - (character in ")]}")
        if not depth:
            break
        if depth == 1:
            kept += character
    return re.sub(r"<[^<>]*>", "", kept)


def files_named(text):
    """The files that a path or a file's name means."""
    pattern = re.compile("(?:.*/)?" + re.escape(text).replace(r"\*", "[^/]*"))
    return [name for name in files() if pattern.fullmatch(name)] if FILE.fullmatch(text) else []


def is_folder(text, document):
    bases = ("", "Sources/", "Sources/Martlet/", f"{shown(document.parent)}/")
    return any(f"{base.removeprefix('./')}{text.strip('/')}" in folders() for base in bases)


def has_labels(name, labels):
    """Whether something with this name has the labels, in this order."""

    def contains(wanted, found=iter(())):
        return all(label in found for label in wanted)

    name = "init" if name[0].isupper() and name in known() else name
    return any(contains(labels, iter(found)) for found in signatures().get(name, ()))


def problem_of_symbol(text, near):
    """Why the name of a declaration is wrong, or `None`.

    `near` has the Swift files that its row of a table names.
    """
    if match := FUNCTION.fullmatch(text):
        labels = [label for label in match[2].split(":") if label]
        is_right = has_labels(match[1], labels) if labels else match[1] in known()
        return None if is_right or match[1] in FOREIGN else "nothing has this name and these labels"
    if match := re.fullmatch(r"(\w+)\(\.(\w+)\)", text):
        return None if {match[1], match[2]} <= known() else "nothing is declared with this name"
    parts = text.split(".")
    if not NAME.fullmatch(text) or "_" in text or text.isupper() or text in FOREIGN | targets() | folders():
        return None
    if not all(part in known() for part in parts):
        return "nothing is declared with this name"
    if len(parts) > 1:
        return None if any(set(parts) <= found for found in words().values()) else "no file has both"
    if near and text[0].islower() and not any(text in words()[name] for name in near):
        return f"it does not occur in {', '.join(near)}"
    return None


def problem(text, is_link, document, near):
    """Why a name in back quotes is wrong, or `None`. Double back quotes link to a symbol."""
    if is_link:
        parts = [re.sub(r"-\(.*\)$|-\w+$", "", part) for part in text.split("/")]
        return next((reason for part in parts if (reason := problem_of_symbol(part, ()))), None)
    if match := re.match(r"make ([a-z][\w-]*)\b", text):
        return None if match[1] in targets() else "the Makefile has no such target"
    command = text.split()[0]
    if text in FOREIGN or ".build/" in text or is_folder(command, document):
        return None
    if FILE.fullmatch(command):
        return None if files_named(command) else "there is no such file"
    if FOLDER.fullmatch(command) or "/" in text and is_folder(text.partition("/")[0], document):
        return None if "*" in command else "there is no such folder"
    return problem_of_symbol(text, near)


def unknown_names(document):
    for number, line in prose(document):
        quoted = QUOTED.findall(line)
        near = [name for _, text in quoted if line.startswith("|") for name in files_named(text)]
        near = [name for name in near if name.endswith(".swift")]
        for quotes, text in quoted:
            if reason := problem(text, len(quotes) == 2, document, near):
                yield f"{shown(document)}:{number}: `{text}`: {reason}"


def wrong_lists():
    """Yields a line for each difference between the lists of folders in CONTRIBUTING.md and the folders."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    tree = re.search(r"^```\n(Sources/.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]
    listed = {line.split()[0].rstrip("/") for line in tree.splitlines() if "*" not in line.split()[0]}
    pattern = re.compile(r"(?!\.|Sources$|Examples$)[^/]+|(?:Sources|Examples)/[^/]+")
    wanted = {name for name in folders() if pattern.fullmatch(name)}
    yield from (f"CONTRIBUTING.md: the list of folders lacks {name}/" for name in sorted(wanted - listed))
    yield from (f"CONTRIBUTING.md: there is no folder {name}/" for name in sorted(listed - wanted))
    table = text[text.index("## Where things are") : text.index("## Where to look")]
    rows = re.findall(r"^\| ((?:`[\w/]+/`(?:, )?)+) \|", table, re.MULTILINE)
    layers = [name for row in rows for name in re.findall(r"`([\w/]+)/`", row)]
    if layers != ORDER:
        yield f"CONTRIBUTING.md: the first column of the table of layers must be {', '.join(ORDER)}"


def main():
    found = [*(line for path in documents() for line in unknown_names(path)), *wrong_lists()]
    count = sum(len(QUOTED.findall(line)) for path in documents() for _, line in prose(path))
    print("\n".join(found) or f"{count} names in back quotes are right, and the lists of folders are complete.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
