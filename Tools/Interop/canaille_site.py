"""Canaille in memory, with a client for each algorithm of its keys, and one that asks for unsigned ID tokens.

Prints one line of JSON.
"""

import base64
import datetime
import json
import logging
import secrets
import sys
import warnings

from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from joserfc import jwk

from counting import free_port, serve

# RFC 9864 has a new name for EdDSA with Ed25519.
warnings.filterwarnings("ignore", message="EdDSA is deprecated")

PASSWORD = "interop"
# One key a type: it signs with a random one of the type, and fails if the curve is that of another algorithm.
KEYS = {"RS256": ("RSA", 2048), "ES256": ("EC", "P-256"), "EdDSA": ("OKP", "Ed25519")}
# The RSA key serves PS256 too.
ALGORITHMS = [*KEYS, "PS256"]


def register(name, algorithm, redirects, **more):
    client = models.Client(
        client_id=name, client_name=f"Martlet {name}",
        client_id_issued_at=datetime.datetime.now(datetime.timezone.utc), redirect_uris=redirects,
        post_logout_redirect_uris=redirects, grant_types=["authorization_code", "refresh_token"],
        response_types=["code"], scope=["openid", "profile", "email"], id_token_signed_response_alg=algorithm,
        contacts=[], **({"token_endpoint_auth_method": "none"} | more))
    Backend.instance.save(client)
    # The client's own number is known now.
    client.audience = [client]
    Backend.instance.save(client)


class Unsigned:
    """A WSGI middleware that takes the signature from the ID tokens of the client `none`.

    The server lists `none` among the algorithms of ID tokens, but signs for a client that asks for it by RS512.
    """

    def __init__(self, app):
        self.app = app

    def __call__(self, environ, start_response):
        if environ["PATH_INFO"] != "/oauth/token":
            return self.app(environ, start_response)
        head = []
        body = b"".join(self.app(environ, lambda *response: head.extend(response[:2])))
        fields = json.loads(body)
        if token := fields.get("id_token"):
            _, payload, _ = token.split(".")
            claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
            if claims["aud"] in ("none", ["none"]):
                header = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
                fields["id_token"] = f"{header}.{payload}."
        body = json.dumps(fields).encode()
        others = [field for field in head[1] if field[0].lower() != "content-length"]
        start_response(head[0], [*others, ("Content-Length", str(len(body)))])
        return [body]


def main():
    port, callback = free_port(), free_port()
    keys = [jwk.generate_key(kind, size).as_dict(private=True) for kind, size in KEYS.values()]
    app = create_app(config={
        "SECRET_KEY": secrets.token_hex(32), "SERVER_NAME": f"127.0.0.1:{port}", "PREFERRED_URL_SCHEME": "http",
        "CANAILLE": {"DATABASE": "memory", "NAME": "Canaille", "LOGGING": {
            "version": 1, "root": {"level": "ERROR"}, "disable_existing_loggers": False}},
        # Trusted clients get no consent page.
        "CANAILLE_OIDC": {"ACTIVE_JWKS": keys, "TRUSTED_DOMAINS": []},
        "CANAILLE_SCIM": None,
    }, env_file=None)
    logging.getLogger("canaille").setLevel(logging.ERROR)
    redirects = [f"http://127.0.0.1:{callback}/callback", sys.argv[1]]
    with app.app_context():
        user = models.User(
            user_name="ada", formatted_name="Ada Lovelace", family_name="Lovelace", given_name="Ada",
            emails=["ada@example.com"], password=PASSWORD)
        Backend.instance.save(user)
        for name in ALGORITHMS:
            register(name, name, redirects)
        register("RS512", "RS512", redirects)
        register("none", "none", redirects)
        register(
            "confidential", "RS256", redirects, client_secret=PASSWORD,
            token_endpoint_auth_method="client_secret_basic")
    url = f"http://127.0.0.1:{port}"
    about = {
        "issuer": url, "api": url, "loopbackPort": callback, "clients": ALGORITHMS, "refusedClients": ["none", "RS512"],
        "confidentialClient": "confidential", "secret": PASSWORD, "password": PASSWORD}
    serve(Unsigned(app), "/oauth/token", port=port, about=about)


main()
