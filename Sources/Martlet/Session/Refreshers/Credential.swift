/// An access token and the session and rotation that it belongs to.
struct Credential: Sendable, Hashable {
    let stamp: SessionStamp
    let accessToken: Secret
}
