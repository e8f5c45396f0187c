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
/// If the user pool remembers devices, Cognito refuses a refresh without the device's key. The key is part of the
/// credentials only if the sign-in has registered the device. It is always in an item of its own, whose account ends
/// with the user's name and `.deviceMetadata` instead of `session`. Since 2.57.0, this is the name that the user has
/// typed, such as an e-mail address, in lower case; before, it is the name in the user pool as the pool spells it.
///
/// AWS credentials of an identity pool are not adopted: they sign requests to AWS and are not tokens. Amplify 1
/// (`AWSMobileClient`) has no record but an item with text for each token; Amplify 2 converts and deletes these items
/// when it starts.
///
/// Read from amplify-swift 2.60.1 (`AmplifyPlugins/Auth/Sources/AWSCognitoAuthPlugin`:
/// `CredentialStorage/AmplifyCredentials.swift`, `CredentialStorage/AWSCognitoAuthCredentialStore.swift`,
/// `StateMachine/CodeGen/Data/SignedInData.swift`, `StateMachine/CodeGen/Data/DeviceMetadata.swift`,
/// `Models/AWSCognitoUserPoolTokens.swift`).
struct AmplifyRecord: LibraryRecord {
    private(set) var tokens: Tokens
    /// The user's ID in the user pool: the claim `sub` of the access token, as Amplify stored it.
    let userID: String?
    /// The names under which the device's key may be stored, the most likely one first.
    private let deviceNames: [String]

    init(data: Data) throws(AdoptionError) {
        self = try reading("Amplify") { () throws(RecordProblem) in
            let user = try readJSON(AmplifyCredentials.self, from: data).signedInUser()
            guard let access = Secret(token: user.cognitoUserPoolTokens.accessToken) else {
                throw RecordProblem(.withoutTokens, "the credentials have no access token")
            }
            let fields = ["id_token": user.cognitoUserPoolTokens.idToken, "DeviceKey": user.deviceMetadata?.key]
            let tokens = Tokens(
                accessToken: access,
                refreshToken: Secret(token: user.cognitoUserPoolTokens.refreshToken),
                expiresAt: user.cognitoUserPoolTokens.expiration.map(Date.init(timeIntervalSinceReferenceDate:)),
                additionalFields: [String: Secret](fields: fields))
            // Amplify writes "unknown" if it cannot read the access token.
            return AmplifyRecord(
                tokens: tokens, userID: user.userId == "unknown" ? nil : user.userId, deviceNames: user.deviceNames)
        }
    }

    private init(tokens: Tokens, userID: String?, deviceNames: [String]) {
        self.tokens = tokens
        self.userID = userID
        self.deviceNames = deviceNames
    }

    func secondItems(besideItem account: String) -> [String] {
        let suffix = "session"
        guard account.hasSuffix(".\(suffix)") else { return [] }
        return deviceNames.map { account.dropLast(suffix.count) + "\($0).deviceMetadata" }
    }

    /// Adds the device's key. Like Amplify, this ignores an item that it cannot read.
    mutating func add(secondItem data: Data) {
        guard let device = try? readJSON(DeviceMetadata.self, from: data), let key = Secret(token: device.key) else {
            return
        }
        tokens.additionalFields["DeviceKey"] = key
    }
}

/// The enum `DeviceMetadata` as Swift encodes it: `{"metadata":{"_0":{"deviceKey":"…"}}}` or `{"noData":{}}`.
private struct DeviceMetadata: Decodable {
    struct Metadata: Decodable {
        struct Device: Decodable {
            let deviceKey: String?
        }

        let _0: Device
    }

    let metadata: Metadata?

    var key: String? { metadata?._0.deviceKey }
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
    let username: String?
    /// The name that the user has typed.
    let inputUsername: String?
    let deviceMetadata: DeviceMetadata?
    let isRefreshTokenExpired: Bool?
    let cognitoUserPoolTokens: UserPoolTokens

    var deviceNames: [String] {
        let names = [inputUsername?.lowercased(), username?.lowercased(), username].compactMap(\.self)
        return names.indices.filter { names.firstIndex(of: names[$0]) == $0 }.map { names[$0] }
    }
}
