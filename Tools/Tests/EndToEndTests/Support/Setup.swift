internal import Martlet
internal import ReferenceBackend

/// What an app writes down to speak with one kind of backend.
struct Setup: Sendable {
    var dialect: Dialect
    var refresher: any TokenRefresher
    var revoker: any TokenRevoker
    var scheme = AuthenticationScheme.bearer
    var rejection = TokenRejection.unauthorized
    var envelope: ResponseEnvelope?
    var policy = SessionPolicy()

    func with(_ change: (inout Setup) -> Void) -> Setup {
        var copy = self
        change(&copy)
        return copy
    }

    /// One for each dialect.
    static let all = [envelope, oauth2, header, legacy419, reissue, cookie]

    /// Both tokens in JSON, and every answer in an envelope.
    static let envelope = Setup(
        dialect: .envelope, refresher: .json(path: "/auth/refresh"), revoker: .json(path: "/auth/logout"),
        envelope: .standard)

    /// OAuth 2.0.
    static let oauth2 = Setup(dialect: .oauth2, refresher: .oauth2(), revoker: .oauth2())

    /// The refresh token in a header field of a GET.
    static let header = Setup(
        dialect: .header, refresher: .header(path: "/auth/refresh"), revoker: .json(path: "/auth/logout"))

    /// 419 means expired, and a refresh answers with an access token only.
    static let legacy419 = Setup(
        dialect: .legacy419, refresher: .accessTokenOnly(path: "/auth/refresh"), revoker: .json(path: "/auth/logout"),
        rejection: .status(419))

    /// Both tokens within `result`. Its resources answer bare JSON, so that the cases without a dialect use it as well.
    static let reissue = Setup(
        dialect: .reissue, refresher: .reissue(path: "/auth/reissue"), revoker: .json(path: "/auth/logout"))

    /// The refresh token in a cookie.
    static let cookie = Setup(
        dialect: .cookie, refresher: .cookie(path: "/auth/refresh"), revoker: .cookie(path: "/auth/logout"))
}
