#!/usr/bin/env python3
"""Compiles the Swift blocks of README.md and of the articles, and runs those that are tests. Errors name the block's
file and line. README.ko.md must have the same blocks as README.md, and an article in Korean those of its English
original. Comments in these blocks may be Korean.

A block is the body of its own function, with Martlet imported (on the main actor if it imports MartletUI), unless a
comment directly above it says otherwise:

    <!-- compile: continues -->     sees the declarations of the blocks before it, back to the last one without the mark
    <!-- compile: file -->          a file of its own; run as a test if it imports Testing
    <!-- compile: apple -->         needs Apple platforms; other blocks can continue it
    <!-- compile: manifest -->      a Package.swift that SwiftPM must be able to read
    <!-- compile: dependency -->    one dependency of a Package.swift, likewise
    <!-- compile: skip, reason -->  not compiled
    <!-- compile: with
    code -->                        code that readers need not see, inserted before the block; may precede another mark

The scratch package depends on this one with all traits and builds in .build. AppleStubs/Foreign declares what blocks use
of other libraries. On Linux, `import Combine` becomes OpenCombine, and apple_check.py has the blocks for Apple.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from apple_platforms import FOREIGN, imports_of, reachable
from swift_source import ROOT, comments, shown

OPTIONS = ["--scratch-path", f"{ROOT}/.build", *os.environ.get("BUILD_OPTIONS", "").split()]
README = ROOT / "README.md"
MODES = {"apple", "body", "continues", "dependency", "file", "manifest", "skip"}
IS_APPLE = sys.platform == "darwin"
TOOLS_VERSION = "// swift-tools-version: 6.2\nimport PackageDescription\n"


@dataclasses.dataclass
class Block:
    document: pathlib.Path
    line: int  # of the first line of code
    mode: str
    code: str
    hidden: str
    hidden_line: int

    @property
    def place(self):
        return f"{shown(self.document)}:{self.line}"

    @property
    def name(self):
        return re.sub(r"\W", "_", self.document.stem) + f"_{self.line}"

    def lines(self):
        """The code with its file and line numbers, hidden code first."""
        for first, text in ((self.hidden_line, self.hidden), (self.line, self.code)):
            if text:
                yield from ((shown(self.document), number, line) for number, line in enumerate(text.split("\n"), first))


def blocks_of(document):
    """The Swift blocks of a Markdown file."""
    lines = document.read_text().split("\n")
    found, index = [], 0
    mode, hidden, hidden_line = "body", "", 0
    while index < len(lines):
        line = lines[index].strip()
        if line == "<!-- compile: with":
            end = next(at for at in range(index + 1, len(lines)) if lines[at].rstrip().endswith("-->"))
            hidden_line = index + 2
            hidden = "\n".join(lines[index + 1 : end + 1]).rstrip().removesuffix("-->").rstrip()
            if directive := next((at for at in range(index + 1, end) if lines[at].lstrip().startswith("@")), None):
                sys.exit(f"{shown(document)}:{directive + 1}: DocC reads this line as a directive, even in a comment.")
            index = end
        elif match := re.fullmatch(r"<!-- compile: (\w+)(?:, (.+))? -->", line):
            mode = match[1]
            if mode not in MODES or (mode == "skip" and not match[2]):
                sys.exit(f"{document.name}:{index + 1}: use one of {sorted(MODES)}, and give a reason for skip")
        elif line.startswith("```"):
            end = next(at for at in range(index + 1, len(lines)) if lines[at].strip() == "```")
            if line == "```swift":
                code = "\n".join(lines[index + 1 : end])
                found.append(Block(document, index + 2, mode, code, hidden, hidden_line))
                mode, hidden = "body", ""
            index = end
        elif line and (mode != "body" or hidden):
            sys.exit(f"{document.name}:{index + 1}: no Swift block follows the comment above")
        index += 1
    return found


def all_blocks():
    """The Swift blocks of README.md and of the articles."""
    return [block for path in [README, *sorted(ROOT.glob("Sources/*/*.docc/**/*.md"))] for block in blocks_of(path)]


def translations():
    """Pairs of a document and its Korean version."""
    yield README, ROOT / "README.ko.md"
    for korean in sorted(ROOT.glob("Korean/*.md")):
        originals = list(ROOT.glob(f"Sources/*/*.docc/**/{korean.name}"))
        if len(originals) != 1:
            sys.exit(f"{shown(korean)}: {len(originals)} articles have this name")
        yield originals[0], korean


def chains(blocks):
    """Groups of blocks to compile together: a block, and those that continue it."""
    result = []
    for block in blocks:
        if block.mode in ("apple", "body", "file"):
            result.append([block])
        elif block.mode == "continues":
            if not result or result[-1][0].mode == "file" or result[-1][0].document != block.document:
                sys.exit(f"{block.place}: there is no block to continue")
            result[-1].append(block)
    return result


def source(chain):
    """The Swift file for a chain. Each block is in a scope within the one before it."""
    has_combine = IS_APPLE or chain[0].mode == "apple"
    imports, scopes = ['#sourceLocation(file: "the imports", line: 1)', "import Martlet"], []
    if any(line == "import Foundation" for block in chain for _, _, line in block.lines()):
        imports += ["#if canImport(FoundationNetworking)", "import FoundationNetworking", "#endif"]
    for block in chain:
        scope, last = [], None
        for path, number, line in block.lines():
            # Imports move to the top, so each line that follows a gap is numbered.
            is_import = re.match(r"\s*(?:@\w+ )*import \w+", line)
            if not has_combine and line.strip() == "import Combine":
                line = "import OpenCombine; import OpenCombineDispatch"
            target = imports if is_import else scope
            if is_import or last != number - 1:
                target.append(f'#sourceLocation(file: "{path}", line: {number})')
            target.append(line)
            last = last if is_import else number
        scopes.append("\n".join(scope))
    head = "\n".join([*imports, "#sourceLocation()"]) + "\n"
    if chain[0].mode == "file":
        return head + "\n".join(scopes) + "\n#sourceLocation()\n"
    isolation = "@MainActor " if any("import MartletUI" in block.code for block in chain) else ""
    body = "\ndo {\n".join(scopes) + "\n" + "}" * len(scopes)
    return f"{head}{isolation}func {chain[0].name}() async throws {{\n{body}\n"


def write_package(folder, blocks):
    """Writes the scratch package. Returns whether it has tests."""
    names = ("", "Background", "Combine", "Guests", "Images", "UI", "Testing", "JSON")
    dependencies = [f'.product(name: "Martlet{name}", package: "martlet")' for name in names]
    packages, targets = [f'.package(name: "martlet", path: "{ROOT}", traits: {traits()})'], []
    if not IS_APPLE:
        dependencies += [f'.product(name: "OpenCombine{name}", package: "OpenCombine")' for name in ("", "Dispatch")]
        packages += ['.package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0")']
    # apple_check.py compiles the others, which need Apple's modules.
    imports = set().union(*(imports_of(block.hidden + "\n" + block.code) for block in blocks))
    foreign = sorted(reachable(imports, {path.name: path for path in FOREIGN.iterdir()}))
    for module in foreign:
        shutil.copytree(FOREIGN / module, folder / "Sources" / module)
        imports = {name for path in FOREIGN.glob(f"{module}/*.swift")
                   for name in re.findall(r"\bimport (\w+)", path.read_text())}
        needs = ['.product(name: "Martlet", package: "martlet")']
        needs += [f'"{name}"' for name in foreign if name in imports]
        targets.append(f'.target(name: "{module}", dependencies: [{", ".join(needs)}])')
        dependencies.append(f'"{module}"')
    kinds = {"Snippets": "target"}
    for chain in chains(blocks):
        module = "Snippets"
        if chain[0].mode == "apple" and (not IS_APPLE or "import UIKit" in chain[0].code):
            continue
        if chain[0].mode == "file":
            is_test = bool(re.search(r"^import Testing$", chain[0].code, re.MULTILINE))
            module = f"{'Test' if is_test else 'File'}_{chain[0].name}"
            kinds[module] = "testTarget" if is_test else "target"
        (folder / "Sources" / module).mkdir(parents=True, exist_ok=True)
        (folder / "Sources" / module / f"{chain[0].name}.swift").write_text(source(chain))
    targets += [
        f'.{kind}(name: "{module}", dependencies: [{", ".join(dependencies)}], path: "Sources/{module}", '
        'swiftSettings: [.unsafeFlags(["-suppress-warnings"])])'
        for module, kind in kinds.items()
    ]
    (folder / "Package.swift").write_text(
        f'{TOOLS_VERSION}let package = Package(name: "snippets", platforms: [.macOS(.v14)], '
        f'dependencies: [{", ".join(packages)}], targets: [{", ".join(targets)}])\n')
    return "testTarget" in kinds.values()


def traits():
    """All traits of the library, as Swift writes a set of strings."""
    names = re.findall(r'\.trait\(\s*name: "(\w+)"', (ROOT / "Package.swift").read_text())
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def run(*command, cwd):
    """Runs a command and prints its output if it fails."""
    result = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode:
        errors = [line for line in result.stdout.split("\n") if re.search(r"^[^|]*\berror:|✘", line)]
        print("\n".join(dict.fromkeys(errors)) or result.stdout)
    return result.returncode == 0


def read_manifest(block, folder):
    """Whether SwiftPM can read a manifest, or one with this dependency."""
    code = block.code
    if block.mode == "dependency":
        code = f'{TOOLS_VERSION}let package = Package(name: "app", dependencies: [\n{code}\n])'
    place = folder / block.name
    place.mkdir()
    (place / "Package.swift").write_text(code + "\n")
    return run("swift", "package", "--scratch-path", f"{ROOT}/.build/manifests", "dump-package", cwd=place)


def different_blocks(original, translation):
    """Yields a line for each difference between the blocks of two documents."""
    ours, theirs = blocks_of(original), blocks_of(translation)
    if len(ours) != len(theirs):
        yield f"{shown(original)} has {len(ours)} Swift blocks and {shown(translation)} {len(theirs)}"
    for left, right in zip(ours, theirs):
        if (left.mode, bare(left.code), left.hidden) != (right.mode, bare(right.code), right.hidden):
            yield f"{right.place}: this block differs from {left.place}"


def bare(code):
    """The code without its comments, which a translation may translate. The first line of a manifest is none."""
    lines = code.split("\n")
    for number, comment in comments(code):
        if not comment.startswith("// swift-tools-version:"):
            lines[number - 1] = lines[number - 1].removesuffix(comment)
    return [line.rstrip() for line in lines]


def main():
    blocks = all_blocks()
    failures = [line for pair in translations() for line in different_blocks(*pair)]
    with tempfile.TemporaryDirectory(prefix="martlet-readme-") as name:
        folder = pathlib.Path(name).resolve()
        has_tests = write_package(folder, blocks)
        if not run("swift", "build", "--build-tests", *OPTIONS, cwd=folder):
            failures.append("Swift blocks do not compile")
        elif has_tests and not run("swift", "test", "--skip-build", *OPTIONS, cwd=folder):
            failures.append("tests in Swift blocks fail")
        for block in blocks:
            if block.mode in ("manifest", "dependency") and not read_manifest(block, folder):
                failures.append(f"{block.place}: SwiftPM cannot read this manifest")
    if failures:
        sys.exit("\n".join(f"error: {failure}" for failure in failures))
    skipped = sum(block.mode == "skip" for block in blocks)
    left = 0 if IS_APPLE else sum(len(chain) for chain in chains(blocks) if chain[0].mode == "apple")
    print(f"{len(blocks) - skipped - left} Swift blocks compile, {left} left to apple_check.py, {skipped} skipped.")


if __name__ == "__main__":
    main()
