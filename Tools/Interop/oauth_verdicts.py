#!/usr/bin/env python3
"""Compares MartletOAuth's verdicts about signatures with those of joserfc.

    MARTLET_OAUTH_VERDICTS=/tmp/verdicts swift test --enable-all-traits --filter DamagedTokenTests
    Tools/Interop/oauth_verdicts.py /tmp/verdicts.*

Each line of the files has a token, a key set and the verdict. Where MartletOAuth accepts a signature or finds it wrong,
joserfc must say the same. Where MartletOAuth refuses a token before it looks at the signature, joserfc may accept it: those
are listed by the rule that refuses them. Exit status 1: they disagree.
"""

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


def accepts(token, keys):
    """Whether joserfc finds a key of the set that verifies the token."""
    try:
        jws.deserialize_compact(token, KeySet.import_key_set(json.loads(keys)), algorithms=ALGORITHMS)
        return True
    except Exception:  # It has many kinds of errors, also those of Python's codecs.
        return False


def main():
    counts, stricter, differences = collections.Counter(), collections.Counter(), []
    for path in map(pathlib.Path, sys.argv[1:]):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            entry = json.loads(line)
            verdict, other = entry["verdict"], accepts(entry["token"], entry["keys"])
            counts[verdict] += 1
            if verdict in STRICTER:
                stricter[verdict] += other
            elif other != (verdict == "good"):
                differences.append(f"{path}:{number}: {verdict}, and joserfc {'accepts' if other else 'refuses'} the token")
    for verdict, count in counts.most_common():
        more = f"; joserfc accepts {stricter[verdict]}: {STRICTER[verdict]}" if verdict in STRICTER else ""
        print(f"{count:6} {verdict}{more}")
    print(*differences[:20], sep="\n")
    print(f"{sum(counts.values())} verdicts, {len(differences)} disagreements about a signature.")
    return 1 if differences or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
