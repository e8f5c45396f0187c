internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A library whose stored session can be adopted. Each case says where the library keeps it. Neither the library nor
/// its classes have to be linked: the record is read from its bytes.
///
/// On a Mac, Auth0.swift and most versions of supabase-swift use the login keychain, the others the data protection
/// Keychain. Both are searched.
public enum FormerLibrary: Sendable, Hashable, CaseIterable {
    /// AppAuth, from 0.9 to 2.1: an archived `OIDAuthState`. The app chooses the place.
    case appAuth
    /// GTMAppAuth, up to 5.0, around the state of AppAuth. Service: the item name that the app has chosen
    /// (`KeychainStore(itemName:)`). Account: `OAuth`.
    case gtmAppAuth
    /// The `CredentialsManager` of Auth0.swift, from 1 to 3.1. Service: the app's bundle identifier. Account: the
    /// manager's `storeKey`, by default `credentials`.
    case auth0
    /// supabase-swift, 1 and 2. Service: `supabase.gotrue.swift` up to 2.55.1, and the app's bundle identifier after
    /// that. Account: the client's `storageKey`, by default `sb-…-auth-token` with the first label of the project's
    /// host name; for an `AuthClient` `supabase.auth.token`; before 2.13.5 `supabase.session`.
    case supabase
    /// Firebase Auth, from 9 to 12. Service: `firebase_auth_` and the app ID of the project (`GOOGLE_APP_ID`). Account:
    /// `firebase_auth_1___FIRAPP_DEFAULT_firebase_user` for the default app. With a user access group, the service is
    /// the API key and the account `firebase_auth_firebase_user`.
    case firebase
    /// The `AWSCognitoAuthPlugin` of Amplify 2. Service: `com.amplify.awsCognitoAuthPlugin`, or
    /// `com.amplify.awsCognitoAuthPluginShared` with an access group. Account: `amplify.`, the ID of the user pool, a
    /// dot and the ID of the identity pool if there is one, and `.session`.
    ///
    /// If the user pool remembers devices, Amplify keeps the device's key in another item. Martlet adopts it, too, and
    /// `TokenRefresher.cognito(region:clientID:clientSecret:)` sends it.
    ///
    /// The items outlive a deleted app. Up to 2.53.2, Amplify deletes them when it is installed again, and Martlet
    /// cannot know that: do not adopt them in an app that starts for the first time.
    case amplify

    func record(_ data: Data) throws(AdoptionError) -> any LibraryRecord {
        switch self {
        case .appAuth: try AppAuthRecord(data: data)
        case .gtmAppAuth: try GTMAppAuthRecord(data: data)
        case .auth0: try Auth0Record(data: data)
        case .supabase: try SupabaseRecord(data: data)
        case .firebase: try FirebaseRecord(data: data)
        case .amplify: try AmplifyRecord(data: data)
        }
    }

    /// The tokens of a record, and their user.
    func session(in data: Data) throws(AdoptionError) -> (tokens: Tokens, account: SessionAccount) {
        try record(data).session
    }
}
