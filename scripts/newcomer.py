#!/usr/bin/env python3
"""Walks the newcomer's path as README.md describes it, from an empty folder to the first authenticated call.

Takes the manifest and the program marked `<!-- newcomer -->` out of README.md as they stand there, makes a package
of them in a temporary folder outside the repository, builds it with the default traits, starts the reference backend on a
free port, runs the program against it, and compares what it prints with the block that follows it in README.md. The
program may have ten lines.

Only two things are put in: where the clone is, and the port. What other packages have built in .build is used, so that a
newcomer's minutes are not spent on each run.
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from check_readme import OPTIONS, ROOT, blocks_of

MOST_LINES = 10
BUILD_LIMIT, RUN_LIMIT = 1200, 60
BACKEND = ROOT / os.environ.get("TOOLS_BUILD", "Tools/.build") / "debug" / "martlet"
SERVED = "http://127.0.0.1:8080"


def path_in(readme):
    """The manifest, the program and what it prints."""
    lines = readme.read_text().split("\n")
    blocks = blocks_of(readme)
    marked = (at for at, block in enumerate(blocks) if lines[block.line - 3] == "<!-- newcomer -->")
    at = next(marked, None)
    if not at or blocks[at - 1].mode != "manifest":
        sys.exit(f"{readme.name} has no manifest with a newcomer's program after it")
    program = blocks[at]
    rest = lines[program.line + program.code.count("\n") + 1 :]
    printed = re.search(r"^```\n(.*?)^```$", "\n".join(rest), re.MULTILINE | re.DOTALL)
    if not printed:
        sys.exit(f"{readme.name} does not say what the newcomer's program prints")
    return blocks[at - 1].code, program.code, printed[1]


def replaced(text, what, by):
    """The text with one thing in it replaced, which must be there."""
    if text.count(what) != 1:
        sys.exit(f"the newcomer's path should have {what} in it, once")
    return text.replace(what, by)


@contextlib.contextmanager
def backend():
    """The reference backend on a free port: its URL."""
    if not BACKEND.exists():
        sys.exit("build the backend first: swift build --package-path Tools --product martlet")
    process = subprocess.Popen(
        [BACKEND, "serve", "--port", "0"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    late = threading.Timer(RUN_LIMIT, process.kill)
    late.start()
    try:
        said = (re.search(r"listens at (http://[\d.]+:\d+)", line) for line in process.stdout)
        url = next(filter(None, said), None)
        late.cancel()
        if not url:
            sys.exit("the reference backend did not start")
        yield url[1]
    finally:
        late.cancel()
        process.terminate()
        process.wait()


def check(manifest, program, printed, folder, url):
    """Builds the package and runs it."""
    (folder / "Package.swift").write_text(replaced(manifest, '"../martlet"', f'"{ROOT}"') + "\n")
    (folder / "Sources").mkdir()
    (folder / "Sources" / "main.swift").write_text(replaced(program, SERVED, url) + "\n")
    build = ["swift", "build", *OPTIONS]
    built = subprocess.run(
        build, cwd=folder, timeout=BUILD_LIMIT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if built.returncode:
        sys.exit(f"{built.stdout}\nerror: the newcomer's package does not build")
    command = ["swift", "run", "--skip-build", "--quiet", *OPTIONS]
    ran = subprocess.run(command, cwd=folder, timeout=RUN_LIMIT, stdout=subprocess.PIPE, text=True)
    if ran.returncode or ran.stdout != printed:
        sys.exit(f"the newcomer's program printed {ran.stdout!r} and not {printed!r} (exit code {ran.returncode})")


def main():
    manifest, program, printed = path_in(ROOT / "README.md")
    lines = [line for line in program.split("\n") if line.strip() and not line.strip().startswith("//")]
    if len(lines) > MOST_LINES:
        sys.exit(f"the newcomer's program has {len(lines)} lines, and {MOST_LINES} are allowed")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="martlet-newcomer-"))
    try:
        with backend() as url:
            check(manifest, program, printed, folder, url)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"From an empty folder to an authenticated call in {len(lines)} lines of Swift.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
