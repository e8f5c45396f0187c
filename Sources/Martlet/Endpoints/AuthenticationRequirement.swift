/// Whether a call carries an access token.
public enum AuthenticationRequirement: Sendable, Hashable {
    /// No token, even if a user is signed in: for sign-in itself and for public data.
    case none
    /// A token if a user is signed in, and none otherwise.
    case ifSignedIn
    /// A token. If no user is signed in, the call fails with ``NetworkError/signInRequired(_:)`` before anything is
    /// sent.
    case required
}
