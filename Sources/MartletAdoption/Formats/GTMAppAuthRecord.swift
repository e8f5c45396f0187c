internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The session that GTMAppAuth keeps in the Keychain: an archived `AuthSession` around the `OIDAuthState` of AppAuth.
///
/// The item is a generic password. Its service is the item name that the app chose (`KeychainStore(itemName:)`), and
/// its account is `OAuth`. An item in the older format of GTMOAuth2, text in the form of a query, is not read: it has
/// no expiry and need not have an access token. GTMAppAuth converts it with `retrieveAuthSessionInGTMOAuth2Format`.
///
/// Read from GTMAppAuth 5.0.0 (`GTMAppAuth/Sources/AuthSession.swift`, `KeychainStore/KeychainStore.swift`). All
/// versions archive the class under its version 1 name, `GTMAppAuthFetcherAuthorization`. `GTMAuthSession` is accepted
/// too.
struct GTMAppAuthRecord: LibraryRecord {
    let tokens: Tokens
    /// The subject of the ID token, which is not verified; without one, the user's ID as GTMAppAuth stored it.
    let userID: String?

    init(data: Data) throws(AdoptionError) {
        self = try reading("GTMAppAuth") { () throws(RecordProblem) in
            let session = try KeyedArchive(data).root("GTMAppAuthFetcherAuthorization", "GTMAuthSession")
            guard let state = try session.object("authState", "OIDAuthState") else {
                throw .damaged("the session has no state of AppAuth")
            }
            let record = try AppAuthRecord(state: state)
            let stored = try session.string("userID")
            return GTMAppAuthRecord(tokens: record.tokens, userID: record.userID ?? stored)
        }
    }

    private init(tokens: Tokens, userID: String?) {
        self.tokens = tokens
        self.userID = userID
    }
}
