import Foundation
import HTTPTypes
import MartletTesting

@testable import Martlet

extension ServerCase {
    private static let app = OAuthClient(id: "app")

    static let frameworks = [
        ServerCase(
            name: "Simple JWT", refresher: .simpleJWT(),
            line: "POST https://api.example.com/api/token/refresh/", headers: jsonType, json: ["refresh": "refresh-1"],
            good: .json(#"{"access":"access-2","refresh":"refresh-2"}"#), issued: Issued(refresh: "refresh-2"),
            dead: [
                "blacklisted": .json(
                    #"{"detail":"Token is blacklisted","code":"token_not_valid"}"#, status: 401),
                "inactive user": .json(
                    #"{"detail":"No active account found for the given token."}"#, status: 401),
            ],
            temporary: [
                "throttled": .json(#"{"detail":"Request was throttled."}"#, status: 429),
                "malformed": .json(#"{"refresh":["This field is required."]}"#, status: 400),
            ]),
        ServerCase(
            name: "Django OAuth Toolkit", refresher: .djangoOAuthToolkit(client: app),
            line: "POST https://api.example.com/o/token/", headers: formType,
            form: "grant_type=refresh_token&refresh_token=refresh-1&client_id=app",
            good: .json(
                #"{"access_token":"access-2","expires_in":36,"token_type":"Bearer","scope":"read","#
                    + #""refresh_token":"refresh-2"}"#),
            issued: Issued(refresh: "refresh-2", seconds: 36),
            dead: ["used": .json(#"{"error":"invalid_grant"}"#, status: 400)],
            temporary: ["wrong client": .json(#"{"error":"invalid_client"}"#, status: 401)]),
        ServerCase(
            name: "Flask-JWT-Extended", refresher: .flaskJWTExtended(),
            line: "POST https://api.example.com/refresh", headers: [.authorization: "Bearer refresh-1"],
            good: .json(#"{"access_token":"access-2"}"#), issued: Issued(),
            dead: [
                "expired": .json(#"{"msg":"Token has expired"}"#, status: 401),
                "revoked": .json(#"{"msg":"Token has been revoked"}"#, status: 401),
                "invalid": .json(#"{"msg":"Signature verification failed"}"#, status: 422),
            ],
            temporary: ["forbidden": .status(403)]),
        ServerCase(
            name: "NestJS", refresher: .nestJS(),
            line: "POST https://api.example.com/auth/refresh", headers: [.authorization: "Bearer refresh-1"],
            good: .json(#"{"accessToken":"access-2","refreshToken":"refresh-2"}"#),
            issued: Issued(refresh: "refresh-2"),
            dead: [
                "expired": .json(#"{"message":"Unauthorized","statusCode":401}"#, status: 401),
                "denied": .json(#"{"message":"Access Denied","error":"Forbidden","statusCode":403}"#, status: 403),
            ],
            temporary: ["a firewall": StubTransport.Response(403, body: Data("<html>Forbidden</html>".utf8))]),
        ServerCase(
            name: "Laravel Passport", refresher: .laravelPassport(client: app),
            line: "POST https://api.example.com/oauth/token", headers: formType,
            form: "grant_type=refresh_token&refresh_token=refresh-1&client_id=app",
            good: .json(
                #"{"token_type":"Bearer","expires_in":1296000,"access_token":"access-2","refresh_token":"refresh-2"}"#),
            issued: Issued(refresh: "refresh-2", seconds: 1_296_000),
            dead: [
                "revoked": .json(#"{"error":"invalid_grant","hint":"Token has been revoked"}"#, status: 400),
                "revoked, before version 13": .json(
                    #"{"error":"invalid_request","hint":"Token has been revoked"}"#, status: 401),
            ],
            temporary: [
                "a missing parameter": .json(#"{"error":"invalid_request"}"#, status: 400),
                "wrong client": .json(#"{"error":"invalid_client"}"#, status: 401),
            ]),
        ServerCase(
            name: "Devise-JWT", refresher: .deviseJWT(path: "/users/renew"),
            line: "POST https://api.example.com/users/renew", headers: [.authorization: "Bearer refresh-1"],
            good: .status(204, headers: [.authorization: "Bearer access-2"]), issued: Issued(refresh: "access-2"),
            dead: ["revoked": .json(#"{"error":"revoked token"}"#, status: 401)],
            temporary: ["a route that dispatches no token": .json("{}")]),
    ]
}
