#!/usr/bin/env python3
"""Typechecks on Linux the code that only Apple platforms compile, against the declarations in AppleStubs.

Copies the sources, decides each #if as a compiler for each of the platforms would, and compiles the copies with
the modules of AppleStubs in place of Apple's. Swift blocks of the documentation with the mark `apple` compile, too. To
show that the check can fail, the compiler must find the mistakes of AppleStubs/Mistakes, and those that the check puts
into copies of the sources. AppleStubs/README.md says what the result means.
"""

import concurrent.futures
import dataclasses
import os
import re
import shutil
import subprocess
import sys

from apple_platforms import (
    APPLE, EXAMPLES, FOLDERS, FOREIGN, FOREIGN_MODULES, FORMER_LIBRARIES, OLDEST, OLDEST_OF_EXAMPLES, PROVEN, SOURCES,
    STUB_MODULES, STUBS, TARGETS, TOOLCHAIN, UPCOMING_FEATURES, check_imports, count_apple_files, in_order, on, resolve,
)
from check_readme import all_blocks, chains, source
from swift_source import ROOT, shown, swift_files

sys.path.append(str(ROOT / "AppleStubs"))
from versions import OLDER, check_availability, described, is_dated, newer_symbols, too_new  # noqa: E402

MISTAKES = ROOT / "AppleStubs" / "Mistakes"
OUTPUT = ROOT / ".build" / "apple-check"
# The library without traits is built here, and with it HTTPTypes.
CORE = ROOT / ".build" / "core"
READERS = "Readers"
# Code of another package sees only what is public, and expects later cases of an enumeration.
PACKAGES = dict.fromkeys(STUB_MODULES, "apple") | dict.fromkeys(EXAMPLES, "guest-app") | {READERS: "readers"}
PACKAGES |= dict.fromkeys(FOREIGN_MODULES, "foreign")

PLANTED = re.findall(r"^(\w+): (\S+): (.*) => (.*)$", (MISTAKES / "planted.txt").read_text(), re.MULTILINE)

# Objective-C converts with `as`; here a method does (Bridging.swift of the stubs). `CFTypeRef` is AnyObject, and `as` in
# a pattern is a test of the type.
BRIDGED = re.compile(r"(?<=[\w)\]}\"])\s+as (CF(?!TypeRef)[A-Z]\w*|Data|String)\b")
PATTERN = re.compile(r"\bcase\b")
# The macro is a part of Xcode. Its closure is the body of a view builder.
PREVIEW = re.compile(r'#Preview(?:\("[^"]*"\))? \{')


def rewritten(path, text, system):
    """A source as a platform's compiler reads it, line for line the same."""
    lines = resolve(path, text, system)[0].split("\n")
    for at, line in enumerate(lines):
        lines[at] = PREVIEW.sub(f"@MainActor @ViewBuilder private func preview{at}() -> some View {{", line)
    return "\n".join(line if PATTERN.search(line) else BRIDGED.sub(r"._bridged(to: \1.self)", line) for line in lines)


def copy(sources, folder, system, edit=lambda path, text: text):
    """Copies sources, rewritten, into a folder. Returns their paths there, which are those in the repository."""
    for path in sources:
        target = folder / shown(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rewritten(path, edit(path, path.read_text()), system))
    return [shown(path) for path in sources]


def compile(folder, system, module, sources, *arguments):
    """Compiles copies in a folder and returns the compiler's errors. The compiler names the files as the originals."""
    command = ["swiftc", "-wmo", "-parse-as-library", "-swift-version", "6", "-diagnostic-style", "llvm"]
    # As in check_readme.py, blocks of the documentation have the compiler's defaults and may leave something unused. The
    # stubs import the toolchain's FoundationEssentials, which has no library evolution: that is a warning.
    is_quiet = module in (READERS, *STUB_MODULES, *FOREIGN_MODULES)
    command += ["-suppress-warnings" if is_quiet else "-warnings-as-errors"]
    command += ["-Xfrontend", "-enable-cross-import-overlays", *(UPCOMING_FEATURES if module != READERS else ())]
    command += ["-no-color-diagnostics", "-package-name", PACKAGES.get(module, "martlet"), "-module-name", module]
    command += ["-I", OUTPUT / system, "-I", OUTPUT / "packages", *arguments, *sources]
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode < 0 or (result.returncode and "error:" not in result.stdout):
        sys.exit(f"error: the compiler failed:\n{result.stdout}")
    return result.stdout if result.returncode else ""


def errors(output):
    """The errors in a compiler's output: file, line and message."""
    found = re.findall(r"^([^\s:]+):(\d+):\d+: error: (.*)$", output, re.MULTILINE)
    return [(path, int(line), message) for path, line, message in found]


def prepare():
    """Provides HTTPTypes and our targets in C."""
    if not (CORE / "debug" / "Modules" / "HTTPTypes.swiftmodule").exists():
        command = ["swift", "build", "--disable-default-traits", "--scratch-path", CORE, "--target", "HTTPTypes"]
        subprocess.run([*command, *os.environ.get("BUILD_OPTIONS", "").split()], cwd=ROOT, check=True)
    shutil.rmtree(OUTPUT, ignore_errors=True)
    packages = OUTPUT / "packages"
    packages.mkdir(parents=True)
    for part in (CORE / "debug" / "Modules").glob("HTTPTypes.*"):
        shutil.copy(part, packages)
    for headers in SOURCES.glob("*/include"):
        name = headers.parent.name
        (packages / name).mkdir()
        (packages / name / "module.modulemap").write_text(f'module {name} {{ umbrella "{headers}" export * }}')


def build_stubs(system):
    """Builds a platform's stub modules. Returns the names of those with something that an oldest system lacks."""
    folder, dated = OUTPUT / system, []
    for name in in_order({name: STUBS / name for name in on(system, STUB_MODULES)}):
        sources = copy(swift_files(STUBS / name), folder, system)
        # As in Apple's SDK, a later version may add cases to an enumeration that is not @frozen.
        result = ("-enable-library-evolution", "-emit-module", "-emit-module-path", f"{name}.swiftmodule")
        output = compile(folder, system, name, sources, *result)
        if output:
            sys.exit(f"error: the stubs of {name} do not compile for {system}:\n{output}")
        # `import PhotosUI` and `import SwiftUI` together import _PhotosUI_SwiftUI.
        if overlay := re.fullmatch(r"_([A-Z]\w*)_([A-Z]\w*)", name):
            (folder / f"{overlay[1]}.swiftcrossimport").mkdir()
            declaration = f"%YAML 1.2\n---\nversion: 1\nmodules:\n  - name: {name}\n"
            (folder / f"{overlay[1]}.swiftcrossimport" / f"{overlay[2]}.swiftoverlay").write_text(declaration)
        if is_dated(name):
            dated.append(name)
    return dated


def build_foreign(system):
    """Builds the declarations of other libraries for the platforms whose tests use them."""
    folder = OUTPUT / system
    for name in FOREIGN_MODULES if on(system, [FORMER_LIBRARIES]) else ():
        sources = copy(swift_files(FOREIGN / name), folder, system)
        if output := compile(folder, system, name, sources, "-emit-module", "-emit-module-path", f"{name}.swiftmodule"):
            sys.exit(f"error: the declarations of {name} do not compile for {system}:\n{output}")


def check(system, newer):
    """Compiles our modules for a platform, and checks the versions of the API that they use."""
    folder = OUTPUT / system
    for target in on(system, TARGETS):
        sources = copy(swift_files(FOLDERS[target]), folder, system)
        # Some errors of concurrency appear only in SIL.
        # The tests for a Mac see what is internal.
        result = ("-enable-testing", "-emit-sil", "-o", f"{target}.sil")
        result += ("-emit-module", "-emit-module-path", f"{target}.swiftmodule")
        if output := compile(folder, system, target, sources, *result):
            sys.exit(f"{output}error: {target} does not compile for {system}.")
        oldest = OLDEST_OF_EXAMPLES if target in EXAMPLES else OLDEST
        found = [
            f"error: {path}: {name} {described(needs)}."
            for path, name, needs in too_new(folder, target, sources, OUTPUT / "packages", newer, oldest)
        ]
        if found:
            sys.exit("\n".join(found))


def compile_blocks(system, blocks):
    """Compiles blocks of the documentation as code of a user. Errors name the documents."""
    folder = OUTPUT / system
    (folder / READERS).mkdir(exist_ok=True)
    paths = []
    for chain in blocks:
        paths.append(f"{READERS}/{chain[0].name}.swift")
        (folder / paths[-1]).write_text(rewritten(chain[0].document, source(chain), system))
    return compile(folder, system, READERS, paths, "-emit-sil", "-o", f"{READERS}.sil") if paths else ""


def check_blocks(system, blocks):
    """Demands that blocks of the documentation compile, and that a mistake at the end of each is found where it is."""
    if output := compile_blocks(system, blocks):
        sys.exit(f"{output}error: Swift blocks of the documentation do not compile for {system}.")
    mistake = '\nlet number: Int = "one"'
    planted = [[dataclasses.replace(block, code=block.code + mistake) for block in chain] for chain in blocks]
    wanted = {(shown(block.document), block.line + block.code.count("\n")) for chain in planted for block in chain}
    output = compile_blocks(system, planted)
    if odd := wanted ^ {(path, line) for path, line, _ in errors(output)}:
        places = ", ".join(f"{path}:{line}" for path, line in sorted(odd))
        sys.exit(f"{output}error: mistakes in Swift blocks are not found where they are, for {system}: {places}")
    return len(wanted)


def check_mistakes(system, newer, folder=MISTAKES):
    """Demands that the compiler finds the marked lines of AppleStubs/Mistakes, and no others."""
    count = 0
    for path in swift_files(folder):
        text, branches = resolve(path, path.read_text(), system)
        absent = {each.line + 1 + at for each in branches if not each.is_compiled for at in range(len(each.code))}
        marks = {
            number: match.group(1)
            for number, line in enumerate(text.split("\n"), 1)
            if number not in absent and (match := re.search(rf"// mistake(?: on {system})?: (.*)$", line))
        }
        sources = copy([path], OUTPUT / system, system)
        output = compile(OUTPUT / system, system, "Mistakes", sources, "-emit-sil", "-o", "Mistakes.sil")
        found = errors(output)
        for number, mark in marks.items():
            if not any(line == number and mark in message for _, line, message in found):
                sys.exit(f"{output}error: {shown(path)}:{number}: the compiler for {system} misses this mistake.")
        if any(line not in marks for _, line, _ in found):
            sys.exit(f"{output}error: {shown(path)}: there are mistakes without a mark for {system}.")
        count += len(marks)
        if not output:
            marked = set(re.findall(rf"// too new(?: on {system})?: (.*)", text))
            oldest = OLDER if "// older systems" in text else OLDEST
            judged = too_new(OUTPUT / system, "Mistakes", sources, OUTPUT / "packages", newer, oldest)
            if unseen := marked - {name for _, name, _ in judged}:
                sys.exit(f"error: {shown(path)}: the check misses what is too new: {', '.join(unseen)}.")
            count += len(marked)
    return count


def check_planted(system):
    """Demands that the compiler finds the mistakes of planted.txt in copies of our sources."""
    planted = {}
    for name, right, wrong in (entry[1:] for entry in PLANTED if entry[0] == system):
        path = next(SOURCES.rglob(name), None)
        if not path or right not in path.read_text():
            sys.exit(f"error: {name} no longer contains “{right}”; put another mistake into planted.txt.")
        planted[path] = (right, wrong)

    def edit(path, text):
        return text.replace(*planted[path], 1) if path in planted else text

    folder = OUTPUT / f"{system}-planted"
    for target in {path.relative_to(SOURCES).parts[0] for path in planted}:
        sources = copy(swift_files(SOURCES / target), folder, system, edit)
        found = {path for path, _, _ in errors(compile(folder, system, target, sources, "-typecheck"))}
        for path, (_, wrong) in planted.items():
            if path.is_relative_to(SOURCES / target) and shown(path) not in found:
                sys.exit(f"error: {shown(path)}: the compiler for {system} accepts “{wrong}”.")
    return len(planted)


def check_citations():
    """Demands that each paragraph of declarations names a page of Apple's documentation."""
    for path in swift_files(STUBS):
        for paragraph in path.read_text().split("\n\n"):
            declaration = re.search(r"^(@.+ )?(public|open|extension) (?!import).*", paragraph, re.MULTILINE)
            if declaration and "// https://developer.apple.com/" not in paragraph[: declaration.start()]:
                sys.exit(f"error: {shown(path)}: name the page of developer.apple.com for “{declaration[0]}”.")


def check_platform(system, blocks, newer_everywhere):
    """Does all checks for a platform. Returns the number of deliberate mistakes that it has found."""
    newer = newer_everywhere | newer_symbols(build_stubs(system), OUTPUT / system, system)
    build_foreign(system)
    check(system, newer)
    print(f"{system}: {', '.join(on(system, TARGETS))} compile.", flush=True)
    if system not in PROVEN:
        return check_mistakes(system, newer, MISTAKES / "Platforms")
    own = [chain for chain in blocks if system == "iOS" or "import UIKit" not in chain[0].code]
    return check_mistakes(system, newer) + check_planted(system) + check_blocks(system, own)


def main():
    if sys.platform == "darwin":
        return print("On a Mac, swift build compiles this code with Apple's own declarations: nothing to check.")
    check_citations()
    check_availability()
    check_imports()
    counts = count_apple_files()
    prepare()
    newer_everywhere = newer_symbols(TOOLCHAIN, OUTPUT)
    blocks = [chain for chain in chains(all_blocks()) if chain[0].mode == "apple"]
    # The compiler uses one core.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(check_platform, system, blocks, newer_everywhere) for system in APPLE]
        mistakes = sum(job.result() for job in jobs)
    print(f"The check found all {mistakes} deliberate mistakes, and {sum(map(len, blocks))} Swift blocks compile.")
    files = ", ".join(f"{system} {count} files" for system, count in counts.items())
    print(f"Code for Apple platforms typechecks: {files}, against {len(STUB_MODULES)} modules of stubs.")


if __name__ == "__main__":
    main()
