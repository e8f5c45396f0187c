#!/usr/bin/env python3
"""Builds and runs an app outside of the repository that adds Martlet by its git URL and a version.

SwiftPM and Xcode build a dependency from a URL differently from one at a path: they pass -suppress-warnings and reject
unsafe flags. The working tree, with files that are not committed, becomes a bare clone with a tag. Git finds it at the
README's URL. The app depends on the version that the README names, or on 0.1.0 while that names the branch. The programs
are those of scripts/consumer, one for each product and one for two.

Without options, the app with the product Martlet is built with swiftbuild in debug without traits. That is case C100.
With --matrix, all programs are built with both build systems, without traits and with the default ones, in debug and
release. The script deletes all it has made.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from check_readme import TOOLS_VERSION, all_blocks, blocks_of, translations
from swift_source import ROOT

CASE = "C100: an app that adds the package by its git URL and a version builds and runs"
FIRST_VERSION = "0.1.0"
BRANCH = 'branch: "main"'
PROGRAMS = ROOT / "scripts" / "consumer"
# Every program prints a line that begins with this.
GREETING = "Hello, "
PRODUCTS = {"TwoProducts": ["Martlet", "MartletJSON"]}
BUILD_SYSTEMS, TRAITS, CONFIGURATIONS = ("swiftbuild", "native"), ("none", "default"), ("debug", "release")
TIME_LIMIT = 1800


def git(*arguments, **environment):
    """Runs git and returns its output."""
    command = ["git", "-c", "user.name=consume.py", "-c", "user.email=consume.py@localhost", *map(str, arguments)]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | environment).stdout.strip()


def tagged_clone(folder, version):
    """Makes a bare clone of the working tree in a folder, tagged as a release."""
    clone, index = folder / "martlet.git", folder / "index"
    git("clone", "--quiet", "--bare", "--no-tags", ROOT, clone)
    # Objects of uncommitted files go to the clone, and the repository's index stays as it is.
    place = {"GIT_DIR": str(clone), "GIT_WORK_TREE": str(ROOT), "GIT_INDEX_FILE": str(index)}
    git("-C", ROOT, "add", "--all", **place)
    commit = git("commit-tree", git("write-tree", **place), "-p", "HEAD", "-m", f"Release {version}", **place)
    git("tag", version, commit, **place)
    return clone


def dependency():
    """The URL of README.md's dependency, and its version: 0.1.0 as long as it names the branch."""
    found = {}
    for block in [*all_blocks(), *(block for _, korean in translations() for block in blocks_of(korean))]:
        for match in re.finditer(r'\.package\(url: "([^"]+/martlet)", (\w+: "([^"]+)")', block.code):
            found.setdefault(match.groups(), block.place)
    if len(found) != 1:
        sys.exit("error: the documents must depend on martlet in one way:\n" + "\n".join(
            f"{place}: {requirement} of {url}" for (url, requirement, _), place in found.items()))
    [(url, requirement, version)] = found
    if requirement == BRANCH:
        if git("-C", ROOT, "tag", "--list", "[0-9]*"):
            sys.exit("error: there is a release, so the documents must name it instead of a branch")
        version = FIRST_VERSION
    elif requirement != f'from: "{version}"':
        sys.exit(f"error: the documents must name {BRANCH} or a version, instead of {requirement}")
    return url, version


def write_app(folder, line, traits, programs):
    """Writes a package with an executable for each program."""
    if traits == "none":
        line = line.removesuffix(")") + ", traits: [])"
    targets = []
    for name in programs:
        products = ", ".join(f'.product(name: "{each}", package: "martlet")' for each in PRODUCTS.get(name, [name]))
        targets.append(f'.executableTarget(name: "Use{name}", dependencies: [{products}])')
        source = folder / "Sources" / f"Use{name}" / "main.swift"
        source.parent.mkdir(parents=True)
        source.write_text((PROGRAMS / f"{name}.swift").read_text())
    (folder / "Package.swift").write_text(
        f'{TOOLS_VERSION}\nlet package = Package(name: "app", platforms: [.macOS(.v13)], dependencies: [{line}],\n'
        f'    targets: [\n        {f",{chr(10)}        ".join(targets)}\n    ])\n')


def resolved(folder):
    """The packages that an app has resolved."""
    return sorted(pin["identity"] for pin in json.loads((folder / "Package.resolved").read_text())["pins"])


def failure(command, log):
    """What to print about a command that failed."""
    lines = list(dict.fromkeys(log.read_text(errors="replace").splitlines()))
    # A crash of SwiftPM prints no error, but its backtrace names the function first.
    errors = [line for line in lines if re.search(r"error:|Fatal error|crashed|^\d+ .* in ", line)] or lines[-10:]
    return "\n    ".join([f"{command[0]} failed:", *errors[:10]])


def consume(folder, name, traits, options, environment):
    """Builds a program and runs it. Returns whether it worked, and what it printed or what failed."""
    build = ["swift", "build", "--package-path", folder, *options, "--product", f"Use{name}"]
    log = folder / "log"
    with log.open("wb") as errors:

        def output(*command, **rest):
            """What a command prints."""
            return subprocess.run(
                command, check=True, stdin=subprocess.DEVNULL, stderr=errors, env=environment, text=True,
                **{"stdout": subprocess.PIPE, "timeout": TIME_LIMIT} | rest).stdout

        try:
            try:
                output(*build, stdout=errors)
            except subprocess.CalledProcessError as error:
                # With swiftbuild, SwiftPM 6.3.1 sometimes dies of a signal in libdispatch on Linux, as in
                # https://github.com/swiftlang/swift/issues/87033. An error of the build gets no second try.
                if error.returncode >= 0:
                    raise
                print(f"SwiftPM crashed (signal {-error.returncode}), and tries again:", failure(error.cmd, log), flush=True)
                output(*build, stdout=errors)
            if traits == "none" and (found := resolved(folder)) != ["martlet", "swift-http-types"]:
                return False, f"without traits, SwiftPM resolves {', '.join(found)}"
            binaries = output(*build, "--show-bin-path").strip()
            printed = output(f"{binaries}/Use{name}", timeout=60).strip()
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            return False, failure(error.cmd, log)
    return printed.startswith(GREETING), printed


def consume_all(cell, line, temporary, environment):
    """Builds and runs the programs of a cell in one folder. Yields for each whether it worked."""
    system, configuration, traits, programs = cell
    # In the user's own folders, SwiftPM would remember the clone's commit as that of the real release.
    options = ["--cache-path", temporary / "cache", "--security-path", temporary / "security"]
    options += ["--build-system", system, "--configuration", configuration]
    options += os.environ.get("BUILD_OPTIONS", "").split()
    with tempfile.TemporaryDirectory(dir=temporary) as name:
        app = pathlib.Path(name)
        write_app(app, line, traits, programs)
        for program in programs:
            start = time.monotonic()
            works, result = consume(app, program, traits, options, environment)
            print(
                f"{'✓' if works else '✗'} {system:<10}  {configuration:<7}  traits: {traits:<7}  {program:<14}"
                f"{time.monotonic() - start:5.0f} s  {result}", flush=True)
            yield works


def environment_with(clone, url):
    """The environment of an app's build, in which git finds the clone at the URL."""
    count = int(os.environ.get("GIT_CONFIG_COUNT", "0"))
    added = {f"GIT_CONFIG_KEY_{count}": f"url.{clone.as_uri()}.insteadOf", f"GIT_CONFIG_VALUE_{count}": url}
    ours = {name: value for name, value in os.environ.items() if name != "MARTLET_STRICT"}
    return ours | added | {"GIT_CONFIG_COUNT": str(count + 1)}


def cells(options):
    """The cells to build: (build system, configuration, traits, programs)."""
    if not options.matrix:
        return [("swiftbuild", "debug", "none", ["Martlet"])]
    programs = sorted(path.stem for path in PROGRAMS.glob("*.swift"))
    found = itertools.product(BUILD_SYSTEMS, CONFIGURATIONS, TRAITS)
    return [(*cell, programs) for cell in found if set(options.only.split()) <= set(cell)]


def write_events(path, passed, seconds):
    """Writes a stream like that of `swift test` for the test of C100."""
    def event(kind, instant, *symbols):
        messages = [{"symbol": symbol, "text": CASE} for symbol in symbols]
        payload = {"kind": kind, "testID": CASE, "instant": {"absolute": instant}, "messages": messages}
        return {"kind": "event", "payload": payload}

    test = {"kind": "test", "payload": {"kind": "function", "id": CASE, "name": CASE, "displayName": CASE}}
    events = [test, event("testStarted", 0), event("testEnded", seconds, "pass" if passed else "fail")]
    path.write_text("".join(json.dumps(each) + "\n" for each in events))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--matrix", action="store_true", help="build every program in every way")
    parser.add_argument("--only", default="", metavar="WORDS", help='a part of the matrix, such as "native debug"')
    parser.add_argument("--event-stream-output-path", type=pathlib.Path, metavar="FILE", help="for conformance.py")
    options = parser.parse_args()
    url, version = dependency()
    line = f'.package(url: "{url}", from: "{version}")'
    start = time.monotonic()
    # So that the temporary folder is deleted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: terminated"))
    with tempfile.TemporaryDirectory(prefix="martlet-consumer-") as name:
        temporary = pathlib.Path(name).resolve()
        environment = environment_with(tagged_clone(temporary, version), url)
        print(f"The app depends on {line}", flush=True)
        works = [each for cell in cells(options) for each in consume_all(cell, line, temporary, environment)]
    seconds = time.monotonic() - start
    if options.event_stream_output_path:
        write_events(options.event_stream_output_path, all(works), seconds)
    print(f"{sum(works)} of {len(works)} apps that add the package by its URL build and run, in {seconds:.0f} s.")
    return 0 if works and all(works) else 1


if __name__ == "__main__":
    sys.exit(main())
