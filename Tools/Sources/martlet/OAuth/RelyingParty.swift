internal import Foundation
internal import Martlet
internal import MartletOAuth

/// A client that signs a user in at an OpenID provider, as the OpenID Foundation's suite expects of a relying party.
struct RelyingParty: Sendable {
    /// The result of a sign-in.
    enum Outcome: Sendable, CustomStringConvertible {
        /// The user's `sub`; `nil` if the scope has no `openid`.
        case signedIn(String?)
        case refused(OAuthError)

        var isSignedIn: Bool {
            if case .signedIn = self { true } else { false }
        }

        /// The outcome in one line.
        var description: String {
            switch self {
            case .signedIn(let subject): "signed in: \(subject ?? "without an ID token")"
            case .refused(let error): "refused: \(error.kind.name): \(error)"
            }
        }
    }

    /// Opens the user's browser. If `nil`, the redirects are followed without a browser.
    var browser: OAuthBrowser?
    var scope = ["openid"]
    var options = SignInOptions()
    let tokens: TokenManager
    private let server: OAuthServer
    private let redirect: String
    private let follower: RedirectFollower

    /// - Parameters:
    ///   - port: The port of the redirect URI on 127.0.0.1. Without a browser, no listener uses it.
    ///   - store: Keeps the session.
    init(
        issuer: String, client: OAuthClient, port: UInt16 = 8400, store: any TokenStore = .inMemory,
        transport: any Transport = .platformDefault
    ) {
        server = OAuthServer(issuer: issuer, client: client, redirect: .loopback(port: port), transport: transport)
        // No call is made to the API.
        tokens = TokenManager(baseURL: BaseURL(issuer), store: store, oauth: server, transport: transport)
        redirect = "http://127.0.0.1:\(port)/callback"
        follower = RedirectFollower(transport: transport)
    }

    func signIn() async -> Outcome {
        do throws(OAuthError) {
            let user =
                if let browser {
                    try await server.signIn(to: tokens, scope: scope, options: options, with: browser)
                } else {
                    try await server.signIn(to: tokens, scope: scope, options: options) { url in
                        try await follower.visit(url, until: redirect)
                    }
                }
            return .signedIn(user.subject)
        } catch {
            return .refused(error)
        }
    }
}

extension OAuthError.Kind {
    /// The name of the case, and of the check or the server's code.
    var name: String {
        switch self {
        case .idToken(let check): "idToken(\(check))"
        case .refused(let code): "refused(\(code))"
        case .session: "session"
        default: "\(self)"
        }
    }
}
