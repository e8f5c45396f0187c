#!/usr/bin/env python3
"""Typechecks on Linux what only Apple's systems compile, against the declarations in AppleStubs.

usage: apple_check.py [--unused]

Copies the sources, decides each #if as a compiler for iOS would, then as one for macOS, and compiles the copies with
the modules of AppleStubs in the place of Apple's. Before that it makes sure that it can fail: the compiler must find each
mistake of AppleStubs/Mistakes, and each of those that are put into a copy of the sources. The Swift blocks of the prose that need Apple's systems are compiled
as what a reader would write. --unused lists what the stubs
declare and no source of ours mentions.
"""

import dataclasses
import os
import re
import shutil
import subprocess
import sys
import time

from apple_availability import TOOLCHAIN, newer_symbols, too_new
from apple_places import (
    EXAMPLES, FOLDERS, PROMISED, PROMISED_BY_EXAMPLES, SHAPES, SOURCES, STUB_MODULES, STUBS, TARGETS, UPCOMING_FEATURES,
    check_imports, count_apple_files, imported, in_order, place, resolved, stub_modules, targets,
)
from check_readme import all_blocks, chains, source
from swift_source import ROOT, code_of, shown, swift_files

MISTAKES = ROOT / "AppleStubs" / "Mistakes"
OUTPUT = ROOT / ".build" / "apple-check"
# Where the library without traits was built, and with it the one package that it needs.
BUILT = ROOT / ".build" / "core" / "debug" / "Modules"
PACKAGE = "HTTPTypes"
# The module of the blocks of the prose.
READERS = "Readers"

# Put into a copy of the sources, each for a shape whose compiler must object: file, what stands there, what then does.
PLANTED = {
    "iOS": (
        ("Martlet/Transport/URLSessionUpload+Apple.swift", "uploadTask(withStreamedRequest:", "uploadTask(withStream:"),
        ("Martlet/Storage/Disk.swift", "st_mtimespec.tv_nsec", "st_mtim.tv_nsec"),
        ("Martlet/Publishers/SessionPublishers.swift", "SessionState, Never>", "SessionState, NetworkError>"),
        ("MartletImages/ImageIO/ImageIOCodec+Apple.swift", "premultipliedLast.rawValue", "premultipliedLast"),
        (
            "Martlet/Observation/LogObserver+Apple.swift", '"\\(line.description, privacy: .public)"', "line.description"
        ),
        ("MartletUI/Views/GuestLoginForm.swift", "get: { @MainActor in", "get: {"),
        ("MartletUI/Views/PicturePreview.swift", "uiImage: image", "nsImage: image"),
        ("MartletUI/Views/UploadProgressView.swift", "value: progress.fraction", "progress.fraction"),
    ),
    "macOS": (
        ("Martlet/Storage/ExpiringActivity+Apple.swift", "#if os(iOS) ||", "#if os(macOS) ||"),
        ("Martlet/Model/PlatformLock.swift", "os_unfair_lock_unlock(lock)", "pthread_mutex_unlock(lock)"),
        ("MartletImages/ImageIO/ImageIOCodec+Apple.swift", "bytes as CFData", "bytes"),
        ("MartletUI/Views/PicturePreview.swift", "nsImage: image", "uiImage: image"),
        ("MartletUI/Views/GuestLoginForm.swift", "#if os(iOS) || os(visionOS)", "#if os(macOS)"),
    ),
}

# What Objective-C does for `as`, a method does here: see Bridging.swift of the stubs. `CFTypeRef` is AnyObject, and in a
# pattern `as` is another one.
BRIDGED = re.compile(r"(?<=[\w)\]}\"])\s+as (CF(?!TypeRef)[A-Z]\w*|Data|String)\b")
PATTERN = re.compile(r"\bcase\b")


def rewritten(path, text, shape):
    """A source as it is compiled for a shape: line for line the same, with its conditions and bridging resolved."""
    text, _ = resolved(path, text, place(shape))
    return "\n".join(
        line if PATTERN.search(line) else BRIDGED.sub(r"._bridged(to: \1.self)", line) for line in text.split("\n"))


def copy(sources, folder, shape, edit=lambda path, text: text):
    """Copies sources, rewritten, to a folder. Returns their paths there, which are those that they have here."""
    paths = [source.relative_to(ROOT) for source in sources]
    for path, source in zip(paths, sources):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rewritten(source, edit(source, source.read_text()), shape))
    return paths


def compile(folder, shape, module, sources, *arguments):
    """Compiles copies in a folder, so that messages name them as the originals. Returns what the compiler says."""
    command = ["swiftc", "-wmo", "-parse-as-library", "-swift-version", "6"]
    command += ["-diagnostic-style", "llvm", "-no-color-diagnostics"]
    if module == READERS:
        # The same as in check_readme.py: the compiler's defaults, and examples may leave something unused.
        command += ["-suppress-warnings"]
    else:
        command += ["-warnings-as-errors"]
        command += [word for feature in UPCOMING_FEATURES for word in ("-enable-upcoming-feature", feature)]
    # The example app and the readers' code are other packages, which see what is public.
    package = "guest-app" if module in EXAMPLES else "readers" if module == READERS else "martlet"
    command += ["-package-name", package, "-module-name", module]
    command += ["-I", OUTPUT / shape, "-I", OUTPUT / "packages"]
    result = subprocess.run(
        [*command, *arguments, *sources], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode < 0:
        sys.exit(f"error: the compiler crashed:\n{result.stdout}")
    if result.returncode and "error:" not in result.stdout:
        sys.exit(f"error: the compiler failed:\n{result.stdout}")
    return result.stdout if result.returncode else ""


# The check itself


def map_c_modules():
    """Lets the compiler import our targets in C, as SwiftPM does."""
    for headers in SOURCES.glob("*/include"):
        folder = OUTPUT / "packages" / headers.parent.name
        folder.mkdir()
        text = f'module {folder.name} {{\n    umbrella "{headers}"\n    export *\n}}\n'
        (folder / "module.modulemap").write_text(text)


def build_stubs(shape):
    """Makes the stub modules of a shape, each after those that it imports."""
    folder = OUTPUT / shape
    for name in in_order({name: imported(STUBS / name) for name in stub_modules(shape)}):
        sources = copy(swift_files(STUBS / name), folder, shape)
        said = compile(folder, shape, name, sources, "-emit-module", "-emit-module-path", f"{name}.swiftmodule")
        if said:
            sys.exit(f"error: the stubs of {name} do not compile for {shape}:\n{said}")


def dated_stubs(shape):
    """The stub modules of a shape that say when something came."""
    return [
        name for name in stub_modules(shape)
        if any(re.search(r"@available\((?!\*)", path.read_text()) for path in swift_files(STUBS / name))
    ]


def check(shape, newer):
    """Compiles our modules for a shape, as far as the compiler may have something to say, and judges what they use."""
    folder = OUTPUT / shape
    for target in targets(shape):
        sources = copy(swift_files(FOLDERS[target]), folder, shape)
        promised = PROMISED_BY_EXAMPLES if target in EXAMPLES else PROMISED
        # Lowered, because some of what is wrong with concurrency shows no earlier.
        result = ("-emit-sil", "-o", f"{target}.sil", "-emit-module", "-emit-module-path", f"{target}.swiftmodule")
        said = compile(folder, shape, target, sources, *result)
        if said:
            sys.exit(f"{said}error: {target} does not compile for {shape}.")
        found = [
            f"error: {path}: {name} needs {', '.join(f'{system} {major}' for system, (major, _) in needs.items())}."
            for path, name, needs in too_new(folder, target, sources, OUTPUT / "packages", newer, promised)
        ]
        if found:
            sys.exit("\n".join(found))


def chains_for_apple():
    """The blocks of the prose that need Apple's systems, each with those that continue it."""
    return [chain for chain in chains(all_blocks()) if chain[0].mode == "apple"]


def compile_blocks(shape, blocks):
    """Compiles blocks of the prose as readers' code, so that messages name the documents. Returns what the compiler says."""
    folder = OUTPUT / shape
    (folder / READERS).mkdir(exist_ok=True)
    paths = []
    for chain in blocks:
        paths.append(f"{READERS}/{chain[0].name}.swift")
        (folder / paths[-1]).write_text(rewritten(chain[0].document, source(chain), shape))
    return compile(folder, shape, READERS, paths, "-emit-sil", "-o", f"{READERS}.sil") if paths else ""


def check_blocks(shape, blocks):
    """Compiles the blocks of the prose for a shape, against our modules."""
    said = compile_blocks(shape, blocks)
    if said:
        sys.exit(f"{said}error: there are Swift blocks in the prose that do not compile for {shape}.")


# Whether it can fail


def errors(said):
    """The errors that the compiler told of: file, line and message."""
    return [
        (path, int(line), message)
        for path, line, message in re.findall(r"^([^\s:]+):(\d+):\d+: error: (.*)$", said, re.MULTILINE)
    ]


def check_mistakes(shape, newer):
    """Demands that the lines of AppleStubs/Mistakes that are marked are found, and no others."""
    count = 0
    for path in swift_files(MISTAKES):
        text, branches = resolved(path, path.read_text(), place(shape))
        absent = {
            branch.line + 1 + index
            for branch in branches
            if not branch.is_compiled
            for index in range(len(branch.code))
        }
        marks = {
            number: match.group(1)
            for number, line in enumerate(text.split("\n"), 1)
            if number not in absent and (match := re.search(rf"// mistake(?: on {shape})?: (.*)$", line))
        }
        sources = copy([path], OUTPUT / shape, shape)
        said = compile(OUTPUT / shape, shape, "Mistakes", sources, "-emit-sil", "-o", "Mistakes.sil")
        found = errors(said)
        for number, mark in marks.items():
            if not any(line == number and mark in message for _, line, message in found):
                sys.exit(f"{said}error: {shown(path)}:{number}: the compiler for {shape} does not find this mistake.")
        if any(line not in marks for _, line, _ in found):
            sys.exit(f"{said}error: {shown(path)}: there are mistakes without a mark for {shape}.")
        count += len(marks)
        if not said:
            marked = set(re.findall(r"// too new: (.*)", text))
            judged = too_new(OUTPUT / shape, "Mistakes", sources, OUTPUT / "packages", newer)
            unseen = marked - {name for _, name, _ in judged}
            if unseen:
                sys.exit(f"error: {shown(path)}: {', '.join(unseen)} should have been found too new for {shape}.")
            count += len(marked)
    return count


def check_planted(shape):
    """Demands that the compiler finds mistakes in a copy of our own sources."""
    waiting = {SOURCES / path: (right, wrong) for path, right, wrong in PLANTED[shape]}

    def edit(path, text):
        right, wrong = waiting.get(path, ("", ""))
        if right not in text:
            sys.exit(f"error: {shown(path)} has no “{right}” any more; let PLANTED plant something else there.")
        return text.replace(right, wrong, 1) if right else text

    folder = OUTPUT / f"{shape}-planted"
    for target in {path.relative_to(SOURCES).parts[0] for path in waiting}:
        sources = copy(swift_files(SOURCES / target), folder, shape, edit)
        found = {path for path, _, _ in errors(compile(folder, shape, target, sources, "-typecheck"))}
        for path in waiting.keys() & set(swift_files(SOURCES / target)):
            if shown(path) not in found:
                sys.exit(f"error: {shown(path)}: the compiler for {shape} does not object to “{waiting[path][1]}”.")
    return len(waiting)


def check_planted_blocks(shape, blocks):
    """Demands that the compiler finds a mistake at the end of each block of the prose, and where it is."""
    planted = [
        [dataclasses.replace(block, code=f'{block.code}\nlet number: Int = "one"') for block in chain] for chain in blocks
    ]
    wanted = {(shown(block.document), block.line + block.code.count("\n")) for chain in planted for block in chain}
    said = compile_blocks(shape, planted)
    found = {(path, line) for path, line, _ in errors(said)}
    if found != wanted:
        odd = ", ".join(f"{path}:{line}" for path, line in sorted(found ^ wanted))
        sys.exit(f"{said}error: mistakes in blocks of the prose are not found where they are, for {shape}: {odd}")
    return len(wanted)


# The stubs


def check_citations():
    """Demands that each paragraph of declarations names a page of Apple's."""
    uncited = []
    for path in swift_files(STUBS):
        is_cited = False
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if re.match(r"\s*// https://developer\.apple\.com/", line):
                is_cited = True
            elif not line:
                is_cited = False
            elif re.match(r"(@.+ )?(public|open|extension) (?!import)", line) and not is_cited:
                uncited.append(f"error: {shown(path)}:{number}: which page of developer.apple.com says so?")
    if uncited:
        sys.exit("\n".join(uncited))


def print_unused():
    """Lists what the stubs declare and our sources do not mention."""
    sources = [path for target in TARGETS for path in swift_files(FOLDERS[target])]
    words = {word for path in sources for word in re.findall(r"\w+", code_of(path.read_text()))}
    for path in swift_files(STUBS):
        for number, line in enumerate(code_of(path.read_text()).split("\n"), 1):
            match = re.match(r".*?\b(?:func|var|let|class|struct|enum|protocol|case|typealias) `?([A-Za-z]\w*)", line)
            if match and match.group(1) not in words:
                print(f"{shown(path)}:{number}: {match.group(1)}")


def main():
    if sys.argv[1:] == ["--unused"]:
        return print_unused()
    start = time.monotonic()
    check_citations()
    check_imports()
    counts = count_apple_files()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    (OUTPUT / "packages").mkdir(parents=True)
    for part in BUILT.glob(f"{PACKAGE}.*"):
        shutil.copy(part, OUTPUT / "packages")
    map_c_modules()
    newer_everywhere = newer_symbols(TOOLCHAIN, OUTPUT)
    mistakes = 0
    blocks = chains_for_apple()
    for shape in SHAPES:
        build_stubs(shape)
        newer = newer_everywhere | newer_symbols(dated_stubs(shape), OUTPUT / shape)
        mistakes += check_mistakes(shape, newer)
        print(f"{shape}: its stubs compile, and mistakes are found ({time.monotonic() - start:.0f} s).", flush=True)
        check(shape, newer)
        mistakes += check_planted(shape)
        check_blocks(shape, blocks)
        mistakes += check_planted_blocks(shape, blocks)
        print(f"{shape}: {', '.join(targets(shape))} compile ({time.monotonic() - start:.0f} s).", flush=True)
    print(f"{mistakes} mistakes that were put in were found.")
    files = ", ".join(f"{shape} {count} files" for shape, count in counts.items())
    print(f"{sum(map(len, blocks))} Swift blocks of the prose that need Apple's systems compile.")
    print(f"Apple's branches typecheck: {files}, against {len(STUB_MODULES)} modules of stubs.")


main()
