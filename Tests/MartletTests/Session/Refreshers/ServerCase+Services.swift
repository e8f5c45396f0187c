import Foundation
import HTTPTypes
import MartletTesting

@testable import Martlet

extension ServerCase {
    private static let app = OAuthClient(id: "app")

    static let services = [
        ServerCase(
            name: "Supabase", refresher: .supabase(apiKey: "sb_publishable_1"),
            line: "POST https://api.example.com/auth/v1/token?grant_type=refresh_token",
            headers: jsonType.with("apikey", "sb_publishable_1"), json: ["refresh_token": "refresh-1"],
            good: .json(
                #"{"access_token":"access-2","token_type":"bearer","expires_in":3600,"expires_at":1795262400,"#
                    + #""refresh_token":"refresh-2","user":{"id":"1"}}"#),
            issued: Issued(refresh: "refresh-2", seconds: 3600),
            dead: [
                "not found": .json(
                    #"{"code":400,"error_code":"refresh_token_not_found","msg":"Invalid Refresh Token"}"#, status: 400),
                "used": .json(#"{"code":"refresh_token_already_used","message":"Already Used"}"#, status: 400),
                "banned": .json(#"{"code":"user_banned","message":"User Banned"}"#, status: 403),
                "older server": .json(#"{"error":"invalid_grant","error_description":"Not Found"}"#, status: 400),
            ],
            temporary: [
                "conflict": .json(#"{"code":"conflict","message":"Too many refreshes at once"}"#, status: 409),
                "wrong key": .json(#"{"message":"Invalid API key"}"#, status: 401),
                "rate limit": .json(#"{"code":"over_request_rate_limit"}"#, status: 429),
            ]),
        ServerCase(
            name: "Firebase", refresher: .firebase(apiKey: "AIza-1"),
            line: "POST https://securetoken.googleapis.com/v1/token?key=AIza-1", headers: formType,
            form: "grant_type=refresh_token&refresh_token=refresh-1",
            good: .json(
                #"{"access_token":"access-2","expires_in":"3600","token_type":"Bearer","refresh_token":"refresh-2","#
                    + #""id_token":"id-2","user_id":"1","project_id":"2"}"#),
            issued: Issued(access: "id-2", refresh: "refresh-2", seconds: 3600),
            dead: [
                "expired": .json(
                    #"{"error":{"code":400,"message":"TOKEN_EXPIRED","status":"INVALID_ARGUMENT"}}"#, status: 400),
                "disabled": .json(#"{"error":{"code":400,"message":"USER_DISABLED : by an admin"}}"#, status: 400),
            ],
            temporary: [
                "wrong key": .json(
                    #"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}"#, status: 400)
            ]),
        ServerCase(
            name: "Auth0", refresher: .auth0(path: "https://example.auth0.com/oauth/token", client: app),
            line: "POST https://example.auth0.com/oauth/token", headers: formType,
            form: "grant_type=refresh_token&refresh_token=refresh-1&client_id=app",
            good: .json(
                #"{"access_token":"access-2","refresh_token":"refresh-2","expires_in":86400,"id_token":"id-2","#
                    + #""token_type":"Bearer"}"#),
            issued: Issued(refresh: "refresh-2", seconds: 86400),
            dead: [
                "unknown": .json(
                    #"{"error":"invalid_grant","error_description":"Unknown or invalid refresh token."}"#, status: 403)
            ],
            temporary: ["blocked by a rule": .json(#"{"error":"access_denied"}"#, status: 403)]),
        ServerCase(
            name: "Keycloak", refresher: .keycloak(realm: "my realm", client: app),
            line: "POST https://api.example.com/realms/my%20realm/protocol/openid-connect/token", headers: formType,
            form: "grant_type=refresh_token&refresh_token=refresh-1&client_id=app",
            good: .json(
                #"{"access_token":"access-2","expires_in":300,"refresh_expires_in":1800,"refresh_token":"refresh-2","#
                    + #""token_type":"Bearer","not-before-policy":0,"session_state":"s","scope":"email"}"#),
            issued: Issued(refresh: "refresh-2", seconds: 300),
            dead: [
                "inactive": .json(
                    #"{"error":"invalid_grant","error_description":"Token is not active"}"#, status: 400)
            ],
            temporary: ["wrong client": .json(#"{"error":"unauthorized_client"}"#, status: 401)]),
        ServerCase(
            name: "Cognito",
            refresher: .cognito(region: "eu-central-1", clientID: "app", clientSecret: "hidden"),
            line: "POST https://cognito-idp.eu-central-1.amazonaws.com/",
            headers: field("X-Amz-Target", "AWSCognitoIdentityProviderService.GetTokensFromRefreshToken")
                .with("Content-Type", "application/x-amz-json-1.1"),
            json: ["RefreshToken": "refresh-1", "ClientId": "app", "ClientSecret": "hidden"],
            good: .json(
                #"{"AuthenticationResult":{"AccessToken":"access-2","ExpiresIn":3600,"IdToken":"id-2","#
                    + #""TokenType":"Bearer"}}"#),
            issued: Issued(seconds: 3600),
            dead: [
                "revoked": .json(
                    #"{"__type":"NotAuthorizedException","message":"Refresh Token has been revoked"}"#, status: 400),
                "used": .json(#"{"__type":"com.amazonaws.cognito#RefreshTokenReuseException"}"#, status: 400),
            ],
            temporary: [
                "throttled": .json(#"{"__type":"TooManyRequestsException"}"#, status: 400),
                "a wrong pool": .json(#"{"__type":"ResourceNotFoundException"}"#, status: 400),
            ]),
    ]
}

extension HTTPFields {
    /// The fields and one more.
    fileprivate func with(_ name: String, _ value: String) -> HTTPFields {
        var fields = self
        if let name = HTTPField.Name(name) { fields[name] = value }
        return fields
    }
}
