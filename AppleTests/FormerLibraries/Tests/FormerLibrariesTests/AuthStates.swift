import AppAuthCore
import Foundation
import Testing

/// The states of AppAuth that a sign-in leaves behind, built from the responses of a server.
enum AuthStates {
    static let access = NSString(string: "fixture-access-token")
    static let refresh = NSString(string: "fixture-refresh-token")

    /// The state after the code flow, with an ID token.
    static func codeFlow() throws -> OIDAuthState {
        let authorization = try authorization(["code": NSString(string: "fixture-code")])
        let request = try #require(authorization.tokenExchangeRequest())
        let tokens = OIDTokenResponse(
            request: request,
            parameters: [
                "access_token": access, "refresh_token": refresh, "token_type": NSString(string: "Bearer"),
                "expires_in": NSNumber(value: 3600), "id_token": NSString(string: idToken(subject: "user-1")),
            ])
        return OIDAuthState(authorizationResponse: authorization, tokenResponse: tokens)
    }

    /// The state after the implicit flow, whose tokens are in the authorization response.
    static func implicitFlow() throws -> OIDAuthState {
        let authorization = try authorization([
            "access_token": access, "token_type": NSString(string: "Bearer"), "expires_in": NSNumber(value: 3600),
            "id_token": NSString(string: idToken(subject: "user-1")),
        ])
        return OIDAuthState(authorizationResponse: authorization, tokenResponse: nil)
    }

    private static func authorization(
        _ parameters: [String: any NSObject & NSCopying]
    ) throws -> OIDAuthorizationResponse {
        let configuration = OIDServiceConfiguration(
            authorizationEndpoint: try #require(URL(string: "https://id.example.com/authorize")),
            tokenEndpoint: try #require(URL(string: "https://id.example.com/token")))
        let request = OIDAuthorizationRequest(
            configuration: configuration, clientId: "client", scopes: [OIDScopeOpenID, "offline_access"],
            redirectURL: try #require(URL(string: "com.example.app:/callback")), responseType: OIDResponseTypeCode,
            additionalParameters: nil)
        return OIDAuthorizationResponse(request: request, parameters: parameters)
    }
}
