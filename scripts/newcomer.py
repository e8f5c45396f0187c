#!/usr/bin/env python3
"""Follows the first steps of README.md in an empty folder, up to the first authenticated call.

Takes the program marked `<!-- newcomer -->` and the manifest before it, replaces the package's URL and the backend's
port, builds in .build with the default traits, runs the program against the reference backend, and compares its output
with the block after it. The program may have ten lines. Build the backend first (`swift build --package-path Tools`).
"""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from check_readme import OPTIONS, README, blocks_of, run
from swift_source import ROOT

MAX_LINES = 10
BACKEND = ROOT / os.environ.get("TOOLS_BUILD", "Tools/.build") / "debug" / "martlet"


def steps():
    """The manifest, the program and its output."""
    lines, blocks = README.read_text().split("\n"), blocks_of(README)
    at = next((at for at, block in enumerate(blocks) if lines[block.line - 3] == "<!-- newcomer -->"), 0)
    if not at or blocks[at - 1].mode != "manifest":
        sys.exit("README.md has no <!-- newcomer --> program after a manifest")
    program = blocks[at]
    rest = lines[program.line + program.code.count("\n") + 1 :]
    output = re.search(r"^```\n(.*?)^```$", "\n".join(rest), re.MULTILINE | re.DOTALL)
    if not output:
        sys.exit("README.md has no block with the output of the newcomer's program")
    return blocks[at - 1].code, program.code, output[1]


def replaced(pattern, replacement, text):
    """The text with the only match of a pattern replaced."""
    text, count = re.subn(pattern, replacement, text)
    if count != 1:
        sys.exit(f"the newcomer's steps must contain {pattern} once")
    return text + "\n"


@contextlib.contextmanager
def backend():
    """Runs the reference backend on a free port. The value is its URL."""
    command = [BACKEND, "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        try:
            urls = (match[1] for line in process.stdout if (match := re.search(r"(http://[\d.]+:\d+)", line)))
            yield next(urls, None) or sys.exit("the reference backend did not start")
        finally:
            process.terminate()


def main():
    manifest, program, output = steps()
    lines = [line for line in program.split("\n") if line.strip() and not line.strip().startswith("//")]
    if len(lines) > MAX_LINES:
        sys.exit(f"the newcomer's program has {len(lines)} lines, and {MAX_LINES} are allowed")
    with tempfile.TemporaryDirectory(prefix="martlet-newcomer-") as name, backend() as url:
        folder = pathlib.Path(name).resolve()
        local = f'.package(name: "martlet", path: "{ROOT}")'
        (folder / "Package.swift").write_text(replaced(r'\.package\([^()]*martlet"[^()]*\)', local, manifest))
        (folder / "Sources").mkdir()
        (folder / "Sources" / "main.swift").write_text(replaced(r"http://127\.0\.0\.1:8080", url, program))
        if not run("swift", "build", *OPTIONS, cwd=folder):
            sys.exit("error: the newcomer's package does not build")
        command = ["swift", "run", "--skip-build", "--quiet", *OPTIONS]
        ran = subprocess.run(command, cwd=folder, timeout=60, stdout=subprocess.PIPE, text=True)
    if ran.returncode or ran.stdout != output:
        sys.exit(f"the newcomer's program printed {ran.stdout!r} instead of {output!r} (exit code {ran.returncode})")
    print(f"From an empty folder to an authenticated call in {len(lines)} lines of Swift.")


if __name__ == "__main__":
    main()
