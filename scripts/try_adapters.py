#!/usr/bin/env python3
"""Compiles the adapters of the documentation against the libraries themselves, and runs their tests.

usage: try_adapters.py [MODULE=FOLDER…]

An adapter is a block that is a file of its own (`compile: file`) and imports a module of LIBRARIES. It is compiled with
that library from GitHub, or from FOLDER. Its hidden tests run, and those in Examples/Adapters/MODULE.swift, which are
compiled together with the block. Libraries that do not build on Linux are left out there, unless a folder is given. The
condition REAL_LIBRARIES is set.
"""

import pathlib
import re
import shutil
import sys

from check_readme import IS_APPLE, OPTIONS, ROOT, TOOLS_VERSION, all_blocks, chains, run, source

# The product of each module, its repository and version, and whether it builds on Linux.
LIBRARIES = {
    "Alamofire": ("Alamofire", "https://github.com/Alamofire/Alamofire", "5.12.0", True),
    "Apollo": ("Apollo", "https://github.com/apollographql/apollo-ios", "2.4.0", False),
    "Connect": ("Connect", "https://github.com/connectrpc/connect-swift", "1.2.3", False),
    "OpenAPIRuntime": ("OpenAPIRuntime", "https://github.com/apple/swift-openapi-runtime", "1.11.0", True),
    # A client that OpenAPI Generator has written. It has no repository; KeepingTheClientYouHave.md has the commands.
    "PetstoreClient": ("PetstoreClient", None, None, False),
    "RxSwift": ("RxSwift", "https://github.com/ReactiveX/RxSwift", "6.10.2", True),
}
EXAMPLES = ROOT / "Examples" / "Adapters"


def dependency(module, folders):
    """The module's package and its name in the manifest; `None` if the module is left out."""
    _, url, version, is_portable = LIBRARIES[module]
    if folder := folders.get(module):
        return f'.package(name: "{module}", path: "{pathlib.Path(folder).resolve()}")', module
    if url is None or not (IS_APPLE or is_portable):
        return None
    return f'.package(url: "{url}", exact: "{version}")', url.rsplit("/", 1)[1]


def write_package(folder, folders):
    """Writes a package with a test target for each adapter. Returns the modules whose adapters it has."""
    packages = {f'.package(name: "martlet", path: "{ROOT}", traits: ["URLSession"])'}
    targets, modules = [], []
    for chain in chains([block for block in all_blocks() if block.mode == "file"]):
        module = next((name for _, _, line in chain[0].lines() for name in re.findall(r"^import (\w+)$", line)
                       if name in LIBRARIES), None)
        found = module and dependency(module, folders)
        if not found:
            continue
        package, identity = found
        packages.add(package)
        modules.append(module)
        place = folder / "Tests" / chain[0].name
        place.mkdir(parents=True)
        (place / "Adapter.swift").write_text(source(chain))
        if (EXAMPLES / f"{module}.swift").exists():
            shutil.copy(EXAMPLES / f"{module}.swift", place / "AdapterTests.swift")
        products = [("Martlet", "martlet"), ("MartletTesting", "martlet"), (LIBRARIES[module][0], identity)]
        names = ", ".join(f'.product(name: "{name}", package: "{owner}")' for name, owner in products)
        targets.append(
            f'.testTarget(name: "{chain[0].name}", dependencies: [{names}], path: "Tests/{chain[0].name}", '
            'swiftSettings: [.define("REAL_LIBRARIES")])')
    (folder / "Package.swift").write_text(
        f'{TOOLS_VERSION}let package = Package(name: "adapters", platforms: [.macOS(.v14)], '
        f'dependencies: [{", ".join(sorted(packages))}], targets: [{", ".join(targets)}])\n')
    return sorted({*modules})


def main():
    folders = dict(argument.split("=", 1) for argument in sys.argv[1:])
    if unknown := {*folders} - {*LIBRARIES}:
        sys.exit(f"error: no adapter imports {', '.join(sorted(unknown))}")
    folder = ROOT / ".build" / "adapters"
    shutil.rmtree(folder / "Tests", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    modules = write_package(folder, folders)
    options = [option for option in OPTIONS if option not in ("--scratch-path", f"{ROOT}/.build")]
    if not run("swift", "test", *options, cwd=folder):
        sys.exit("error: an adapter does not compile, or its tests fail")
    left = sorted({*LIBRARIES} - {*modules})
    print(f"The adapters of {', '.join(modules)} work" + (f"; left out: {', '.join(left)}." if left else "."))


if __name__ == "__main__":
    main()
