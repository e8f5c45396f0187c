"""Django OAuth Toolkit as an OpenID provider, with Django's own login page.

It issues refresh tokens that work once, and ends a session whose spent one is used again. The client HS256 gets ID
tokens that are signed by its secret, which an app must refuse. Prints one line of JSON.
"""

import logging
import sys

import django_site
from joserfc import jwk

# It warns of settings that RFC 9700 advises against and that no client here uses.
logging.getLogger("oauth2_provider").setLevel(logging.ERROR)

TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
    "OPTIONS": {"context_processors": [
        "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages"]}}]

folder, user = django_site.configure(
    ["django.contrib.admin", "django.contrib.sessions", "django.contrib.messages", "django.contrib.staticfiles",
     "oauth2_provider"],
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": jwk.generate_key("RSA", 2048).as_pem(private=True).decode(),
        "OIDC_RP_INITIATED_LOGOUT_ENABLED": True, "PKCE_REQUIRED": True, "ROTATE_REFRESH_TOKEN": True,
        "REFRESH_TOKEN_REUSE_PROTECTION": True, "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
        "SCOPES": {"openid": "Sign in", "profile": "Read your name", "email": "Read your address"},
    },
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware"],
    TEMPLATES=TEMPLATES, LOGIN_URL="/admin/login/", STATIC_URL="/static/")

from django.contrib import admin
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.wsgi import get_wsgi_application
from django.urls import include, path
from oauth2_provider.models import Application
from oauth2_provider.urls import metadata_urlpatterns

from counting import free_port, serve

# Django's login page is that of the staff.
user.is_staff = True
user.save()

port = free_port()
# Any port of the loopback address is accepted.
redirects = f"http://127.0.0.1/callback {sys.argv[1]}"


def register(name, kind, **more):
    Application.objects.create(
        client_id=name, name=f"Martlet {name}", user=user, client_type=kind, algorithm=name, redirect_uris=redirects,
        post_logout_redirect_uris=redirects, authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE, **more)


register("RS256", Application.CLIENT_PUBLIC)
register("HS256", Application.CLIENT_CONFIDENTIAL, client_secret=django_site.PASSWORD * 5, hash_client_secret=False)

urlpatterns = [
    path("admin/", admin.site.urls),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    # Where RFC 8414 looks for the metadata of the issuer. Only they name the revocation endpoint.
    path("", include((metadata_urlpatterns, "oauth2_provider"), namespace="metadata")),
]

with folder:
    url = f"http://127.0.0.1:{port}"
    about = {
        "issuer": f"{url}/o", "api": url, "loopbackPort": free_port(), "clients": ["RS256"],
        "refusedClients": ["HS256"], "secret": django_site.PASSWORD * 5, "password": django_site.PASSWORD}
    serve(StaticFilesHandler(get_wsgi_application()), "/o/token/", port=port, about=about)
