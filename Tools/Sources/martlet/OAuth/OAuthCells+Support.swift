internal import Foundation
internal import Martlet
internal import MartletOAuth

extension OAuthRigServer {
    /// The reason why the server issues no ID token with an algorithm.
    func reason(for algorithm: String) -> String {
        switch (self, algorithm) {
        case (.canaille, "ES384"): "fails with two elliptic curves, and its first one is P-256"
        case (.oauthToolkit, _): "has RS256 and HS256 only"
        case (_, "none"), (_, "HS256"), (_, "RS512"): "has no client for it"
        default: "has no key for it"
        }
    }

    var reasonAgainstAnyPort: String? {
        self == .oauthToolkit ? nil : "compares redirect URIs whole"
    }

    var reasonAgainstMaxAge: String? {
        switch self {
        case .glewlwyd: "its auth_time is 0 unless the scope requires a password"
        case .canaille: nil
        case .oauthToolkit: "ignores max_age"
        }
    }
}

extension RigBrowser {
    /// Acts as the user on the server's pages until the browser is redirected to the URL that an app claims.
    func callback(of url: URL, to purpose: Purpose = .signIn) async throws -> URL {
        let visit = try await visit(url, until: OAuthSite.claimedURL, to: purpose)
        guard let callback = URL(string: visit.url) else { throw Failure(description: "sent to no URL") }
        return callback
    }

    /// A browser whose callback goes to a listener of this process.
    /// - Parameter port: The port of the redirect. The URL of a pushed request does not contain it.
    nonisolated func loopback(port: UInt16, to purpose: Purpose = .signIn) -> OAuthBrowser {
        .loopback(limit: .seconds(30)) { url in
            let values = url.queryValues
            let redirect = values["redirect_uri"] ?? values["post_logout_redirect_uri"]
            try await self.visit(url, until: redirect ?? "http://127.0.0.1:\(port)/callback", to: purpose)
        }
    }
}

extension URL {
    /// The values of the query by name.
    var queryValues: [String: String] {
        let items = URLComponents(url: self, resolvingAgainstBaseURL: false)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }

    func replacing(_ name: String, by value: String) throws -> URL {
        var parts = URLComponents(url: self, resolvingAgainstBaseURL: false)
        let items = (parts?.queryItems ?? []).map { $0.name == name ? URLQueryItem(name: name, value: value) : $0 }
        parts?.queryItems = items
        guard let url = parts?.url else { throw OAuthCellError(description: "the callback is no URL") }
        return url
    }
}

extension Secret {
    private struct Header: Decodable {
        let alg: String
    }

    private struct Claims: Decodable {
        let sub: String
    }

    var jwtAlgorithm: String? { part(0, as: Header.self)?.alg }

    var jwtSubject: String? { part(1, as: Claims.self)?.sub }

    private func part<Value: Decodable>(_ index: Int, as type: Value.Type) -> Value? {
        let parts = reveal().split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = parts[index].replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: String(text)).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }
}
