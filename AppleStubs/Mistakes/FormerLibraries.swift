// Code that the declarations of other libraries reject.

#if os(macOS)
    internal import AppAuthCore
    internal import Auth
    internal import Auth0
    internal import Foundation
    internal import GTMAppAuth

    func expires(in seconds: Int) -> Credentials {
        Credentials(accessToken: "token", expiresAt: seconds)  // mistake: cannot convert value of type 'Int'
    }

    func tokens(_ request: OIDTokenRequest) -> OIDTokenResponse {
        OIDTokenResponse(request: request, parameters: ["access_token": "token"])  // mistake: cannot convert value of type
    }

    func emptyRequest() -> OIDTokenRequest {
        OIDTokenRequest()  // mistake: is unavailable
    }

    func save(_ state: OIDAuthState, in keychain: KeychainStore) throws {
        try keychain.save(authSession: state)  // mistake: cannot convert value of type 'OIDAuthState'
    }

    func find(_ storage: KeychainLocalStorage) throws -> Data {
        try storage.retrieve(key: "supabase.auth.token")  // mistake: must be unwrapped
    }
#endif
