#!/usr/bin/env python3
"""Compares MartletOAuth's verdicts about signatures with those of joserfc and of jwt-kit.

    MARTLET_OAUTH_VERDICTS=/tmp/verdicts swift test --enable-all-traits --filter DamagedTokenTests
    martlet oauth-verdicts /tmp/verdicts.* > /tmp/jwt-kit
    Tools/Interop/oauth_verdicts.py --jwt-kit /tmp/jwt-kit /tmp/verdicts.*

Each line of the files has a token, a key set and the verdict. jwt-kit's file has a line for each of them, in the same
order. Where MartletOAuth accepts a signature or finds it wrong, the others must say the same. Where MartletOAuth refuses
a token before it looks at the signature, they may accept it: those are listed by the rule that refuses them. Exit status
1: they disagree.
"""

import argparse
import collections
import json
import pathlib
import sys

from joserfc import jws
from joserfc.jwk import KeySet

ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"]
# The rules by which MartletOAuth refuses what a general library for JWS may accept.
STRICTER = {
    "format": "one spelling in Base64, sizes, a header and claims in strict JSON",
    "duplicateMember": "no two members with the same name (RFC 8725, section 2.6)",
    "critical": "no critical extension",
    "algorithm": "five algorithms, spelled exactly",
    "key": "a key whose kid, use, alg, key_ops and crv suit",
    "severalKeys": "no guess among several keys",
    "weakKey": "RSA keys of at least 2048 bits",
}


def joserfc_accepts(token, keys):
    """Whether joserfc finds a key of the set that verifies the token."""
    try:
        jws.deserialize_compact(token, KeySet.import_key_set(json.loads(keys)), algorithms=ALGORITHMS)
        return True
    except Exception:  # It has many kinds of errors, also those of Python's codecs.
        return False


def read(paths):
    """The entries of the files, each with its place."""
    for path in paths:
        for number, line in enumerate(path.read_text().split("\n"), 1):
            yield f"{path}:{number}", json.loads(line)


def compare(name, entries, verdicts):
    """Prints how the verdicts of another library differ. Returns whether there are verdicts, and all are explained."""
    counts, stricter, differences = collections.Counter(), collections.Counter(), []
    for (place, entry), accepts in zip(entries, verdicts, strict=True):
        verdict = entry["verdict"]
        counts[verdict] += 1
        if verdict in STRICTER:
            stricter[verdict] += accepts
        elif accepts != (verdict == "good"):
            differences.append(f"{place}: {verdict}, and {name} {'accepts' if accepts else 'refuses'} the token")
    for verdict, count in counts.most_common():
        more = f"; {name} accepts {stricter[verdict]}: {STRICTER[verdict]}" if verdict in STRICTER else ""
        print(f"{count:6} {verdict}{more}")
    print(*differences[:20], sep="\n", end="\n" if differences else "")
    print(f"{sum(counts.values())} verdicts, {len(differences)} disagreements with {name} about a signature.")
    return bool(counts) and not differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jwt-kit", type=pathlib.Path, required=True, help="the output of `martlet oauth-verdicts`")
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    entries = list(read(options.files))
    jwt_kit = [line == "accepts" for line in options.jwt_kit.read_text().splitlines()]
    agrees = compare("joserfc", entries, (joserfc_accepts(entry["token"], entry["keys"]) for _, entry in entries))
    agrees = compare("jwt-kit", entries, jwt_kit) and agrees
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
