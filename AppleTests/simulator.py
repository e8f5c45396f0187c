#!/usr/bin/env python3
"""Reads the output of `xcrun simctl list --json` and prints an iPhone simulator for the tests: its identifier and its name.

It takes the newest available runtime of iOS, but none newer than the SDK, whose version is the argument: Xcode does not
run tests in those. Without an argument, every version will do. --check tries the choice on made-up lists.
"""

import json
import re
import sys


def version(text):
    """`26.4.1` as numbers, which sort 26.10 behind 26.9."""
    return [int(number) for number in re.findall(r"\d+", text)]


def choose(listing, newest=None):
    """The (identifier, name) of a simulator; `None` if there is none."""
    runtimes = [each for each in listing["runtimes"] if each.get("platform") == "iOS" and each["isAvailable"]]
    if newest:
        # A runtime may be a bug fix ahead of its SDK: 26.4.1 runs with SDK 26.4.
        runtimes = [each for each in runtimes if version(each["version"])[:2] <= version(newest)[:2]]
    for runtime in sorted(runtimes, key=lambda each: version(each["version"]), reverse=True):
        for device in listing["devices"].get(runtime["identifier"], []):
            if device["isAvailable"] and ".iPhone-" in device.get("deviceTypeIdentifier", ""):
                return device["udid"], f"{device['name']}, iOS {runtime['version']}"
    return None


def check():
    """Tries the choice on lists like those of Xcode 26."""

    def runtime(number, platform="iOS", available=True):
        identifier = f"com.apple.CoreSimulator.SimRuntime.{platform}-{number.replace('.', '-')}"
        return {"identifier": identifier, "platform": platform, "version": number, "isAvailable": available}

    def device(name, udid, available=True):
        identifier = f"com.apple.CoreSimulator.SimDeviceType.{name.replace(' ', '-')}"
        return {"name": name, "udid": udid, "isAvailable": available, "deviceTypeIdentifier": identifier}

    def listing(*entries):
        return {"runtimes": [each for each, _ in entries], "devices": {each["identifier"]: found for each, found in entries}}

    phones = [device("iPad Air 11-inch (M4)", "PAD"), device("iPhone 17", "GONE", False), device("iPhone 17e", "17E")]
    old, newer = (runtime("26.9"), [device("iPhone 16e", "16E")]), (runtime("26.10"), phones)
    gone, watch = (runtime("26.11", available=False), phones), (runtime("27.0", "watchOS"), [device("Apple Watch", "W")])
    empty = (runtime("26.12"), [])
    cases = [
        (listing(old, newer), None, "17E"),
        (listing(newer, old), None, "17E"),
        (listing(newer, old, gone, watch, empty), None, "17E"),
        (listing(newer, old), "26.9", "16E"),
        (listing((runtime("26.4.1"), phones)), "26.4", "17E"),
        (listing(newer), "26.9", None),
        (listing(watch, gone, empty), None, None),
    ]
    for index, (simulators, newest, expected) in enumerate(cases):
        chosen = choose(simulators, newest)
        if (chosen and chosen[0]) != expected:
            sys.exit(f"error: list {index} with SDK {newest} gives {chosen} instead of {expected}")
    print(f"From each of {len(cases)} lists of simulators, the tests for a Mac choose the right one.")


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    elif found := choose(json.load(sys.stdin), *sys.argv[1:]):
        print(*found)
    else:
        sys.exit("There is no iPhone simulator that this Xcode can use: install one in its settings, under Components.")
