"""Django OAuth Toolkit with rotation: a refresh revokes the old access token, and a dead one is a 403."""

import logging
import sys

import django_site

# It warns that apps should not ask for passwords, but here the sign-in is not what is tried.
logging.getLogger("oauth2_provider").setLevel(logging.ERROR)

folder, user = django_site.configure(
    ["oauth2_provider"],
    OAUTH2_PROVIDER={"ACCESS_TOKEN_EXPIRE_SECONDS": int(sys.argv[1]), "ROTATE_REFRESH_TOKEN": True},
    MIDDLEWARE=[])

from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import include, path
from oauth2_provider.decorators import protected_resource
from oauth2_provider.models import Application

from counting import serve

Application.objects.create(
    client_id="app", client_type=Application.CLIENT_PUBLIC, user=user,
    authorization_grant_type=Application.GRANT_PASSWORD)


@protected_resource()
def me(request):
    return JsonResponse({"name": request.resource_owner.username})


urlpatterns = [path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")), path("me", me)]

with folder:
    serve(get_wsgi_application(), "/o/token/")
