/// The stamps of access tokens that were recently given to other HTTP clients.
///
/// Such a client returns only its request, so the token in it must be mapped back to a session and rotation.
struct SignedTokens: Sendable {
    private var stamps: [Secret: SessionStamp] = [:]
    private var oldestFirst: [Secret] = []

    /// No request is expected to be in flight for more rotations than this.
    private static let limit = 256

    mutating func remember(_ credential: Credential) {
        guard stamps.updateValue(credential.stamp, forKey: credential.accessToken) == nil else { return }
        oldestFirst.append(credential.accessToken)
        if oldestFirst.count > Self.limit { stamps[oldestFirst.removeFirst()] = nil }
    }

    func stamp(of token: Secret) -> SessionStamp? {
        stamps[token]
    }
}
