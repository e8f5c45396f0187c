#!/usr/bin/env python3
"""Checks the links of the Markdown files: every file that one leads to exists, and every heading that one names.

The READMEs at the root must lead to every article, to every example and to every section of their own, so that all of it is
reachable from there. Links to the web are not looked at, and those that only DocC knows (`<doc:…>`, pictures by their
names) are what `make docs` checks. Prints file:line for every link that leads nowhere, and exits with 1 if there is one.
"""

import re
import sys

from swift_source import ROOT

LINK = re.compile(r"(!?)\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^()\s<>]+(?:\([^()\s]*\))?)>?\)")
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
OUTSIDE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
SKIPPED = {".build", ".git", ".venv", "docs", "node_modules"}


def documents():
    """Every Markdown file of the repository."""
    for path in sorted(ROOT.rglob("*.md")):
        if not SKIPPED & set(path.relative_to(ROOT).parts):
            yield path


def prose(path):
    """The lines that are not code, with their numbers."""
    fence = None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = None
        elif fence is None:
            yield number, line


def anchor(heading):
    """What GitHub calls a heading in a link."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").lower()
    return "".join(each for each in text if each.isalnum() or each in " -_").replace(" ", "-")


def anchors(path):
    """The names of all headings of a file; a second one of the same name is numbered."""
    seen = {}
    for _, line in prose(path):
        if match := HEADING.match(line):
            name = anchor(match[2])
            seen[name] = seen.get(name, -1) + 1
            yield match[1], name + (f"-{seen[name]}" if seen[name] else "")


def links(path):
    """Yields (line number, where it leads) for the links that are not for the web or for DocC."""
    for number, line in prose(path):
        for is_picture, target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if OUTSIDE.match(target) or (is_picture and "/" not in target and "." not in target):
                continue
            yield number, target


def problems_of(path):
    """Yields a line for each link that leads nowhere."""
    for number, target in links(path):
        place, _, heading = target.partition("#")
        goal = (path.parent / place).resolve() if place else path
        if not goal.exists():
            why = "there is no such file"
        elif heading and goal.suffix == ".md" and heading not in {name for _, name in anchors(goal)}:
            why = "there is no such heading"
        else:
            continue
        yield f"{path.relative_to(ROOT)}:{number}: {target}: {why}"


def unreachable(readme):
    """Yields a line for each article and each section that a README does not lead to."""
    targets = {target for _, target in links(readme)}
    for article in sorted([*ROOT.glob("Sources/*/*.docc/**/*.md"), *ROOT.glob("Examples/*/README.md")]):
        if article.relative_to(ROOT).as_posix() not in targets:
            yield f"{readme.name}: nothing leads to {article.relative_to(ROOT)}"
    sections = [name for level, name in anchors(readme) if level == "##"]
    for name in sections[1:]:  # the first one is the contents
        if f"#{name}" not in targets:
            yield f"{readme.name}: its contents do not have the section #{name}"


def main():
    found, count = [], 0
    for path in documents():
        count += sum(1 for _ in links(path))
        found += problems_of(path)
    for readme in sorted(ROOT.glob("README*.md")):
        found += unreachable(readme)
    print("\n".join(found) if found else f"{count} links lead somewhere, and every article is reachable.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
