#!/usr/bin/env python3
"""Says what the compiler has warned about in this repository's own files, and exits with 1 if there is anything.

usage: compiler-warnings.py BUILD-FOLDER...

It reads the diagnostics files (.dia) that the compiler leaves beside its object files, not a build's output: a file that
did not have to be compiled again is judged all the same, and the dependencies, whose files lie in a build folder, are not.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATH = re.compile(rb"(/[ -~]*?\.swift)")
TEXT = re.compile(rb"[ -~]{12,}")


def warned(build_folder):
    """Yields (source file, messages) for every file of ours with a diagnostic."""
    for record in Path(build_folder).rglob("*.dia"):
        content = record.read_bytes()
        for source in dict.fromkeys(PATH.findall(content)):
            path = Path(source.decode())
            is_ours = path.is_relative_to(ROOT) and ".build" not in path.relative_to(ROOT).parts
            # A file that was deleted, moved or changed since leaves its old record behind.
            if is_ours and path.exists() and path.stat().st_mtime <= record.stat().st_mtime:
                texts = (text.decode() for text in TEXT.findall(content))
                yield path.relative_to(ROOT), [text for text in texts if ".swift" not in text and "https://" not in text]


def main(folders):
    found = {}
    for folder in folders:
        if not Path(folder).is_dir():
            sys.exit(f"compiler-warnings: there is no build folder {folder}")
        for path, messages in warned(folder):
            found.setdefault(path, dict.fromkeys(messages)).update(dict.fromkeys(messages))
    for path, messages in sorted(found.items()):
        print(f"{path}: the compiler has something to say:")
        for message in messages:
            print(f"    {message}")
    if found:
        return 1
    print("The compiler has nothing to say about our own files.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
