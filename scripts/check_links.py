#!/usr/bin/env python3
"""Checks the links of the Markdown files: each file exists, and each heading exists.

Every article and example must be reachable from the READMEs: by a link, or by a `<doc:…>` link on a front page that a
README links to. A README that links to its own sections links to all of them. The front page of each product's catalog
names every top-level public type, so that none appears only in the generated list. A `<doc:…#…>` link names a heading of
an article; `make docs` checks everything else about `<doc:…>` links. Links to the web are not checked.
"""

import re
import sys

from swift_source import ROOT, code_of, declarations, shown, swift_files

LINK = re.compile(r"(!?)\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^()\s<>]+(?:\([^()\s]*\))?)>?\)")
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
OUTSIDE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
SKIPPED = {".build", ".git", ".venv", "docs", "node_modules"}


def prose(path):
    """The lines outside of code blocks, with their numbers."""
    fence = None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = None
        elif fence is None:
            yield number, line


def anchors(path):
    """The level and GitHub's link target of each heading. Repeated headings are numbered."""
    seen = {}
    for _, line in prose(path):
        if match := HEADING.match(line):
            text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", match[2]).replace("`", "").replace("*", "").lower()
            name = "".join(each for each in text if each.isalnum() or each in " -_").replace(" ", "-")
            seen[name] = seen.get(name, -1) + 1
            yield match[1], name + (f"-{seen[name]}" if seen[name] else "")


def links(path):
    """The links to files and headings, with their line numbers."""
    for number, line in prose(path):
        for is_picture, target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if not OUTSIDE.match(target) and not (is_picture and "/" not in target and "." not in target):
                yield number, target


def broken(path):
    for number, target in links(path):
        name, _, heading = target.partition("#")
        goal = (path.parent / name).resolve() if name else path
        if not goal.exists():
            yield f"{shown(path)}:{number}: {target}: there is no such file"
        elif heading and goal.suffix == ".md" and heading not in {name for _, name in anchors(goal)}:
            yield f"{shown(path)}:{number}: {target}: there is no such heading"


def lost_headings():
    """The `<doc:Article#Heading>` links, of articles and of documentation comments, whose heading has been renamed."""
    articles = {path.stem: path for path in ROOT.glob("Sources/*/*.docc/**/*.md")}
    for path in [*articles.values(), *swift_files(ROOT / "Sources")]:
        for number, line in enumerate(path.read_text().split("\n"), 1):
            for name, heading in re.findall(r"<doc:(\w+)#([^>]+)>", line):
                if name in articles and heading.lower() not in {anchor for _, anchor in anchors(articles[name])}:
                    yield f"{shown(path)}:{number}: <doc:{name}#{heading}>: there is no such heading"


def unreachable(readme):
    targets = {target for _, target in links(readme)}
    reached = {(ROOT / target.partition("#")[0]).resolve() for target in targets}
    for page in front_pages():
        if page in reached:
            reached |= {page.parent / f"{name}.md" for name in re.findall(r"<doc:(\w+)>", page.read_text())}
    for article in sorted([*ROOT.glob("Sources/*/*.docc/**/*.md"), *ROOT.glob("Examples/*/README.md")]):
        if article not in reached:
            yield f"{readme.name}: no link leads to {shown(article)}"
    sections = [name for level, name in anchors(readme) if level == "##"]
    missing = [name for name in sections[1:] if f"#{name}" not in targets]
    if any(f"#{name}" in targets for name in sections):
        yield from (f"{readme.name}: the contents lack the section #{name}" for name in missing)


def front_pages():
    """The front page of each library product's catalog."""
    manifest = (ROOT / "Package.swift").read_text()
    for targets in re.findall(r"\.library\(\s*name:.*?targets:\s*\[(.*?)\]", manifest, re.DOTALL):
        yield from (ROOT / f"Sources/{name}/{name}.docc/{name}.md" for name in re.findall(r'"(\w+)"', targets))


def unnamed(page):
    # Types that only Apple platforms have are in single backticks, because DocC has no page for them on Linux.
    named = set(re.findall(r"`(\w+)`", page.read_text()))
    # Files named so declare what a missing trait would add.
    for path in (path for path in swift_files(page.parent.parent) if "+MissingTrait" not in path.name):
        for kind, name, modifiers, _ in declarations(code_of(path.read_text())):
            if {"public", "open"} & set(modifiers) and kind != "func" and name not in named:
                yield f"{shown(page)} does not name {name}"


def main():
    documents = [path for path in sorted(ROOT.rglob("*.md")) if not SKIPPED & set(path.relative_to(ROOT).parts)]
    found = [line for path in documents for line in broken(path)]
    found += lost_headings()
    found += [line for readme in sorted(ROOT.glob("README*.md")) for line in unreachable(readme)]
    found += [line for page in front_pages() for line in unnamed(page)]
    count = sum(1 for path in documents for _ in links(path))
    print("\n".join(found) or f"{count} links are valid, and every article and public type is listed.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
