#!/usr/bin/env python3
"""Writes the records of other libraries that the tests read, by following each library's encoder.

usage: make_records.py [FOLDER]      (default: Records beside this file)

Archives follow NSKeyedArchiver: a binary property list with $version, $archiver, $top and $objects; index 0 of $objects
is "$null"; an object is a dictionary with its values by key and a UID for each object among them, and $class. Booleans
and numbers that are encoded with encodeBool: and the like stand in the object itself. The keys and classes are those of
the source files that the reader of each library names. All tokens are made up.
"""

import base64
import json
import plistlib
import struct
import sys
from pathlib import Path

ACCESS = "fixture-access-token"
REFRESH = "fixture-refresh-token"
SINCE_2001 = 978_307_200  # seconds between 1970 and 2001
FUTURE = 2_000_000_000  # 2033-05-18T03:33:20Z
PAST = 1_000_000_000  # 2001-09-09T01:46:40Z
UNICODE = "사용자-ü-😀"


def jwt(subject, **claims):
    """An unsigned ID token."""
    part = lambda value: base64.urlsafe_b64encode(value).rstrip(b"=").decode()
    body = json.dumps({"iss": "https://id.example.com", "sub": subject, **claims}, ensure_ascii=False)
    return ".".join([part(b'{"alg":"none"}'), part(body.encode()), part(b"fixture-signature")])


# MARK: Keyed archives


class Flag:
    """A value of encodeBool:forKey:, which stands in the object itself."""

    def __init__(self, value):
        self.value = value


class Date:
    def __init__(self, unix):
        self.unix = unix


class MutableDictionary:
    def __init__(self, values):
        self.values = values


class URL:
    def __init__(self, text):
        self.text = text


class MutableString:
    def __init__(self, text):
        self.text = text


class Raw:
    """A value that stands in the object itself, such as a list of UIDs."""

    def __init__(self, make):
        self.make = make


class Object:
    def __init__(self, names, values):
        self.names = names if isinstance(names, list) else [names, "NSObject"]
        self.values = values


class Archiver:
    def __init__(self):
        self.objects = ["$null"]
        self.known = {}

    def archive(self, top):
        root = {key: self.encode(value) for key, value in top.items()}
        archive = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": root, "$objects": self.objects}
        return plistlib.dumps(archive, fmt=plistlib.FMT_BINARY, sort_keys=False)

    def encode(self, value):
        """The UID of an object, which is added if it is new."""
        if value is None:
            return plistlib.UID(0)
        key = ("text", value) if isinstance(value, str) else ("object", id(value))
        if key not in self.known:
            self.known[key] = (plistlib.UID(len(self.objects)), value)
            self.objects.append(None)
            uid = self.known[key][0]
            self.objects[uid.data] = self.content(value)
        return self.known[key][0]

    def content(self, value):
        if isinstance(value, (str, bool, int, float)):
            return value
        if isinstance(value, Date):
            return {"NS.time": float(value.unix - SINCE_2001), "$class": self.type(["NSDate", "NSObject"])}
        if isinstance(value, URL):
            return {"NS.base": plistlib.UID(0), "NS.relative": self.encode(value.text),
                    "$class": self.type(["NSURL", "NSObject"])}
        if isinstance(value, MutableString):
            return {"NS.string": value.text, "$class": self.type(["NSMutableString", "NSString", "NSObject"])}
        if isinstance(value, dict):
            return self.dictionary(value, ["NSDictionary", "NSObject"])
        if isinstance(value, MutableDictionary):
            return self.dictionary(value.values, ["NSMutableDictionary", "NSDictionary", "NSObject"])
        if isinstance(value, list):
            return {"NS.objects": [self.encode(element) for element in value],
                    "$class": self.type(["NSArray", "NSObject"])}
        content = {}
        for key, element in value.values.items():
            if isinstance(element, Flag):
                content[key] = element.value
            elif isinstance(element, Raw):
                content[key] = element.make(self)
            else:
                content[key] = self.encode(element)
        content["$class"] = self.type(value.names)
        return content

    def dictionary(self, values, names):
        return {"NS.keys": [self.encode(key) for key in values],
                "NS.objects": [self.encode(element) for element in values.values()],
                "$class": self.type(names)}

    def type(self, names):
        key = ("class", tuple(names))
        if key not in self.known:
            self.known[key] = (plistlib.UID(len(self.objects)), None)
            self.objects.append({"$classes": names, "$classname": names[0]})
        return self.known[key][0]


def archive(root, key="root"):
    return Archiver().archive({key: root})


# MARK: AppAuth-iOS 2.1.0


def discovery():
    """OIDServiceDiscovery.m encodes its dictionary under a key and, for older versions, as a dictionary would."""
    document = {
        "issuer": "https://id.example.com",
        "authorization_endpoint": "https://id.example.com/authorize",
        "token_endpoint": "https://id.example.com/token",
        "scopes_supported": ["openid", "offline_access"],
        "claims_parameter_supported": True,
        "mtls_endpoint_aliases": {"token_endpoint": "https://mtls.example.com/token"},
    }
    return Object("OIDServiceDiscovery", {
        "discoveryDictionary": document,
        "NS.keys": Raw(lambda archiver: [archiver.encode(key) for key in document]),
        "NS.objects": Raw(lambda archiver: [archiver.encode(value) for value in document.values()]),
    })


def configuration():
    return Object("OIDServiceConfiguration", {
        "authorizationEndpoint": URL("https://id.example.com/authorize"),
        "tokenEndpoint": URL("https://id.example.com/token"),
        "issuer": URL("https://id.example.com"),
        "registrationEndpoint": None,
        "discoveryDocument": discovery(),
        "endSessionEndpoint": None,
    })


def token_response(config, access=ACCESS, refresh=REFRESH, expiry=FUTURE, id_token=None, more=None):
    request = Object("OIDTokenRequest", {
        "configuration": config, "grant_type": "authorization_code", "code": "fixture-code", "client_id": "client",
        "client_secret": None, "redirect_uri": URL("com.example.app:/callback"), "scope": None, "refresh_token": None,
        "code_verifier": "fixture-verifier", "additionalParameters": {}, "additionalHeaders": {},
    })
    return Object("OIDTokenResponse", {
        "access_token": access, "expires_in": None if expiry is None else Date(expiry), "token_type": "Bearer",
        "id_token": id_token, "refresh_token": refresh, "scope": None,
        "request": request, "additionalParameters": MutableDictionary(more or {}),
    })


def authorization_response(config, access=None, expiry=None, id_token=None):
    request = Object("OIDAuthorizationRequest", {
        "configuration": config, "response_type": "code", "client_id": "client", "client_secret": None,
        "scope": "openid offline_access", "redirect_uri": URL("com.example.app:/callback"), "state": "fixture-state",
        "nonce": "fixture-nonce", "code_verifier": "fixture-verifier", "code_challenge": "fixture-challenge",
        "code_challenge_method": "S256", "additionalParameters": {"prompt": "consent"},
    })
    return Object("OIDAuthorizationResponse", {
        "request": request, "state": "fixture-state", "code": "fixture-code", "access_token": access,
        "expires_in": None if expiry is None else Date(expiry), "token_type": "Bearer" if access else None,
        "id_token": id_token, "scope": None, "additionalParameters": MutableDictionary({}),
    })


def auth_state(response=None, refresh=REFRESH, stale=False, error=None, authorization=None, names="OIDAuthState", more=None):
    config = configuration()
    values = {
        "lastAuthorizationResponse": authorization or authorization_response(config),
        "lastTokenResponse": response(config) if response else None,
    }
    if error:
        values["authorizationError"] = error
    values |= {"scope": "openid offline_access", "refreshToken": refresh, "needsTokenRefresh": Flag(stale)}
    return Object(names, values | (more or {}))


def appauth():
    error = Object("NSError", {"NSCode": Flag(-10), "NSDomain": "org.openid.appauth.oauth_token", "NSUserInfo": None})
    full = lambda config: token_response(config, id_token=jwt("user-1"),
                                         more={"account": "a-7", "ext_expires_in": 7200, "device": True, "nested": {"a": 1}})
    # Version 0.9 had neither needsTokenRefresh nor additionalHeaders.
    old = auth_state(token_response)
    del old.values["needsTokenRefresh"]
    del old.values["lastTokenResponse"].values["request"].values["additionalHeaders"]
    text = lambda config: token_response(config, access=MutableString(ACCESS))
    implicit = authorization_response(configuration(), access=ACCESS, expiry=FUTURE, id_token=jwt("user-1"))
    return {
        "appauth-full": archive(auth_state(full)),
        "appauth-without-refresh": archive(auth_state(lambda c: token_response(c, refresh=None), refresh=None)),
        "appauth-expired": archive(auth_state(lambda c: token_response(c, expiry=PAST))),
        "appauth-without-expiry": archive(auth_state(lambda c: token_response(c, expiry=None))),
        "appauth-unicode": archive(auth_state(lambda c: token_response(c, id_token=jwt(UNICODE)))),
        "appauth-stale": archive(auth_state(token_response, stale=True)),
        "appauth-later-refresh": archive(auth_state(lambda c: token_response(c, refresh=None), refresh=REFRESH)),
        "appauth-implicit": archive(auth_state(refresh=None, authorization=implicit)),
        "appauth-mutable-text": archive(auth_state(text)),
        "appauth-0.9": archive(old),
        "appauth-subclass": archive(auth_state(token_response, names=["ExampleState", "OIDAuthState", "NSObject"])),
        "appauth-other-key": archive(auth_state(token_response), key="authState"),
        "appauth-more": archive(auth_state(token_response, more={"future": ["x", {"y": 1.5}], "count": Flag(3)})),
        "appauth-ended": archive(auth_state(token_response, error=error)),
        "appauth-code-only": archive(auth_state(refresh=None)),
    }


# MARK: GTMAppAuth 5.0.0


def gtmappauth():
    def session(state, user=None, email=None, name="GTMAppAuthFetcherAuthorization"):
        return archive(Object(name, {
            "authState": state, "serviceProvider": "Google", "userID": user, "userEmail": email,
            "userEmailIsVerified": "true" if email else None,
        }))

    return {
        "gtmappauth-full": session(auth_state(lambda c: token_response(c, id_token=jwt("user-1"))), "user-1", "a@example.com"),
        "gtmappauth-without-id-token": session(auth_state(token_response), UNICODE),
        "gtmappauth-without-user": session(auth_state(token_response)),
        "gtmappauth-own-name": session(auth_state(token_response), "user-1", name="GTMAuthSession"),
        "gtmappauth-without-state": session(None, "user-1"),
    }


# MARK: Auth0.swift 3.1.0 and 1.39.1


def auth0():
    def credentials(access=ACCESS, refresh=REFRESH, expiry=FUTURE, id_token=jwt("auth0|1"), type="Bearer", more=None):
        return archive(Object("A0Credentials", {
            "accessToken": access, "tokenType": type, "idToken": id_token, "refreshToken": refresh,
            "expiresIn": None if expiry is None else Date(expiry), "scope": "openid offline_access", "recoveryCode": None,
            **(more or {}),
        }))

    return {
        "auth0-full": credentials(),
        "auth0-without-refresh": credentials(refresh=None),
        "auth0-expired": credentials(expiry=PAST),
        "auth0-unicode": credentials(id_token=jwt(UNICODE)),
        "auth0-more": credentials(more={"future": {"a": "b"}, "flag": Flag(True)}),
        # Version 1 encodes nil for what it does not have, version 2 and 3 an empty text.
        "auth0-1-without-expiry": credentials(expiry=None, id_token=None, type=None),
        "auth0-empty": credentials(access="", refresh=None, id_token="", type=""),
        "auth0-dpop": credentials(type="DPoP"),
    }


# MARK: Firebase 12.19.0


def firebase():
    def user(expiry=FUTURE, name="Example", refresh=REFRESH, access=ACCESS, multi_factor=True, anonymous=False, uid="firebase-1", more=None):
        service = Object("FIRSecureTokenService", {
            "APIKey": "fixture-api-key", "refreshToken": refresh, "accessToken": access,
            "accessTokenExpirationDate": None if expiry is None else Date(expiry),
        })
        provider = Object("FIRUserInfoImpl", {
            "providerID": "password", "userID": "a@example.com", "displayName": name, "photoURL": None,
            "email": "a@example.com", "phoneNumber": None,
        })
        values = {
            "userID": uid, "anonymous": Flag(anonymous), "hasEmailPassword": Flag(not anonymous),
            "providerData": {} if anonymous else {"password": provider}, "email": None if anonymous else "a@example.com",
            "phoneNumber": None, "emailVerified": Flag(True), "photoURL": URL("https://example.com/a.png"),
            "displayName": name, "metadata": Object("FIRUserMetadata", {"creationDate": Date(PAST), "lastSignInDate": Date(PAST)}),
            "tenantID": None, "APIKey": "fixture-api-key", "firebaseAppID": "1:2:ios:3", "tokenService": service,
        }
        if multi_factor:
            values["multiFactor"] = Object("FIRMultiFactor", {"enrolledFactors": []})
        return Object("FIRUser", values | (more or {}))

    default = "__FIRAPP_DEFAULT_firebase_user"
    return {
        "firebase-full": archive(user(), default),
        "firebase-access-group": archive(user(), "firebase_auth_stored_user_coder_key"),
        "firebase-anonymous": archive(user(anonymous=True, name=None), default),
        "firebase-expired": archive(user(expiry=PAST), default),
        "firebase-without-expiry": archive(user(expiry=None), default),
        "firebase-unicode": archive(user(uid=UNICODE, name=UNICODE), default),
        "firebase-more": archive(user(more={"future": ["a"], "flag": Flag(False)}), default),
        "firebase-tv": archive(user(multi_factor=False), default),
        "firebase-without-access": archive(user(access=None), default),
    }


# MARK: supabase-swift 2.55.1


def snake(value):
    """JSONEncoder's convertToSnakeCase, which changes all keys."""
    if isinstance(value, dict):
        return {"".join("_" + c.lower() if c.isupper() else c for c in key): snake(v) for key, v in value.items()}
    return [snake(v) for v in value] if isinstance(value, list) else value


def supabase():
    def session(refresh=REFRESH, expiry=FUTURE, date=None, email="a@example.com", **more):
        created = PAST - SINCE_2001 if date is None else date
        user = {"id": "859F402D-B3DE-4105-A1B9-932836D9193B", "appMetadata": {"provider": "email"}, "userMetadata": {},
                "aud": "authenticated", "email": email, "createdAt": created, "updatedAt": created,
                "role": "authenticated", "isAnonymous": False}
        session = {"accessToken": ACCESS, "tokenType": "bearer", "expiresIn": 3600, "expiresAt": expiry,
                   "refreshToken": refresh, "user": user, **more}
        return {key: value for key, value in session.items() if value is not None}

    def text(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()

    iso = "2001-09-09T01:46:40.000Z"
    wrapped = lambda date, **values: snake({"session": session(date=iso, **values), "expirationDate": date})
    return {
        "supabase-full": text(session(providerToken="fixture-provider-token", providerRefreshToken="fixture-provider-refresh")),
        "supabase-fraction": text(session(expiry=FUTURE + 0.5)),
        "supabase-empty-refresh": text(session(refresh="")),
        "supabase-expired": text(session(expiry=PAST)),
        "supabase-unicode": text(session(email=UNICODE + "@example.com")),
        "supabase-more": text(session(future={"a": [1, None]}, weakPassword={"reasons": ["length"]})),
        "supabase-2.20": text(snake(session(date=iso))),
        "supabase-2.10": text(wrapped("2033-05-18T03:33:20.000Z")),
        "supabase-1.0": text(wrapped("2033-05-18T03:33:20Z", expiry=None)),
        "supabase-without-expiry": text(snake(session(date=iso, expiry=None))),
    }


# MARK: amplify-swift 2.60.1


def amplify():
    def signed_in(expiry=FUTURE, ended=False, user="user-1", refresh=REFRESH, **more):
        return {"userId": user, "username": UNICODE, "signedInDate": PAST - SINCE_2001,
                "signInMethod": {"apiBased": {"_0": {"userSRP": {}}}}, "deviceMetadata": {"noData": {}},
                "cognitoUserPoolTokens": {"idToken": jwt("user-1"), "accessToken": ACCESS, "refreshToken": refresh,
                                          "expiration": expiry - SINCE_2001},
                "isRefreshTokenExpired": ended, **more}

    def text(value):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()

    aws = {"identityID": "region:1", "credentials": {"accessKeyId": "fixture-key", "secretAccessKey": "fixture-secret",
                                                     "sessionToken": "fixture-session", "expiration": FUTURE - SINCE_2001}}
    federated = {"federatedToken": {"token": "fixture-federated", "provider": {"google": {}}}}
    device = {"metadata": {"_0": {"deviceKey": "region_device", "deviceGroupKey": "-group",
                                  "deviceSecret": "fixture-device-secret"}}}
    old = signed_in(user="unknown")
    del old["isRefreshTokenExpired"]
    return {
        "amplify-user-pool": text({"userPoolOnly": {"signedInData": signed_in()}}),
        "amplify-device": text({"userPoolOnly": {"signedInData": signed_in(deviceMetadata=device)}}),
        "amplify-both-pools": text({"userPoolAndIdentityPool": {"signedInData": signed_in(), **aws}}),
        "amplify-expired": text({"userPoolOnly": {"signedInData": signed_in(expiry=PAST)}}),
        "amplify-empty-refresh": text({"userPoolOnly": {"signedInData": signed_in(refresh="")}}),
        "amplify-more": text({"userPoolOnly": {"signedInData": signed_in(inputUsername="a", future=[1]), "more": {}}}),
        "amplify-unknown-user": text({"userPoolOnly": {"signedInData": old}}),
        "amplify-ended": text({"userPoolOnly": {"signedInData": signed_in(ended=True)}}),
        "amplify-guest": text({"identityPoolOnly": aws}),
        "amplify-federated": text({"identityPoolWithFederation": {**federated, **aws}}),
        "amplify-signed-out": text({"noCredentials": {}}),
    }


# MARK: Archives that no library writes


def plist(objects, top):
    """A binary property list from objects that are encoded already. References have two bytes. An object that is None
    lies where the one before it lies."""
    data, offsets = b"bplist00", []
    for encoded in objects:
        offsets.append(offsets[-1] if encoded is None else len(data))
        data += encoded or b""
    table = len(data)
    data += b"".join(struct.pack(">I", offset) for offset in offsets)
    return data + b"\0" * 6 + struct.pack(">BBQQQ", 4, 2, len(objects), top, table)


def text(value):
    return bytes([0x5F, 0x11]) + struct.pack(">H", len(value)) + value.encode()


def references(*indexes):
    return b"".join(struct.pack(">H", index) for index in indexes)


def array(*indexes):
    return bytes([0xAF, 0x11]) + struct.pack(">H", len(indexes)) + references(*indexes)


def dictionary(pairs):
    return bytes([0xD0 | len(pairs)]) + references(*pairs.keys()) + references(*pairs.values())


def raw_archive(objects):
    """A keyed archive whose $objects are given as encoded objects. The first of them has the index 7."""
    start = [text("$archiver"), text("NSKeyedArchiver"), text("$objects"), text("$top"), text("root")]
    first = len(start) + 2
    elements = array(*range(first, first + len(objects)))
    top = first + len(objects)
    return plist(start + [dictionary({4: 6}), bytes([0x80, 1])] + objects + [elements, dictionary({0: 1, 2: top, 3: 5})], top + 1)


def uid(index):
    return bytes([0x81]) + struct.pack(">H", index)


def hostile():
    null = text("$null")
    # A state whose additional parameters are nested, cyclic, or repeated.
    def state(parameters):
        archiver = Archiver()
        root = auth_state(lambda config: token_response(config, more=parameters))
        return archiver, root

    deep = {}
    for _ in range(1000):
        deep = {"a": deep}
    laughs = {}
    for _ in range(20):
        laughs = {"a": laughs, "b": laughs, "c": laughs}
    cycle = {}
    cycle["self"] = cycle
    sys.setrecursionlimit(20_000)

    def build(parameters):
        archiver, root = state(parameters)
        return archiver.archive({"root": root})

    nested = [null] + [array(index + 1) for index in range(8, 8 + 999)] + [array()]
    repeated = [null] + [array(*[index + 1] * 10) for index in range(8, 8 + 40)] + [array()]
    return {
        "hostile-deep-archive": build(deep),
        "hostile-laughs-archive": build(laughs),
        "hostile-cycle-archive": build(cycle),
        "hostile-deep-list": raw_archive(nested),
        "hostile-laughs-list": raw_archive(repeated),
        "hostile-cycle-list": raw_archive([null, array(8)]),
        "hostile-cycle-uid": raw_archive([null, uid(1)]),
        "hostile-overlap": raw_archive([null, array(*[7] * 4000)] + [None] * 200),
        "hostile-uid-outside": raw_archive([null, uid(60_000)]),
    }


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "Records"
    folder.mkdir(parents=True, exist_ok=True)
    for make in [appauth, gtmappauth, auth0, firebase, supabase, amplify, hostile]:
        for name, data in make().items():
            suffix = ".json" if data.startswith(b"{") else ".plist"
            (folder / (name + suffix)).write_bytes(data)


if __name__ == "__main__":
    main()
