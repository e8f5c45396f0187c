#!/usr/bin/env python3
"""Runs a command and ends it, with everything that it has started, when it takes too long.

usage: within.py SECONDS COMMAND…     exits as the command does, or with 124 where it was ended
"""

import os
import signal
import subprocess
import sys


def descendants(ancestor):
    """The ids of all processes that come from one; none where the system cannot list them."""
    try:
        command = ["ps", "-A", "-o", "pid=,ppid="]
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    children = {}
    for line in listing.splitlines():
        pid, parent = map(int, line.split())
        children.setdefault(parent, []).append(pid)
    found = [ancestor]
    for each in found:
        found += children.get(each, [])
    return found[1:]


def run(seconds, command, **options):
    """Runs the command and returns its exit code, or 124 where it was ended."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        print(f"error: ended after {seconds:.0f} s without a result: {' '.join(command)}", file=sys.stderr)
        return 124
    finally:
        if process.poll() is None:
            # A test that hangs is a grandchild, in a process group of its own.
            for pid in descendants(process.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


if __name__ == "__main__":
    status = run(float(sys.argv[1]), sys.argv[2:])
    sys.exit(status if status >= 0 else 128 - status)
