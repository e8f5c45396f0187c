internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The session that the `CredentialsManager` of Auth0.swift stores: an archived `Credentials`.
///
/// The item is a generic password of SimpleKeychain: its service is the app's bundle identifier, its account the
/// manager's `storeKey`, by default `credentials`. Tokens for further audiences (`APICredentials`, an item with JSON
/// for each audience) are not read: they have no refresh token of their own, and the session's refresh token gets new
/// ones.
///
/// Read from Auth0.swift 3.1.0 (`Auth0/Credentials.swift`, `Auth0/CredentialsManager.swift`), 2.10.0, 2.0.0 and 1.39.1.
/// All archive the class under the name `A0Credentials`, with the same keys.
struct Auth0Record: LibraryRecord {
    let tokens: Tokens
    /// The subject of the ID token, which is not verified here.
    let userID: String?

    init(data: Data) throws(AdoptionError) {
        self = try reading("Auth0.swift") { () throws(RecordProblem) in
            try Auth0Record(credentials: KeyedArchive(data).root("A0Credentials"))
        }
    }

    private init(credentials: ArchivedObject) throws(RecordProblem) {
        // Auth0.swift stores an empty text for a token that it does not have.
        guard let access = Secret(token: try credentials.string("accessToken")) else {
            throw RecordProblem(.withoutTokens, "the credentials have no access token")
        }
        let type = try credentials.string("tokenType")
        if type?.lowercased() == "dpop" {
            throw RecordProblem(.boundToKey, "the tokens are bound to a key of the library (DPoP)")
        }
        let idToken = try credentials.string("idToken")
        tokens = Tokens(
            accessToken: access,
            refreshToken: Secret(token: try credentials.string("refreshToken")),
            // The key has kept its name from version 1. The value has always been a date.
            expiresAt: try credentials.date("expiresIn"),
            tokenType: type.flatMap { $0.isEmpty ? nil : $0 },
            scope: try credentials.string("scope"),
            additionalFields: [String: Secret](fields: ["id_token": idToken]))
        userID = subject(ofIDToken: idToken)
    }
}
