#!/usr/bin/env python3
"""Runs the tests that carry a conformance case in their names (`C01: …`), and prints a table of the cases.

usage: conformance.py [--markdown FILE] [--readme] [--check] [--skip-build] [--events FILE...]

A case passes if all of its tests do, in the library's package and in Tools; its time is the sum of theirs, one test
after the other. Exits with 1 if a case failed. Cases that no test carries yet are listed by id.

With `--events` no test is run: it reads what `swift test --event-stream-output-path FILE` has written, of both packages,
and prints no times, as those tests have run side by side.

The table in the READMEs, between its two marks, is what `--readme` has written there; `--check` fails where it is not
what the run says.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path

from within import run as run_within

ROOT = Path(__file__).resolve().parent.parent
LAST_CASE = 65
# Building from nothing included; a test that hangs ends there.
TIME_LIMIT = 1800
PACKAGES = {
    "the library": (ROOT, ["--enable-all-traits"]),
    "Tools": (ROOT / "Tools", ["--package-path", "Tools"]),
}
# One test may be about several cases: "C19, C63: …".
NAMED = re.compile(r"^(C\d\d(?:, C\d\d)*)(?:_|: *)(.*)", re.DOTALL)
TEST = re.compile(r'@Test\(\s*"C\d\d(?:, C\d\d)*:.*?\bfunc\s+`?(\w+)', re.DOTALL)
FUNCTION = re.compile(r"\bfunc\s+`?(C\d\d_\w+)")
PASSED, FAILED, SKIPPED = "passed", "FAILED", "skipped"


def functions(folder):
    """The names of the test functions that carry a case."""
    names = set()
    for path in sorted((folder / "Tests").rglob("*.swift")):
        text = path.read_text()
        names.update(TEST.findall(text), FUNCTION.findall(text))
    return sorted(names)


def run(title, folder, options, skip_build):
    """Runs the tests of one package and returns its event stream."""
    names = functions(folder)
    if not names:
        return []
    with tempfile.TemporaryDirectory() as temporary:
        stream = Path(temporary) / "events"
        log = Path(temporary) / "log"
        command = ["swift", "test", *options, "--no-parallel", "--filter", r"/(%s)\(" % "|".join(names)]
        command += ["--event-stream-output-path", str(stream)] + (["--skip-build"] if skip_build else [])
        print(f"Running {len(names)} tests of {title}.", flush=True)
        with log.open("wb") as output:
            status = run_within(TIME_LIMIT, command, cwd=ROOT, stdout=output, stderr=output)
        events = read(stream) if stream.exists() else []
        if status != 0:
            interesting = re.compile(r"error:|✘|recorded an issue|Fatal|crash", re.IGNORECASE)
            lines = log.read_text(errors="replace").splitlines()
            print("\n".join([line for line in lines if interesting.search(line)][-40:] or lines[-20:]), file=sys.stderr)
            if not events:
                sys.exit(f"conformance: the tests of {title} did not run")
        return events


def read(stream):
    """What a test run has written."""
    return [json.loads(line) for line in stream.read_text().splitlines()]


def results(events):
    """Yields (case, sentence, outcome, seconds) for every test of a stream."""
    names, started, ended = {}, {}, {}
    for event in events:
        payload = event["payload"]
        if event["kind"] == "test" and payload["kind"] == "function":
            names[payload["id"]] = payload.get("displayName") or payload["name"]
        elif payload["kind"] == "testStarted":
            started[payload["testID"]] = payload["instant"]["absolute"]
        elif payload["kind"] in ("testEnded", "testSkipped"):
            symbols = {message["symbol"] for message in payload["messages"]}
            outcome = SKIPPED if payload["kind"] == "testSkipped" else FAILED
            if symbols & {"pass", "passWithKnownIssue", "passWithWarnings"}:
                outcome = PASSED
            ended[payload["testID"]] = (outcome, payload["instant"]["absolute"])
    for identifier, name in names.items():
        match = NAMED.match(name)
        if not match:
            continue
        # A test that began and never ended took the process with it.
        outcome, end = ended.get(identifier, (FAILED, None))
        begin = started.get(identifier)
        seconds = end - begin if begin is not None and end is not None else 0
        sentence = match[2].removesuffix("()").replace("_", " ") if "_" in name[:4] else match[2]
        for case in match[1].split(", "):
            yield case, sentence, outcome, seconds


def table(cases):
    """The rows: id, outcome, time, sentences."""
    for case, tests in sorted(cases.items()):
        outcomes = {outcome for _, outcome, _ in tests}
        outcome = FAILED if FAILED in outcomes else PASSED if PASSED in outcomes else SKIPPED
        yield case, outcome, sum(seconds for _, _, seconds in tests), list(dict.fromkeys(test[0] for test in tests))


def summary(rows, missing):
    counts = {outcome: sum(row[1] == outcome for row in rows) for outcome in (PASSED, FAILED, SKIPPED)}
    counted = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    return f"{len(rows)} of {LAST_CASE} cases built: {counted or 'none'}; {len(missing)} not yet built."


def console(rows, missing):
    is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    colours = {PASSED: "32", FAILED: "1;31", SKIPPED: "33"}
    yield ""
    for case, outcome, seconds, sentences in rows:
        shown = f"\033[{colours[outcome]}m{outcome:<8}\033[0m" if is_coloured else f"{outcome:<8}"
        yield f"{case}  {shown} {seconds * 1000:7.0f} ms  {sentences[0]}"
        yield from (" " * 25 + sentence for sentence in sentences[1:])
    yield ""
    if missing:
        yield "not yet built: " + " ".join(missing)


def markdown(rows, missing):
    yield "| id | result | time | sentence |"
    yield "|---|---|---:|---|"
    for case, outcome, seconds, sentences in rows:
        text = "; ".join(sentences).replace("|", "\\|").replace("\n", " ")
        yield f"| {case} | {outcome} | {seconds * 1000:.0f} ms | {text} |"
    yield ""
    if missing:
        yield "Not yet built: " + ", ".join(missing) + "."
        yield ""
    yield summary(rows, missing)


def readme_table(rows, missing):
    """The table without times, which differ from run to run."""
    lines = [f"<details><summary>{summary(rows, missing)}</summary>", "", "| id | result | case |", "|---|---|---|"]
    for case, outcome, _, sentences in rows:
        # Tests come in no particular order, and the table must not change with it.
        text = "; ".join(sorted(sentences)).replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {case} | {outcome} | {text} |")
    lines.append("")
    if missing:
        lines += ["Not yet built: " + ", ".join(missing) + ".", ""]
    return "\n".join([*lines, "</details>"])


def readmes(rows, missing):
    """Each README that has the marks, as it is and as it should be."""
    begin, end = "<!-- conformance:begin -->\n", "\n<!-- conformance:end -->"
    for path in sorted(ROOT.glob("README*.md")):
        text = path.read_text()
        if begin in text and end in text:
            head, rest = text.split(begin, 1)
            yield path, text, head + begin + readme_table(rows, missing) + end + rest.split(end, 1)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the table there too")
    parser.add_argument("--readme", action="store_true", help="put the table into the READMEs")
    parser.add_argument("--check", action="store_true", help="fail where the READMEs have another table")
    parser.add_argument("--skip-build", action="store_true", help="run the tests as they were built last")
    parser.add_argument("--events", metavar="FILE", type=Path, nargs="+", help="read these runs' event streams, and run nothing")
    options = parser.parse_args()

    if options.events:
        runs = [read(stream) for stream in options.events]
    else:
        runs = [run(title, *package, options.skip_build) for title, package in PACKAGES.items()]
    cases = {}
    for events in runs:
        for case, *result in results(events):
            cases.setdefault(case, []).append(result)
    rows = list(table(cases))
    missing = [case for case in (f"C{number:02}" for number in range(1, LAST_CASE + 1)) if case not in cases]
    if not options.events:
        print("\n".join(console(rows, missing)))
    print(summary(rows, missing))
    if options.markdown:
        options.markdown.write_text("\n".join(markdown(rows, missing)) + "\n")
    stale = []
    for path, text, updated in readmes(rows, missing):
        if options.readme:
            path.write_text(updated)
        elif options.check and text != updated:
            stale.append(path.name)
    if stale:
        print(f"conformance: {' and '.join(stale)} say otherwise; run scripts/conformance.py --readme", file=sys.stderr)
        return 1
    return 1 if any(row[1] == FAILED for row in rows) or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
