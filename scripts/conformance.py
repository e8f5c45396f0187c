#!/usr/bin/env python3
"""Runs the tests named after conformance cases (`C01: …`) and prints a table of the cases.

A case passes if all of its tests pass, in the library's package and in Tools. Its time is the sum of their times. With
--events, no test runs: the script reads what `swift test --event-stream-output-path FILE` wrote for both packages. A
script that proves a case writes such a file, too. With --titles, no test runs either: the script compares only the
sentences of the table with the titles in the sources, which takes a second.
A document has the table between the marks `<!-- conformance:begin -->` and `<!-- conformance:end -->`.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from swift_source import ROOT, shown, swift_files

CASES = {*range(1, 104)}
TIME_LIMIT = "1800"
PACKAGES = {".": ["--enable-all-traits"], "Tools": ["--package-path", "Tools"]}
# The scripts that prove a case.
SCRIPTS = ["scripts/consume.py"]
# The titles of the tests, as they stand in the sources.
TITLE = re.compile(r'@Test\(\s*"(C\d+(?:, C\d+)*: .*?)(?<!\\)"[,)\n]', re.DOTALL)
NAMED = re.compile(r"^(C\d+(?:, C\d+)*)(_|: *)(.*)", re.DOTALL)
TEST = re.compile(r'@Test\(\s*"C\d+(?:, C\d+)*:.*?\bfunc\s+`?(\w+)|\bfunc\s+`?(C\d+_\w+)', re.DOTALL)
PASSED, FAILED, SKIPPED = "passed", "FAILED", "skipped"
BEGIN, END = "<!-- conformance:begin -->\n", "\n<!-- conformance:end -->"


def run(folder, options):
    """Runs the tests of a package, one after the other, and returns the event stream."""
    tests = swift_files(ROOT / folder / "Tests")
    names = sorted({name or other for path in tests for name, other in TEST.findall(path.read_text())})
    with tempfile.TemporaryDirectory() as temporary:
        stream, log = Path(temporary) / "events", Path(temporary) / "log"
        command = ["timeout", "--signal=INT", "--kill-after=10", TIME_LIMIT] if shutil.which("timeout") else []
        command += ["swift", "test", *options, "--no-parallel", "--filter", r"/(%s)\(" % "|".join(names)]
        print(f"Running {len(names)} tests of {(ROOT / folder).name}.", flush=True)
        with log.open("wb") as output:
            status = subprocess.run(
                [*command, "--event-stream-output-path", stream], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output).returncode
        if status:
            lines = log.read_text(errors="replace").splitlines()
            errors = [line for line in lines if re.search("error:|✘|recorded an issue|fatal|crash", line, re.I)]
            print("\n".join(errors[-40:] or lines[-20:]), file=sys.stderr)
        if not stream.exists():
            sys.exit(f"conformance: the tests of {folder} did not run")
        return read(stream)


def run_script(script):
    """Runs a script that proves a case, and returns its event stream."""
    with tempfile.TemporaryDirectory() as temporary:
        stream = Path(temporary) / "events"
        print(f"Running {script}.", flush=True)
        subprocess.run([ROOT / script, "--event-stream-output-path", stream], stdin=subprocess.DEVNULL)
        if not stream.exists():
            sys.exit(f"conformance: {script} did not run")
        return read(stream)


def read(stream):
    """The events of a test run."""
    return [json.loads(line) for line in stream.read_text().split("\n") if line]


def results(events):
    """Yields (case, sentence, outcome, seconds) for each test of a stream."""
    names, started, ended = {}, {}, {}
    for event in events:
        payload = event["payload"]
        if event["kind"] == "test" and payload["kind"] == "function":
            names[payload["id"]] = payload.get("displayName") or payload["name"]
        elif payload["kind"] == "testStarted":
            started[payload["testID"]] = payload["instant"]["absolute"]
        elif payload["kind"] in ("testEnded", "testSkipped"):
            symbols = {message["symbol"] for message in payload["messages"]}
            has_passed = symbols & {"pass", "passWithKnownIssue", "passWithWarnings"}
            outcome = PASSED if has_passed else SKIPPED if payload["kind"] == "testSkipped" else FAILED
            ended[payload["testID"]] = (outcome, payload["instant"]["absolute"])
    for identifier, name in names.items():
        if not (match := NAMED.match(name)):
            continue
        # A test that started but did not end has crashed the process.
        outcome, end = ended.get(identifier, (FAILED, 0))
        sentence = match[3].removesuffix("()").replace("_", " ") if match[2] == "_" else match[3]
        for case in match[1].split(", "):
            yield case, " ".join(sentence.split()), outcome, max(end - started.get(identifier, end), 0)


def rows_of(runs):
    """Yields (case, outcome, seconds, sentences), sorted. Tests come in no particular order."""
    cases = {}
    for events in runs:
        for case, *result in results(events):
            cases.setdefault(case, []).append(result)
    for case, tests in sorted(cases.items(), key=lambda item: int(item[0][1:])):
        outcomes = {outcome for _, outcome, _ in tests}
        outcome = FAILED if FAILED in outcomes else PASSED if PASSED in outcomes else SKIPPED
        yield case, outcome, sum(seconds for *_, seconds in tests), sorted({test[0] for test in tests})


def summary(rows):
    counts = {outcome: sum(row[1] == outcome for row in rows) for outcome in (PASSED, FAILED, SKIPPED)}
    counted = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    missing = missing_cases(rows)
    tail = f" No test yet for {', '.join(missing)}." if missing else ""
    return f"{len(rows)} of {len(CASES)} cases have tests: {counted or 'none'}.{tail}"


def missing_cases(rows):
    """The cases without a test."""
    return [name for number in sorted(CASES) if (name := f"C{number:02}") not in {row[0] for row in rows}]


def markdown(rows):
    """The table for documents, without times, because those differ from run to run."""
    lines = [summary(rows), "", "| id | result | case |", "|---|---|---|"]
    for case, outcome, _, sentences in rows:
        lines.append(f"| {case} | {outcome} | " + "; ".join(sentences).replace("|", "\\|") + " |")
    return "\n".join(lines)


def documents(rows):
    """Yields each document that has the marks, with its text and the text it should have."""
    for path in sorted([*ROOT.glob("README*.md"), *ROOT.glob("Sources/*/*.docc/**/*.md")]):
        text = path.read_text()
        if BEGIN in text and END in text:
            yield path, text, text.split(BEGIN)[0] + BEGIN + markdown(rows) + END + text.split(END, 1)[1]


def titles_of_cases():
    """The sentences of each case, as the table joins them, from the titles in the sources."""
    cases = {}
    for folder in PACKAGES:
        for path in swift_files(ROOT / folder / "Tests"):
            for title in TITLE.findall(path.read_text()):
                match = NAMED.match(title.replace('\\"', '"'))
                for case in match[1].split(", "):
                    cases.setdefault(case, set()).add(" ".join(match[3].split()))
    return {case: "; ".join(sorted(titles)).replace("|", "\\|") for case, titles in cases.items()}


def with_titles(table):
    """The table with the sentences of the sources. The results stay, and so does a case that no test of Swift proves."""
    for case, text in titles_of_cases().items():
        row = re.compile(rf"^(\| {case} \| \w+ \| ).* \|$", re.MULTILINE)
        table = row.sub(lambda found: f"{found[1]}{text} |", table)
    return table


def bring_up_to_date(found, update, check):
    """Writes the new texts of the documents or, for a check, fails if a document has another one."""
    stale = [shown(path) for path, text, updated in found if text != updated]
    if update:
        for path, _, updated in found:
            path.write_text(updated)
    elif check and (stale or not found):
        names = " and ".join(stale) or "no document with the marks"
        sys.exit(f"conformance: the table is not up to date in {names}: run scripts/conformance.py --update")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the table to this file")
    parser.add_argument("--update", action="store_true", help="write the table into the documents")
    parser.add_argument("--check", action="store_true", help="fail if a document has another table")
    parser.add_argument("--events", metavar="FILE", type=Path, nargs="+", help="read event streams, and run no test")
    parser.add_argument("--titles", action="store_true", help="look only at the titles of the tests, and run none")
    options = parser.parse_args()
    if options.titles:
        bring_up_to_date(
            [(path, text, with_titles(text)) for path, text, _ in documents([])], options.update, check=True)
        print(f"The conformance table has the titles of the tests of {len(titles_of_cases())} cases.")
        return 0
    if options.events:
        rows = list(rows_of(map(read, options.events)))
    else:
        rows = list(rows_of([*(run(*package) for package in PACKAGES.items()), *map(run_script, SCRIPTS)]))
        for case, outcome, seconds, sentences in rows:
            print(f"{case:<5}{outcome:<8}{seconds * 1000:7.0f} ms  " + ("\n" + " " * 25).join(sentences))
    print(summary(rows))
    if options.markdown:
        options.markdown.write_text(markdown(rows) + "\n")
    bring_up_to_date(list(documents(rows)), options.update, options.check)
    return 1 if missing_cases(rows) or any(row[1] == FAILED for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
