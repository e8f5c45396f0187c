internal import Martlet
internal import ReferenceBackend

/// An app's configuration for one kind of backend.
struct Setup: Sendable {
    var dialect: Dialect
    var refresher: any TokenRefresher
    var revoker: TokenRevoker
    var scheme = AuthenticationScheme.bearer
    var rejection = AccessTokenRejectionRule.unauthorized
    var envelope: ResponseEnvelope?
    var policy = SessionPolicy()

    func with(_ change: (inout Setup) -> Void) -> Setup {
        var copy = self
        change(&copy)
        return copy
    }

    /// One setup for each dialect.
    static let all = [envelope, oauth2, header, legacy419, reissue, cookie]

    /// Both tokens in JSON, and every response in an envelope.
    static let envelope = Setup(
        dialect: .envelope, refresher: .json(path: "/auth/refresh"), revoker: .json(path: "/auth/logout"),
        envelope: ResponseEnvelope())

    /// OAuth 2.0.
    static let oauth2 = Setup(dialect: .oauth2, refresher: .oauth2(), revoker: .oauth2())

    /// The refresh token in a header field of a GET request.
    static let header = Setup(
        dialect: .header, refresher: .header(path: "/auth/refresh"), revoker: .json(path: "/auth/logout"))

    /// The status 419 means "expired", and a refresh returns an access token only.
    static let legacy419 = Setup(
        dialect: .legacy419, refresher: .json(path: "/auth/refresh"), revoker: .json(path: "/auth/logout"),
        rejection: .status(419))

    /// Both tokens in a `result` member. Resources return bare JSON, so tests that need no particular dialect also use
    /// this setup.
    static let reissue = Setup(
        dialect: .reissue, refresher: .json(path: "/auth/reissue"), revoker: .json(path: "/auth/logout"))

    /// The refresh token in a cookie.
    static let cookie = Setup(
        dialect: .cookie, refresher: .cookie(path: "/auth/refresh"), revoker: .cookie(path: "/auth/logout"))
}
