#!/usr/bin/env python3
"""Builds one documentation site for all products with the toolchain's DocC, without a plug-in and without a network.

    scripts/docs.py build           builds the site in docs/, for the path HOSTING_BASE_PATH (default: martlet)
    scripts/docs.py serve [PORT]    serves docs/ on 127.0.0.1 until Ctrl-C; port 0 picks a free one

A build fails on a warning of DocC, on a public symbol without a documentation comment, and on a page that names a file
that the site does not have.
"""

import contextlib
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from swift_source import ROOT, shown

SITE = ROOT / "docs"
MODULES = sorted(path.stem for path in ROOT.glob("Sources/*/*.docc"))
# DocC's own navigation does not lead from one module to another. Its pages show this template at the top.
HEADER = """<template id="custom-header"><style>
nav { display: flex; flex-wrap: wrap; gap: 1.5em; padding: 0.7em 1.3em; font: 14px sans-serif }
a { color: var(--color-link); text-decoration: none }
</style><nav>%s</nav></template>"""
# Everything in the site's HTML and CSS that names a file.
NAMED = re.compile(r'(?:\b(?:src|href)="|\burl\()([^")]+)')


def run(*command):
    if subprocess.run(command, cwd=ROOT).returncode:
        sys.exit(f"error: {command[0]} {command[1]} failed")


def docc():
    if sys.platform == "darwin":
        return subprocess.check_output(["xcrun", "--find", "docc"], text=True).strip()
    return pathlib.Path(shutil.which("swift")).resolve().parent / "docc"


def extract_symbols(folder):
    """Writes the symbol graph of each module into a folder. All traits are on, so that each transport has its page."""
    build = ["swift", "build", "--enable-all-traits", *os.environ.get("BUILD_OPTIONS", "").split()]
    run(*build)
    products = pathlib.Path(subprocess.check_output([*build, "--show-bin-path"], cwd=ROOT, text=True).strip())
    target = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))["target"]["triple"]
    command = ["swift", "symbolgraph-extract", "-target", target, "-minimum-access-level", "public"]
    # What a module adds to the types of another one has pages, too.
    command += ["-emit-extension-block-symbols"]
    command += ["-I", products / "Modules"]
    if sys.platform == "darwin":
        command += ["-sdk", subprocess.check_output(["xcrun", "--show-sdk-path"], text=True).strip()]
    for pattern in ("*.build/module.modulemap", "../../checkouts/*/Sources/**/include/module.modulemap"):
        for path in sorted(products.glob(pattern)):
            command += ["-Xcc", f"-fmodule-map-file={path}"]
    for module in MODULES:
        (folder / module).mkdir(parents=True)
        # Martlet exports MartletStorage again, and its pages describe both.
        reexports = ["-experimental-allowed-reexported-modules=MartletStorage"] if module == "Martlet" else []
        run(*command, *reexports, "-module-name", module, "-output-dir", folder / module)


def undocumented(folder):
    """Yields a line for each public symbol without a documentation comment."""
    for graph in sorted(folder.glob("*/*.symbols.json")):
        for symbol in json.loads(graph.read_text())["symbols"]:
            # An extension has no comment of its own.
            if symbol["kind"]["identifier"] == "swift.extension":
                continue
            if "docComment" not in symbol and "::SYNTHESIZED::" not in symbol["identifier"]["precise"]:
                place = symbol.get("location", {})
                path = place.get("uri", graph.name).removeprefix(f"file://{ROOT}/")
                line = place.get("position", {}).get("line", 0) + 1
                yield f"{path}:{line}: {'.'.join(symbol['pathComponents'])} has no documentation comment"


def convert(symbols, archives, base, dependencies):
    """Makes an archive for each module. Links lead to the modules whose archives are in `dependencies`."""
    for module in MODULES:
        command = [docc(), "convert", f"Sources/{module}/{module}.docc", "--fallback-display-name", module]
        command += ["--fallback-bundle-identifier", f"martlet.{module}", "--hosting-base-path", base]
        command += ["--additional-symbol-graph-dir", symbols / module, "--enable-experimental-external-link-support"]
        command += ["--output-path", archives / f"{module}.doccarchive"]
        if dependencies:
            others = [name for name in MODULES if name != module]
            command += [word for name in others for word in ("--dependency", dependencies / f"{name}.doccarchive")]
            run(*command, "--warnings-as-errors")
        else:
            # A first pass for the names to link to. Links to other modules have no target yet.
            subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def missing(base):
    """Yields a line for each file that a page names and that does not exist."""

    def lost(page, name):
        if not (SITE / name.lstrip("/") if name.startswith("/") else page.parent / name).exists():
            yield f"{shown(page)} names {name}, which does not exist"

    for page in sorted(SITE.rglob("*.json")):
        content = json.loads(page.read_text())
        references = content.get("references", {}).values() if isinstance(content, dict) else ()
        for reference in references:
            urls = [reference.get("url", ""), *(variant["url"] for variant in reference.get("variants", ()))]
            for url in (url.partition("#")[0] for url in urls if url.startswith("/")):
                if url.startswith("/documentation"):
                    yield from lost(page, f"/data{url}.json")
                    yield from lost(page, f"{url}/index.html")
                else:
                    yield from lost(page, url)
    for page in sorted([*SITE.rglob("*.html"), *SITE.rglob("*.css")]):
        for name in NAMED.findall(page.read_text()):
            if not re.match(r"[a-z]+:|//|#", name):
                yield from lost(page, name.partition("?")[0].partition("#")[0].removeprefix(f"/{base}"))


def build():
    base = os.environ.get("HOSTING_BASE_PATH", "martlet").strip("/")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        symbols, first, second = (folder / each for each in ("symbols", "first", "second"))
        first.mkdir()
        second.mkdir()
        extract_symbols(symbols)
        if found := list(undocumented(symbols)):
            sys.exit("\n".join(f"error: {line}" for line in found))
        convert(symbols, first, base, None)
        convert(symbols, second, base, first)
        shutil.rmtree(SITE, ignore_errors=True)
        archives = [second / f"{module}.doccarchive" for module in MODULES]
        page = ["--synthesized-landing-page-name", "Martlet", "--synthesized-landing-page-topics-style", "list"]
        run(docc(), "merge", *archives, *page, "--output-path", SITE)
    links = "".join(f'<a href="/{base}/documentation/{module.lower()}/">{module}</a>' for module in MODULES)
    for page in SITE.rglob("*.html"):
        page.write_text(re.sub("<body[^>]*>", lambda match: match[0] + HEADER % links, page.read_text(), count=1))
    # The root of the site has no page of its own.
    (SITE / "index.html").write_text('<!doctype html><meta http-equiv="refresh" content="0; url=documentation/">\n')
    if found := list(dict.fromkeys(missing(base))):
        sys.exit("\n".join(f"error: {line}" for line in found))
    pages = sum(1 for _ in SITE.glob("data/documentation/**/*.json"))
    print(f"docs/ has {pages} pages for {', '.join(MODULES)}, for the path /{base}. `make docs-preview` shows them.")


def serve(port):
    base = re.search(r'baseUrl = "/(.*?)/?"', (SITE / "documentation" / "index.html").read_text())[1]

    class Handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path):
            is_below = path == f"/{base}" or path.startswith(f"/{base}/")
            return super().translate_path(path[len(base) + 1 :] if is_below else "/not-there")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=SITE)) as server:
        print(f"Serving docs/ at http://127.0.0.1:{server.server_address[1]}/{base}/ until Ctrl-C.", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1:] == ["build"]:
        build()
    elif sys.argv[1:2] == ["serve"]:
        serve(int(sys.argv[2]) if len(sys.argv) > 2 else 8000)
    else:
        sys.exit(__doc__)
