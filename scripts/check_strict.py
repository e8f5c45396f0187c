#!/usr/bin/env python3
"""Checks that MARTLET_STRICT=1 turns warnings into errors in every manifest and every target, that the environment
sets it, and that an app that adds the package gets neither that setting nor an unsafe flag, which it could not build.

Without this check, a misspelled variable would go unnoticed.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

from swift_source import ROOT, shown

NAME = "MARTLET_STRICT"


def packages():
    """Yields the folders with a manifest. Hidden folders have those of dependencies."""
    for name, folders, files in os.walk(ROOT):
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        if "Package.swift" in files:
            yield pathlib.Path(name)


def settings(folder, value):
    """Yields (target, kinds of its settings) for each target of a package."""
    environment = {name: each for name, each in os.environ.items() if name != NAME} | ({NAME: value} if value else {})
    dump = subprocess.run(
        ["swift", "package", "dump-package"], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE).stdout
    for target in json.loads(dump)["targets"]:
        yield target["name"], {kind for each in target["settings"] for kind in each["kind"]}


def problems(folder):
    """A line for each target with the wrong settings."""
    found = []
    manifest = shown(folder / "Package.swift")
    for name, kinds in settings(folder, "1"):
        if "treatAllWarnings" not in kinds:
            found.append(f"{manifest}: {name} does not treat warnings as errors if {NAME} is 1")
    for name, kinds in settings(folder, None):
        for kind in sorted(kinds & {"treatAllWarnings", "treatWarning", "unsafeFlags"}):
            found.append(f"{manifest}: {name} has {kind}, and an app could not add the package")
    return found


def main():
    if os.environ.get(NAME) != "1":
        sys.exit(f"error: run the checks with {NAME}=1, as `make check` does, or no build fails because of a warning")
    folders = list(packages())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [problem for each in pool.map(problems, folders) for problem in each]
    if found:
        sys.exit("\n".join(["error: the manifests are not strict where they must be, or strict where they must not"] + found))
    print(f"Warnings are errors in the {len(folders)} packages, and only if {NAME} is 1.")


if __name__ == "__main__":
    main()
