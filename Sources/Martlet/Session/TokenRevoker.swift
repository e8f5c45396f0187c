internal import HTTPTypes

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tells the server that tokens are not needed any more, when a user signs out.
public protocol TokenRevoker: Sendable {
    /// Revokes the tokens at the server.
    /// - Throws: Anything, where the server did not take it; it is tried again a few times.
    func revoke(_ bundle: TokenBundle, over lane: TokenLane) async throws
}

/// Revokes over HTTP.
public struct HTTPTokenRevoker: TokenRevoker {
    /// How the tokens travel.
    public enum Carrier: Sendable, Hashable {
        /// RFC 7009: a form with `token` and `token_type_hint`, for the refresh token or else the access token.
        case oauth2(OAuthClient?)
        /// The access token signs the request, and the refresh token goes along in a JSON object, under this name.
        case json(field: String)
        /// The access token signs the request, and the refresh token goes along in a cookie.
        case cookie(name: String)
    }

    /// Where the endpoint is, below the base URL or as an absolute URL.
    public var path: String
    /// How the tokens travel.
    public var carrier: Carrier
    /// How the access token is put on the request.
    public var accessTokenScheme: AuthenticationScheme

    /// A way to revoke tokens.
    public init(path: String, carrier: Carrier, accessTokenScheme: AuthenticationScheme = .bearer) {
        self.path = path
        self.carrier = carrier
        self.accessTokenScheme = accessTokenScheme
    }

    /// Sends the tokens to the endpoint; 404 counts as done, since then there is nothing left to revoke.
    public func revoke(_ bundle: TokenBundle, over lane: TokenLane) async throws {
        var headers = HTTPFields()
        var body: Data?
        switch carrier {
        case .oauth2(let client):
            let isRefresh = bundle.refreshToken != nil
            var parameters: Query = [
                "token": (bundle.refreshToken ?? bundle.accessToken).reveal(),
                "token_type_hint": isRefresh ? "refresh_token" : "access_token",
            ]
            client?.authenticate(&headers, &parameters)
            body = try OAuthEncoding.form.encode(parameters, contentType: &headers[.contentType])
        case .json(let field):
            accessTokenScheme.sign(&headers, with: bundle.accessToken)
            headers[.contentType] = "application/json"
            body = try JSONEncoder().encode(bundle.refreshToken.map { [field: $0.reveal()] } ?? [:])
        case .cookie(let name):
            accessTokenScheme.sign(&headers, with: bundle.accessToken)
            if let token = bundle.refreshToken { headers.setSensitive("\(name)=\(token.reveal())", for: .cookie) }
        }
        let answer = try await lane.send(.post, path, headers: headers, body: body)
        guard StatusCodes.successful.contains(answer.status) || answer.status == 404 else {
            throw RefreshFailure(.status(answer.status), description: "the server answered \(answer)")
        }
    }
}

extension TokenRevoker where Self == HTTPTokenRevoker {
    /// RFC 7009.
    public static func oauth2(path: String = "/oauth/revoke", client: OAuthClient? = nil) -> HTTPTokenRevoker {
        HTTPTokenRevoker(path: path, carrier: .oauth2(client))
    }

    /// POST with the access token as bearer and the refresh token in JSON.
    public static func json(path: String, field: String = "refreshToken") -> HTTPTokenRevoker {
        HTTPTokenRevoker(path: path, carrier: .json(field: field))
    }

    /// POST with the access token as bearer and the refresh token in its cookie.
    public static func cookie(path: String, cookie: String = "refresh_token") -> HTTPTokenRevoker {
        HTTPTokenRevoker(path: path, carrier: .cookie(name: cookie))
    }
}
