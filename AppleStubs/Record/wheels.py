"""The wheels of requirements.txt: downloaded once, read as archives, never installed."""

import hashlib
import os
import pathlib
import re
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".build" / "apple-record"
REQUIREMENTS = HERE / "requirements.txt"
# Wheels of one platform and one version of Python, so that each hash belongs to one file.
CHOICE = ("--platform", "macosx_10_13_universal2", "--python-version", "3.12", "--only-binary", ":all:", "--no-deps")


def _wanted():
    return set(re.findall(r"--hash=sha256:(\w+)", REQUIREMENTS.read_text()))


def _cached():
    """The wheels in the cache with a hash that requirements.txt names: {hash: path}."""
    files = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in CACHE.glob("*.whl")}
    return {digest: files[digest] for digest in _wanted() & files.keys()}


def wheels():
    """The paths of all wheels, downloaded if the cache lacks one. None if that fails, which CI does not accept."""
    said = ""
    # A Python of a Linux distribution may lack pip; scripts/install-dependencies.sh creates .venv, which has it.
    for python in (sys.executable, ROOT / ".venv" / "bin" / "python3"):
        if _wanted() != _cached().keys() and pathlib.Path(python).exists():
            command = [python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *CHOICE]
            command += ["--require-hashes", "--requirement", REQUIREMENTS, "--dest", CACHE]
            said += subprocess.run(command, capture_output=True, text=True).stderr
    if _wanted() != _cached().keys():
        print(f"{said}PyPI did not deliver the wheels of {REQUIREMENTS.relative_to(ROOT)}. Repeat this with a network, or "
              f"put them into {CACHE.relative_to(ROOT)} by other means.", file=sys.stderr)
        return sys.exit(1) if os.environ.get("CI") else None
    return sorted(_cached().values())


def metadata(paths):
    """Yields the metadata of each framework in the wheels: its name and its text."""
    for path in paths:
        with zipfile.ZipFile(path) as wheel:
            for name in sorted(wheel.namelist()):
                if name.endswith("/_metadata.py"):
                    yield pathlib.PurePath(name).parent.name, wheel.read(name).decode()
