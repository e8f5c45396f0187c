"""Glewlwyd, set up over its admin API: two issuers, one with tokens that live seconds, and a client for each key.

Prints one line of JSON. The server stands behind a proxy that counts, as a server behind nginx would.
"""

import http.client
import json
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

from joserfc import jwk
from werkzeug.wrappers import Request, Response

from counting import free_port, serve

PACKAGE = "/usr/share/glewlwyd"
SCHEMA = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"
# The password that the packaged schema gives the administrator.
ADMIN = {"username": "admin", "password": "password"}
PASSWORD = "interop"
ALGORITHMS = {"RS256": ("RSA", 2048), "PS256": ("RSA", 2048), "ES256": ("EC", "P-256"), "ES384": ("EC", "P-384"),
              "EdDSA": ("OKP", "Ed25519")}
MIME_TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "application/javascript", ".json": "application/json",
    ".png": "image/png", ".ico": "image/x-icon", ".ttf": "font/ttf", ".woff": "font/woff", ".woff2": "font/woff2"}


def configuration(folder, port, outside):
    """The file that the server reads."""
    types = ", ".join(
        f'{{ extension = "{name}" mime_type = "{kind}" compress = 0 }}' for name, kind in MIME_TYPES.items())
    return f"""
        port = {port}
        bind_address = "127.0.0.1"
        external_url = "{outside}"
        login_url = "login.html"
        api_prefix = "api"
        static_files_path = "{folder}/webapp/"
        cookie_domain = "127.0.0.1"
        cookie_secure = 0
        log_mode = "file"
        log_level = "WARNING"
        log_file = "{folder}/glewlwyd.log"
        static_files_mime_types = ( {types} )
        hash_algorithm = "SHA512"
        user_module_path = "/usr/lib/glewlwyd/user"
        client_module_path = "/usr/lib/glewlwyd/client"
        user_auth_scheme_module_path = "/usr/lib/glewlwyd/scheme"
        plugin_module_path = "/usr/lib/glewlwyd/plugin"
        database = {{ type = "sqlite3"; path = "{folder}/glewlwyd.db"; }};
    """


def copy_pages(folder):
    """Copies the packaged pages.

    They link to scripts of other packages, and their config.json to a folder. The server follows no link that leads out
    of its folder, so the packaged login page stays empty.
    """
    shutil.copytree(f"{PACKAGE}/webapp", folder, ignore=shutil.ignore_patterns("config.json", "popper-utils*", "*.map"))
    shutil.copy(f"{PACKAGE}/templates/config.json", folder)


class API:
    """Glewlwyd's API, after a user has signed in."""

    def __init__(self, port, user):
        self.port, self.cookie = port, None
        self.cookie = self("POST", "/api/auth/", user).split(";")[0]

    def __call__(self, method, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        fields = {"Content-Type": "application/json"} | ({"Cookie": self.cookie} if self.cookie else {})
        connection.request(method, path, json.dumps(body), fields)
        response = connection.getresponse()
        text = response.read().decode()
        if response.status != 200:
            sys.exit(f"Glewlwyd refused {method} {path} with {response.status}: {text}")
        return response.getheader("Set-Cookie") if path == "/api/auth/" else text


def issuer(name, outside, lifetime, keys):
    """An instance of the plugin. A wrong parameter leaves a row in the database, so there is no second attempt."""
    return {
        "module": "oidc", "name": name, "display_name": name, "enabled": True,
        "parameters": {
            "name": name, "iss": f"{outside}/api/{name}", "jwks-private": json.dumps(keys), "default-kid": "RS256",
            "client-sign_kid-parameter": "sign_kid", "access-token-duration": lifetime, "code-duration": 60,
            "refresh-token-duration": 86400, "refresh-token-rolling": True, "refresh-token-one-use": "always",
            "auth-type-code-enabled": True, "auth-type-code-revoke-replayed": True, "auth-type-refresh-enabled": True,
            "auth-type-token-enabled": False, "auth-type-password-enabled": False, "auth-type-client-enabled": False,
            "auth-type-device-enabled": False, "allow-non-oidc": False, "jwks-show": True, "subject-type": "public",
            "pkce-allowed": True, "pkce-required": True, "pkce-method-plain-allowed": False,
            "oauth-par-allowed": True, "oauth-par-required": True, "oauth-par-duration": 60,
            "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:", "oauth-as-iss-id": True,
            "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True,
            "introspection-revocation-auth-scope": [], "session-management-allowed": True,
            "session-cookie-name": "GLEWLWYD2_OIDC_SID", "session-cookie-expiration": 86400,
            # Without it, the logout page fails.
            "front-channel-logout-allowed": True,
            "name-claim": "on-demand", "name-claim-scope": ["profile"],
            "email-claim": "on-demand", "email-claim-scope": ["email"],
        },
    }


def set_up(port, outside, lifetime, redirects):
    admin = API(port, ADMIN)
    # The packaged backend of clients keeps one URI for the return after a logout, under another name.
    backend = json.loads(admin("GET", "/api/mod/client/database", None))
    for name, multiple in (("post_logout_redirect_uris", True), ("sign_kid", False)):
        backend["parameters"]["data-format"][name] = {"multiple": multiple, "read": True, "write": True}
    admin("PUT", "/api/mod/client/database", backend)
    admin("PUT", "/api/mod/client/database/reset", None)
    keys = {"keys": [
        jwk.generate_key(kind, size, {"alg": name, "kid": name, "use": "sig"}).as_dict(private=True)
        for name, (kind, size) in ALGORITHMS.items()]}
    admin("POST", "/api/mod/plugin/", issuer("oidc", outside, 3600, keys))
    admin("POST", "/api/mod/plugin/", issuer("short", outside, lifetime, keys))
    for name in ("profile", "email", "offline_access"):
        admin("POST", "/api/scope/", {
            "name": name, "display_name": name, "description": name, "password_required": False, "scheme": {}})
    admin("POST", "/api/user/", {
        "username": "ada", "password": PASSWORD, "name": "Ada Lovelace", "email": "ada@example.com", "enabled": True,
        "scope": ["openid", "profile", "email", "offline_access", "g_profile"]})
    for name in [*ALGORITHMS, "confidential"]:
        is_public = name != "confidential"
        client = {
            "client_id": name, "name": f"Martlet {name}", "enabled": True, "confidential": not is_public, "scope": [],
            "redirect_uri": redirects, "post_logout_redirect_uris": redirects,
            "sign_kid": name if is_public else "RS256",
            "authorization_type": ["code", "refresh_token"],
            "token_endpoint_auth_method": ["none"] if is_public else ["client_secret_basic", "client_secret_post"]}
        secret = {} if is_public else {"client_secret": PASSWORD, "password": PASSWORD}
        admin("POST", "/api/client/", client | secret)
    # Its page asks only if a user has granted nothing, and `openid` needs no grant.
    user = API(port, {"username": "ada", "password": PASSWORD})
    for name in [*ALGORITHMS, "confidential"]:
        user("PUT", f"/api/auth/grant/{name}/", {"scope": "openid profile email"})


def proxy(port, api):
    """Passes each request on to the server. `/me` is an API that takes the tokens of the issuer with short ones."""

    @Request.application
    def pass_on(request):
        # As it was sent: `path` is decoded.
        path = request.environ["RAW_URI"] if request.path != "/me" else api
        fields = {name: value for name, value in request.headers if name not in ("Connection", "Content-Length")}
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request(request.method, path, request.get_data(), fields)
            upstream = connection.getresponse()
            body = upstream.read()
        finally:
            connection.close()
        hop = ("connection", "transfer-encoding", "content-length", "keep-alive")
        kept = [field for field in upstream.getheaders() if field[0].lower() not in hop]
        return Response(body, upstream.status, kept)

    return pass_on


def main():
    with tempfile.TemporaryDirectory(prefix="martlet-glewlwyd-") as folder:
        inside, outside, callback = free_port(), free_port(), free_port()
        url = f"http://127.0.0.1:{outside}"
        with sqlite3.connect(f"{folder}/glewlwyd.db") as database:
            database.executescript(pathlib.Path(SCHEMA).read_text())
        copy_pages(f"{folder}/webapp")
        pathlib.Path(folder, "glewlwyd.conf").write_text(configuration(folder, inside, url))
        server = subprocess.Popen(["glewlwyd", "--config-file", f"{folder}/glewlwyd.conf"], stdout=sys.stderr)
        try:
            wait_for(inside)
            set_up(inside, url, int(sys.argv[1]), [f"http://127.0.0.1:{callback}/callback", sys.argv[2]])
            about = {
                "issuer": f"{url}/api/oidc", "shortIssuer": f"{url}/api/short", "api": url, "loopbackPort": callback,
                "clients": [*ALGORITHMS], "confidentialClient": "confidential", "secret": PASSWORD,
                "password": PASSWORD}
            serve(proxy(inside, "/api/short/userinfo"), "/api/short/token", port=outside, about=about)
        finally:
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def wait_for(port):
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit("Glewlwyd did not start.")


main()
