internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The credentials that Amplify's `AWSCognitoAuthPlugin` stores: JSON.
///
/// The item is a generic password. Its service is `com.amplify.awsCognitoAuthPlugin`, or
/// `com.amplify.awsCognitoAuthPluginShared` with an access group; its account is `amplify.`, the ID of the user pool, a
/// dot and the ID of the identity pool if there is one, and `.session`.
///
/// AWS credentials of an identity pool are not adopted: they sign requests to AWS and are not tokens. Amplify 1
/// (`AWSMobileClient`) has no record but an item with text for each token; Amplify 2 converts and deletes these items
/// when it starts.
///
/// Read from amplify-swift 2.60.1 (`AmplifyPlugins/Auth/Sources/AWSCognitoAuthPlugin`:
/// `CredentialStorage/AmplifyCredentials.swift`, `CredentialStorage/AWSCognitoAuthCredentialStore.swift`,
/// `StateMachine/CodeGen/Data/SignedInData.swift`, `Models/AWSCognitoUserPoolTokens.swift`).
struct AmplifyRecord: LibraryRecord {
    let tokens: Tokens
    /// The user's ID in the user pool: the claim `sub` of the access token, as Amplify stored it.
    let userID: String?

    init(data: Data) throws(AdoptionError) {
        self = try reading("Amplify") { () throws(RecordProblem) in
            let user = try readJSON(AmplifyCredentials.self, from: data).signedInUser()
            guard let access = Secret(token: user.cognitoUserPoolTokens.accessToken) else {
                throw RecordProblem(.withoutTokens, "the credentials have no access token")
            }
            let tokens = Tokens(
                accessToken: access,
                refreshToken: Secret(token: user.cognitoUserPoolTokens.refreshToken),
                expiresAt: user.cognitoUserPoolTokens.expiration.map(Date.init(timeIntervalSinceReferenceDate:)),
                additionalFields: [String: Secret](fields: ["id_token": user.cognitoUserPoolTokens.idToken]))
            // Amplify writes "unknown" if it cannot read the access token.
            return AmplifyRecord(tokens: tokens, userID: user.userId == "unknown" ? nil : user.userId)
        }
    }

    private init(tokens: Tokens, userID: String?) {
        self.tokens = tokens
        self.userID = userID
    }
}

/// The enum `AmplifyCredentials` as Swift encodes it: an object with the name of the case.
private struct AmplifyCredentials: Decodable {
    private enum State {
        case signedIn(SignedInUser)
        case guest
        case signedOut
    }

    private let state: State

    init(from decoder: any Decoder) throws {
        let cases = try decoder.container(keyedBy: FieldName.self)
        let signedIn: [FieldName] = ["userPoolOnly", "userPoolAndIdentityPool"]
        if let name = signedIn.first(where: cases.contains) {
            let values = try cases.nestedContainer(keyedBy: FieldName.self, forKey: name)
            state = .signedIn(try values.decode(SignedInUser.self, forKey: "signedInData"))
        } else if cases.contains("identityPoolOnly") || cases.contains("identityPoolWithFederation") {
            state = .guest
        } else if cases.contains("noCredentials") {
            state = .signedOut
        } else {
            throw RecordProblem.foreign("the JSON is not the credentials of Amplify")
        }
    }

    func signedInUser() throws(RecordProblem) -> SignedInUser {
        switch state {
        case .signedIn(let user) where user.isRefreshTokenExpired == true:
            throw RecordProblem(.ended, "the server had refused the refresh token")
        case .signedIn(let user): return user
        case .guest: throw RecordProblem(.withoutTokens, "the credentials are those of an identity pool only")
        case .signedOut: throw RecordProblem(.ended, "the user was signed out")
        }
    }
}

private struct SignedInUser: Decodable {
    struct UserPoolTokens: Decodable {
        let idToken: String
        let accessToken: String
        let refreshToken: String
        /// Seconds since 2001, as `JSONEncoder` writes a date by default.
        let expiration: Double?
    }

    let userId: String?
    let isRefreshTokenExpired: Bool?
    let cognitoUserPoolTokens: UserPoolTokens
}
