#!/usr/bin/env python3
"""Measures what Martlet adds to an app: the size of a small program and the time of its first release build.

The program signs in, makes one typed call with the session, and sends both with URLSession. It depends on this checkout
with the trait URLSession alone. SwiftPM resolves the dependencies first, then builds everything in release in an empty
folder. The script prints the time of the build, the size of the stripped executable and what takes the space, by kind of
code and by type. It fails if the program is more than a tenth larger than RECORDED_SIZE. The time decides nothing, because
it depends on the machine.

Without the option --keep FOLDER, the script deletes all it has made.
"""

import argparse
import collections
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

from check_readme import TOOLS_VERSION
from swift_source import ROOT

# On Linux (x86_64) with Swift 6.3.1. The seconds are processor time.
RECORDED_SIZE, RECORDED_SECONDS = 4_729_472, 240
LIMIT = 1.1
TYPES = 10

PROGRAM = """import Martlet

struct User: Decodable, Sendable { var name: String }

let tokens = TokenManager(
    baseURL: "http://127.0.0.1:8080", store: .inMemory, refresher: .json(path: "/auth/refresh"))
let client = NetworkClient(tokens: tokens)
try await client.signIn(Call<User>.post("/auth/login", .json(["email": "ada@example.com", "password": "secret"])))
let me = try await client.send(Call<User>.get("/me", authentication: .required))
print("Hello, \\(me.name)!")
"""

NOMINAL = {"Class", "Structure", "Enum", "Protocol", "TypeAlias"}
# Code that the compiler adds to a type, by the kind of the outermost node of a symbol's name.
ADDED = {
    "ValueWitness": "value witnesses: copies, moves and destroys a value",
    "Outlined": "outlined copies, takes and destroys",
    "ProtocolWitness": "protocol witnesses and their tables",
    "ProtocolConformance": "protocol witnesses and their tables",
    "LazyProtocolWitness": "protocol witnesses and their tables",
}
METADATA = re.compile(r"Metadata|Descriptor|Reflection|CacheVariable|Record|AsyncFunctionPointer|AssociatedType")


def write_app(folder):
    """Writes the package of the app."""
    dependency = f'.package(name: "martlet", path: "{ROOT}", traits: ["URLSession"])'
    (folder / "Sources" / "App").mkdir(parents=True)
    (folder / "Sources" / "App" / "main.swift").write_text(PROGRAM)
    (folder / "Package.swift").write_text(
        f'{TOOLS_VERSION}\nlet package = Package(name: "app", platforms: [.macOS(.v13)], dependencies: [{dependency}],\n'
        f'    targets: [.executableTarget(name: "App", dependencies: [.product(name: "Martlet", package: "martlet")])])\n')


def output(*command, **options):
    """What a command prints. Ends the script if the command fails."""
    ran = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, **options)
    if ran.returncode:
        sys.exit(f"error: {command[0]} failed:\n{ran.stdout}")
    return ran.stdout


def build(app):
    """Builds the app. Returns the executable, the seconds, and the seconds of processor time."""
    # The Makefile's setting is for the repository's own builds.
    environment = {name: value for name, value in os.environ.items() if name != "MARTLET_STRICT"}
    options = ["--package-path", app, "--scratch-path", app / ".build"]
    output("swift", "package", *options, "resolve", env=environment)
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    output("swift", "build", *options, "--configuration", "release", env=environment)
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    binaries = output("swift", "build", *options, "--configuration", "release", "--show-bin-path", env=environment)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return pathlib.Path(binaries.strip()) / "App", seconds, used


def symbols(executable):
    """The names and sizes of the symbols with contents in the file. Two names of one address count once."""
    found = {}
    for line in output("nm", "--print-size", "--defined-only", executable).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] not in "bB":
            found.setdefault(fields[0], (fields[3], int(fields[1], 16)))
    return list(found.values())


def trees(names):
    """For each name, the nodes of its demangled tree: (depth, kind, text)."""
    text = output("swift", "demangle", "--tree-only", input="".join(name + "\n" for name in names))
    found = {}
    for part in text.split("Demangling for ")[1:]:
        name, *lines = part.splitlines()
        nodes = (re.match(r'( *)kind=(\w+)(?:, text="(.*)")?', line) for line in lines)
        found[name] = [(len(node[1]) // 2, node[2], node[3]) for node in nodes if node]
    return found


def without_specializations(nodes):
    """The nodes below the root without those that describe how the optimizer has specialized or merged the function."""
    kept, skipped = [], None
    for depth, kind, text in nodes[1:]:
        if skipped is not None and depth > skipped:
            continue
        skipped = depth if depth == 1 and ("Specialization" in kind or kind == "MergedFunction") else None
        if skipped is None:
            kept.append((depth, kind, text))
    return kept


def owner(nodes):
    """The outermost type that a symbol belongs to, such as Martlet.TokenManager; for global functions the module."""
    start = next((at for at, node in enumerate(nodes) if node[1] in NOMINAL), 0)
    at = start
    while at + 1 < len(nodes) and nodes[at + 1][1] in NOMINAL:
        at += 1
    rest = nodes[at + 1 :]
    module = next((text for _, kind, text in rest if kind == "Module"), None)
    if not nodes or nodes[start][1] not in NOMINAL:
        return module or "the rest"
    name = next((text for depth, kind, text in rest if kind == "Identifier" and depth == nodes[at][0] + 1), None)
    return f"{module}.{name}" if module and name else "the rest"


def kinds(sizes):
    """The sums of the symbols' sizes by the kind of code, and by the type that they belong to."""
    by_kind, by_type = collections.Counter(), collections.Counter()
    found = trees({name for name, _ in sizes})
    for name, size in sizes:
        nodes = without_specializations(found.get(name, []))
        if not nodes:
            by_kind["C and the linker's tables"] += size
            continue
        kind = nodes[0][1]
        added = next((text for prefix, text in ADDED.items() if kind.startswith(prefix)), None)
        of = owner(nodes)
        if added:
            by_kind[added] += size
        elif METADATA.search(kind):
            by_kind["metadata and descriptors of types"] += size
        elif not re.match(r"Martlet|HTTPTypes|App\b", of):
            by_kind["specializations of the standard library and Foundation"] += size
        else:
            by_kind["functions of the types"] += size
            by_type[of] += size
    return by_kind, by_type


def unwind_tables(executable):
    """The size of the tables with which a debugger or a crash report finds the callers."""
    lines = (line.split() for line in output("size", "-A", executable).splitlines())
    return sum(int(line[1]) for line in lines if line and line[0].startswith(".eh_frame"))


def print_contents(executable, size):
    """Prints what takes the space in an executable that is not stripped."""
    sizes = symbols(executable)
    by_kind, by_type = kinds(sizes)
    by_kind["unwind tables"] = unwind_tables(executable)
    by_kind["relocations, strings, names of symbols and types"] = size - sum(by_kind.values())
    print("\nWhat takes the space, in bytes:")
    for kind, total in by_kind.most_common():
        print(f"{total:>10,}  {kind}")
    print(f"\nThe {TYPES} largest types, by their functions with closures and nested types, in bytes:")
    for name, total in by_type.most_common(TYPES):
        print(f"{total:>10,}  {name}")


def measure(app):
    """Builds the app and prints the figures. Returns the size."""
    write_app(app)
    executable, seconds, used = build(app)
    stripped = app / "stripped"
    output("strip", "-o", stripped, executable)
    size = stripped.stat().st_size
    print(f"A first release build: {seconds:.0f} s, {used:.0f} s of processor time (recorded: {RECORDED_SECONDS} s)")
    print(f"The stripped executable: {size:,} bytes (recorded: {RECORDED_SIZE:,})")
    print_contents(executable, size)
    return size


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="build in an empty folder that remains")
    options = parser.parse_args()
    if sys.platform != "linux":
        sys.exit("error: the size is recorded for Linux, so make weight needs Linux")
    if options.keep:
        size = measure(options.keep.resolve())
    else:
        with tempfile.TemporaryDirectory(prefix="martlet-weight-") as name:
            size = measure(pathlib.Path(name).resolve())
    if size > RECORDED_SIZE * LIMIT:
        sys.exit(f"error: the program is {size / RECORDED_SIZE - 1:.0%} larger than recorded in scripts/weight.py")
    print(f"\nThe size is {size / RECORDED_SIZE - 1:+.1%} of the recorded one; up to {LIMIT - 1:+.0%} is accepted.")


if __name__ == "__main__":
    main()
