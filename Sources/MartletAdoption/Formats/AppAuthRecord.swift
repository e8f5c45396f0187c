internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The session in an archived `OIDAuthState` of AppAuth.
///
/// AppAuth stores nothing itself. The app archives the state, as AppAuth's example does, and chooses the place:
/// `NSKeyedArchiver.archivedData(withRootObject: state, requiringSecureCoding: true)`.
///
/// Read from AppAuth-iOS 2.1.0 (`Sources/AppAuthCore/OIDAuthState.m`, `OIDTokenResponse.m`,
/// `OIDAuthorizationResponse.m`, `OIDFieldMapping.m`); the keys have been the same since 1.0.0.
struct AppAuthRecord: LibraryRecord {
    let tokens: Tokens
    /// The subject of the ID token, which is not verified.
    let userID: String?

    init(data: Data) throws(AdoptionError) {
        self = try reading("AppAuth") { () throws(RecordProblem) in
            try AppAuthRecord(state: KeyedArchive(data).root("OIDAuthState"))
        }
    }

    /// Follows the getters of `OIDAuthState`: the access token comes from the token response, or from the authorization
    /// response if there is none. The refresh token is the state's own.
    init(state: ArchivedObject) throws(RecordProblem) {
        if try state.has("authorizationError") {
            throw RecordProblem(.ended, "the server had ended the session, and AppAuth stored its error")
        }
        var response = try state.object("lastTokenResponse", "OIDTokenResponse")
        if response == nil { response = try state.object("lastAuthorizationResponse", "OIDAuthorizationResponse") }
        guard let response, let access = Secret(token: try response.string("access_token")) else {
            throw RecordProblem(.withoutTokens, "the state has no access token")
        }
        let idToken = try response.string("id_token")
        let isStale = try state.flag("needsTokenRefresh")
        var fields: [String: String?] = [:]
        // The session works without these parameters, so they may be unreadable.
        for (name, value) in (try? response.fields("additionalParameters")) ?? [:] { fields[name] = value }
        fields["id_token"] = idToken
        tokens = Tokens(
            accessToken: access,
            refreshToken: Secret(token: try state.string("refreshToken")),
            expiresAt: isStale ? longAgo : try response.date("expires_in"),
            tokenType: try response.string("token_type"),
            scope: try state.string("scope"),
            additionalFields: [String: Secret](fields: fields))
        userID = subject(ofIDToken: idToken)
    }
}
