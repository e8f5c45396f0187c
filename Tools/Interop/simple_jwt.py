"""Django SimpleJWT with rotation and blacklist: each refresh token works once, and there is no grace period."""

import datetime
import sys

import django_site

folder, _ = django_site.configure(
    ["rest_framework", "rest_framework_simplejwt", "rest_framework_simplejwt.token_blacklist"],
    REST_FRAMEWORK={"DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework_simplejwt.authentication.JWTAuthentication"]},
    SIMPLE_JWT={
        "ACCESS_TOKEN_LIFETIME": datetime.timedelta(seconds=int(sys.argv[1])),
        "ROTATE_REFRESH_TOKENS": True,
        "BLACKLIST_AFTER_ROTATION": True,
    })

from django.core.wsgi import get_wsgi_application
from django.urls import path
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework_simplejwt.views import TokenObtainPairView, TokenRefreshView

from counting import serve


@api_view()
@permission_classes([IsAuthenticated])
def me(request):
    return Response({"name": request.user.username})


urlpatterns = [
    path("api/token/", TokenObtainPairView.as_view()),
    path("api/token/refresh/", TokenRefreshView.as_view()),
    path("me", me),
]

with folder:
    serve(get_wsgi_application(), "/api/token/refresh/")
