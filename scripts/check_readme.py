#!/usr/bin/env python3
"""Compiles the Swift blocks of the prose. See check-readme.sh.

A block is the body of a function of its own, with Martlet imported, on the main actor where it imports MartletUI, unless a
comment right before it says otherwise:

    <!-- compile: continues -->     sees what the blocks before it declare, back to the last one without this mark
    <!-- compile: file -->          a file of its own; one that imports Testing is run as a test
    <!-- compile: apple -->         needs what only Apple's systems have; others can continue it
    <!-- compile: manifest -->      a Package.swift, which SwiftPM must be able to read
    <!-- compile: dependency -->    one of the dependencies in a Package.swift, likewise
    <!-- compile: skip, reason -->  not compiled
    <!-- compile: with
    code -->                        code that readers need not see, put before the block

The last one may stand above one of the others. The scratch package is made outside the repository and depends on it with
all traits on; what is built stays in .build, where the library with all traits is built too. `--list` only shows the blocks.

Where Combine is missing, `import Combine` is compiled as an import of OpenCombine. Libraries that are not among our packages
have the declarations that blocks use of them in scripts/foreign. Blocks that need Apple's systems are compiled here on a Mac alone; elsewhere apple-check.sh typechecks them.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRATCH = ROOT / ".build"
TRAITS = ("AsyncHTTPClient", "URLSession", "Encryption", "ImageCodecs", "OpenCombine")
OPTIONS = ["--scratch-path", os.fspath(SCRATCH), *os.environ.get("BUILD_OPTIONS", "").split()]
FOREIGN = ROOT / "scripts" / "foreign"
README = ROOT / "README.md"
MODES = {"apple", "body", "continues", "dependency", "file", "manifest", "skip"}
# A Package.swift around one of its dependencies.
MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription

let package = Package(name: "app", dependencies: [
{}
])
"""
IS_APPLE = sys.platform == "darwin"


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
        return f"{self.document.relative_to(ROOT).as_posix()}:{self.line}"

    @property
    def name(self):
        return re.sub(r"\W", "_", self.document.stem) + f"_{self.line}"

    def lines(self):
        """The code with its place in the document, hidden code first."""
        path = self.document.relative_to(ROOT).as_posix()
        for first, text in ((self.hidden_line, self.hidden), (self.line, self.code)):
            if text:
                yield from ((path, first + offset, line) for offset, line in enumerate(text.split("\n")))


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
            index = end
        elif match := re.fullmatch(r"<!-- compile: (\w+)(?:, (.+))? -->", line):
            mode = match[1]
            if mode not in MODES:
                sys.exit(f"{document.name}:{index + 1}: there is no mode \"{mode}\"; there are {sorted(MODES)}")
            if mode == "skip" and not match[2]:
                sys.exit(f"{document.name}:{index + 1}: say why the block is skipped")
        elif line == "```swift":
            end = next(at for at in range(index + 1, len(lines)) if lines[at].strip() == "```")
            code = "\n".join(lines[index + 1 : end])
            found.append(Block(document, index + 2, mode, code, hidden, hidden_line))
            mode, hidden = "body", ""
            index = end
        elif line.startswith("```"):
            index = next(at for at in range(index + 1, len(lines)) if lines[at].strip() == "```")
        elif line:
            if mode != "body" or hidden:
                sys.exit(f"{document.name}:{index + 1}: the comment above stands before no Swift block")
        index += 1
    return found


def source(chain):
    """A Swift file of blocks, each in a scope within the one before it."""
    has_combine = IS_APPLE or chain[0].mode == "apple"
    imports, scopes = ['#sourceLocation(file: "the imports", line: 1)', "import Martlet"], []
    if any(line == "import Foundation" for block in chain for _, _, line in block.lines()):
        # Where URLSession stands apart from Foundation.
        imports += ["#if canImport(FoundationNetworking)", "import FoundationNetworking", "#endif"]
    for block in chain:
        scope = []
        for path, number, line in block.lines():
            # Every line is named, so that imports can be moved to the top.
            target = imports if re.match(r"\s*(?:@\w+ )*import \w+", line) else scope
            if not has_combine and line.strip() == "import Combine":
                line = "import OpenCombine; import OpenCombineDispatch"
            if target is imports or not scope or last != number - 1:
                target.append(f'#sourceLocation(file: "{path}", line: {number})')
            target.append(line)
            if target is scope:
                last = number
        scopes.append("\n".join(scope))
    if chain[0].mode == "file":
        return "\n".join(imports + ["#sourceLocation()"] + scopes) + "\n#sourceLocation()\n"
    # Models for views live where views do.
    isolation = "@MainActor " if any("import MartletUI" in block.code for block in chain) else ""
    opening = f"{isolation}func {chain[0].name}() async throws {{\n"
    return "\n".join(imports) + "\n#sourceLocation()\n" + opening + "\ndo {\n".join(scopes) + "\n" + "}" * len(scopes) + "\n"


def chains(blocks):
    """Groups the blocks that must be compiled together: one that stands alone, and those that continue it."""
    result = []
    for block in blocks:
        if block.mode in ("apple", "body", "file"):
            result.append([block])
        elif block.mode == "continues":
            if not result or result[-1][0].mode == "file" or result[-1][0].document != block.document:
                sys.exit(f"{block.place}: there is no block that this one could continue")
            result[-1].append(block)
    return result


def package(folder, blocks):
    """Writes the scratch package; returns whether it has tests."""
    targets, has_tests = [], False
    products = ("Martlet", "MartletImages", "MartletUI", "MartletTesting")
    dependencies = "[" + ", ".join(f'.product(name: "{name}", package: "martlet")' for name in products)
    packages, traits = "", ", ".join(f'"{name}"' for name in TRAITS)
    if not IS_APPLE:
        names = ("OpenCombine", "OpenCombineDispatch")
        dependencies += "".join(f', .product(name: "{name}", package: "OpenCombine")' for name in names)
        packages = ', .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0")'
    for module in sorted(path.name for path in FOREIGN.iterdir()):
        shutil.copytree(FOREIGN / module, folder / "Sources" / module)
        targets.append(f'.target(name: "{module}")')
        dependencies += f', "{module}"'
    dependencies += "]"
    settings = '[.unsafeFlags(["-suppress-warnings"])]'
    snippets = folder / "Sources" / "Snippets"
    snippets.mkdir(parents=True)
    (snippets / "Empty.swift").write_text("")
    targets.append(f'.target(name: "Snippets", dependencies: {dependencies}, swiftSettings: {settings})')
    for chain in chains(blocks):
        name = chain[0].name
        if chain[0].mode == "apple" and not IS_APPLE:
            continue
        if chain[0].mode != "file":
            (snippets / f"{name}.swift").write_text(source(chain))
            continue
        is_test = bool(re.search(r"^import Testing$", chain[0].code, re.MULTILINE))
        has_tests = has_tests or is_test
        module = f"{'Test' if is_test else 'File'}_{name}"
        place = folder / "Sources" / module
        place.mkdir(parents=True)
        (place / "Block.swift").write_text(source(chain))
        kind = "testTarget" if is_test else "target"
        targets.append(
            f'.{kind}(name: "{module}", dependencies: {dependencies}, path: "Sources/{module}", swiftSettings: {settings})')
    (folder / "Package.swift").write_text(
        "// swift-tools-version: 6.2\nimport PackageDescription\n"
        'let package = Package(name: "snippets", platforms: [.macOS(.v14)], dependencies: ['
        f'.package(name: "martlet", path: "{ROOT}", traits: [{traits}]){packages}], targets: [\n' + ",\n".join(targets) + "\n])\n")
    return has_tests


def run(*command, cwd):
    """Runs a command; what it says is shown only where it fails."""
    result = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode:
        errors = [line for line in result.stdout.split("\n") if re.search(r"^[^|]*\berror:|✘", line)]
        print("\n".join(dict.fromkeys(errors)) if errors else result.stdout)
    return result.returncode == 0


def check_manifests(blocks, folder):
    good = True
    for block in blocks:
        if block.mode in ("manifest", "dependency"):
            place = folder / block.name
            place.mkdir()
            code = MANIFEST.format(block.code) if block.mode == "dependency" else block.code + "\n"
            (place / "Package.swift").write_text(code)
            if not run("swift", "package", "--scratch-path", f"{SCRATCH}/manifests", "dump-package", cwd=place):
                print(f"{block.place}: SwiftPM cannot read this manifest")
                good = False
    return good


def check_translation(original, translation):
    if not translation.exists():
        print(f"{translation.name} is missing")
        return False
    ours, theirs = blocks_of(original), blocks_of(translation)
    for left, right in zip(ours, theirs):
        if (left.mode, left.code, left.hidden) != (right.mode, right.code, right.hidden):
            print(f"{right.place}: this block differs from {left.place}")
            return False
    if len(ours) != len(theirs):
        print(f"{original.name} has {len(ours)} Swift blocks and {translation.name} {len(theirs)}")
        return False
    return True


def all_blocks():
    """The Swift blocks of README.md and of the articles."""
    articles = sorted((ROOT / "Sources").glob("*/*.docc/**/*.md"))
    return [block for document in [README, *articles] for block in blocks_of(document)]


def main():
    blocks = all_blocks()
    if "--list" in sys.argv:
        for block in blocks:
            print(f"{block.place}: {block.mode}")
        return 0
    good = check_translation(README, ROOT / "README.ko.md")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="martlet-readme-"))
    try:
        has_tests = package(folder, blocks)
        built = run("swift", "build", "--build-tests", *OPTIONS, cwd=folder)
        tested = built and (not has_tests or run("swift", "test", "--skip-build", *OPTIONS, cwd=folder))
        good = good and tested
        good = check_manifests(blocks, folder) and good
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    skipped = sum(block.mode == "skip" for block in blocks)
    left = 0 if IS_APPLE else sum(len(chain) for chain in chains(blocks) if chain[0].mode == "apple")
    if good:
        rest = f", {left} are left to apple-check.sh" if left else ""
        print(f"{len(blocks) - skipped - left} Swift blocks compile{rest}, {skipped} are skipped.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
