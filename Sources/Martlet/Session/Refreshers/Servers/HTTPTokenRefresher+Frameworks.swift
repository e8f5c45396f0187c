// Presets for servers that are built with a framework. Each names the documentation that it follows.

extension TokenRefresher where Self == HTTPTokenRefresher {
    /// Simple JWT for the Django REST framework: POST with `{"refresh": "…"}`. The response contains `access` and, with
    /// `ROTATE_REFRESH_TOKENS`, `refresh`. A 401 is terminal.
    ///
    /// With `BLACKLIST_AFTER_ROTATION` a refresh token works once, and there is no grace period: leave
    /// ``SessionPolicy/rotationGrace`` at its default. Access tokens stay valid until they expire.
    ///
    /// Source: <https://django-rest-framework-simplejwt.readthedocs.io/en/latest/getting_started.html>
    /// - Parameter path: The path of `TokenRefreshView`, below the manager's base URL.
    public static func simpleJWT(path: String = "/api/token/refresh/") -> HTTPTokenRefresher {
        HTTPTokenRefresher(path: path, placement: .json(field: "refresh"), sessionEnd: .status(401))
    }

    /// Django OAuth Toolkit: the OAuth 2.0 refresh grant as a form. Only the code `invalid_grant` is terminal.
    ///
    /// A refresh revokes the old access token at once, so calls in progress with that token are replayed. Views with
    /// `protected_resource` reject a dead access token with 403 instead of 401: pass `.status(401, 403)` as the
    /// manager's ``AccessTokenRejectionRule``. Views of the REST framework respond with 401.
    ///
    /// Source: <https://django-oauth-toolkit.readthedocs.io/en/latest/settings.html>
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - client: The app's client registration.
    public static func djangoOAuthToolkit(path: String = "/o/token/", client: OAuthClient) -> HTTPTokenRefresher {
        .oauth2(path: path, client: client)
    }

    /// Flask-JWT-Extended: POST without a body, with the refresh token as a bearer token. The response contains a new
    /// `access_token`; the refresh token usually stays the same. A 401 (expired or revoked) and a 422 (invalid) are
    /// terminal.
    ///
    /// The server rejects an access token that it cannot decode with 422 as well, for example after its key has
    /// changed. To refresh in that case, too, pass `.status(401, 422)` as the manager's ``AccessTokenRejectionRule``.
    ///
    /// Source: <https://flask-jwt-extended.readthedocs.io/en/stable/refreshing_tokens.html>
    /// - Parameter path: The path of the view with `@jwt_required(refresh=True)`, below the manager's base URL.
    public static func flaskJWTExtended(path: String = "/refresh") -> HTTPTokenRefresher {
        HTTPTokenRefresher(path: path, placement: .bearer, sessionEnd: .status(401, 422))
    }

    /// NestJS with `passport-jwt`: POST without a body, with the refresh token as a bearer token. A 401 is terminal,
    /// and so is a 403 with `"error": "Forbidden"`, which comes from a guard that returns `false` or a
    /// `ForbiddenException` with a message. A 403 without it is not terminal: it comes from a `ForbiddenException`
    /// without a message, or from a firewall.
    ///
    /// NestJS leaves refreshing to the app: its documentation covers only the bearer strategy and the 401. A route that
    /// takes the refresh token as a bearer token is common.
    ///
    /// Source: <https://docs.nestjs.com/recipes/passport> and
    /// <https://github.com/nestjs/nest/blob/master/packages/common/exceptions/forbidden.exception.ts>
    /// - Parameter path: The route with the guard for refresh tokens, below the manager's base URL.
    public static func nestJS(path: String = "/auth/refresh") -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, placement: .bearer, sessionEnd: .status(401).or(.code("Forbidden", status: 403)))
    }

    /// Laravel Passport: the OAuth 2.0 refresh grant as a form. The code `invalid_grant` is terminal. So is
    /// `invalid_request` with 401, which Passport sends before version 13 for a dead refresh token. These versions use
    /// version 8 of the PHP League's OAuth 2.0 server, and version 9 changed the response.
    ///
    /// Source: <https://laravel.com/docs/passport#refreshing-tokens> and
    /// <https://github.com/thephpleague/oauth2-server/blob/master/CHANGELOG.md>, "9.0.0"
    /// - Parameters:
    ///   - path: The token endpoint, below the manager's base URL.
    ///   - client: The app's client registration.
    public static func laravelPassport(path: String = "/oauth/token", client: OAuthClient) -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, placement: .oauth2(client),
            sessionEnd: .code("invalid_grant").or(.code("invalid_request", status: 401)))
    }

    /// Devise-JWT: POST without a body, with the access token as a bearer token. The response carries the next one in
    /// its `Authorization` field, like the response to a sign-in. A 401 is terminal.
    ///
    /// Devise-JWT has no refresh tokens. A valid access token is exchanged for a new one at a route that the server
    /// adds for this purpose. The route's action authenticates the user and writes a token from
    /// `Warden::JWTAuth::UserEncoder` to `Authorization`. Up to version 0.10 of warden-jwt_auth, a route in
    /// `dispatch_requests` does this by itself; later versions ignore the token there. The session ends if the token
    /// expires before it is exchanged. A refresh starts only shortly before that; run ``TokenManager/keepFresh()``, or
    /// raise ``SessionPolicy/leewayFraction`` and ``SessionPolicy/maximumLeeway``.
    ///
    /// Source: <https://github.com/waiting-for-dev/devise-jwt>, "Dispatch requests", and
    /// <https://github.com/waiting-for-dev/warden-jwt_auth/blob/master/CHANGELOG.md>, "0.11.0"
    /// - Parameter path: The route that returns a new token, below the manager's base URL.
    public static func deviseJWT(path: String) -> HTTPTokenRefresher {
        HTTPTokenRefresher(
            path: path, placement: .bearer,
            fields: TokenFields(
                accessToken: [], refreshToken: [], accessTokenHeader: .authorization,
                refreshTokenHeader: .authorization),
            sessionEnd: .status(401))
    }
}
