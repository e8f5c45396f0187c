internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The user that Firebase Auth stores: an archived `FIRUser` with its tokens.
///
/// The item is a generic password. Without a user access group, its service is `firebase_auth_` followed by the app ID
/// of the Firebase project (`GOOGLE_APP_ID`), and its account is `firebase_auth_1___FIRAPP_DEFAULT_firebase_user` for
/// the default app. With a user access group, its service is the API key, and its account is
/// `firebase_auth_firebase_user`.
///
/// The access token is Firebase's ID token. The refresh token is exchanged at
/// `https://securetoken.googleapis.com/v1/token`, with the API key of the project.
///
/// The format is that of firebase-ios-sdk 12.19.0 (`FirebaseAuth/Sources/Swift/User/User.swift`,
/// `SystemService/SecureTokenService.swift`, `Auth/Auth.swift`, `SystemService/AuthStoredUserManager.swift`) and 9.6.0
/// (`FirebaseAuth/Sources/User/FIRUser.m`). The classes keep their Objective-C names and keys.
struct FirebaseRecord: LibraryRecord {
    let tokens: Tokens
    /// The user's ID, `uid`.
    let userID: String?

    init(data: Data) throws(AdoptionError) {
        self = try reading("Firebase Auth") { () throws(RecordProblem) in
            try FirebaseRecord(user: KeyedArchive(data).root("FIRUser"))
        }
    }

    private init(user: ArchivedObject) throws(RecordProblem) {
        guard let service = try user.object("tokenService", "FIRSecureTokenService"),
            let access = Secret(token: try service.string("accessToken"))
        else { throw RecordProblem(.withoutTokens, "the user has no access token") }
        tokens = Tokens(
            accessToken: access,
            refreshToken: Secret(token: try service.string("refreshToken")),
            expiresAt: try service.date("accessTokenExpirationDate"))
        userID = try user.string("userID")
    }
}
