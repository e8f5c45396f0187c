internal import ArgumentParser
internal import Foundation
internal import Martlet
internal import MartletOAuth

/// A server of `Tools/Interop` at which users sign in with a browser.
enum OAuthRigServer: String, CaseIterable, Sendable, ExpressibleByArgument {
    case glewlwyd
    case canaille = "canaille_site"
    case oauthToolkit = "toolkit_oidc"

    static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }

    var title: String {
        switch self {
        case .glewlwyd: "Glewlwyd"
        case .canaille: "Canaille"
        case .oauthToolkit: "Django OAuth Toolkit"
        }
    }
}

/// A running server, as its program describes it.
struct OAuthSite: Sendable, Decodable {
    let issuer: String
    /// An issuer whose access tokens live only a few seconds.
    let shortIssuer: String?
    let api: String
    /// A free port for the loopback redirect. Two of the servers accept no other.
    let loopbackPort: UInt16
    /// The public clients, each named after the algorithm of its ID tokens.
    let clients: [String]
    /// Clients whose ID tokens must be refused.
    let refusedClients: [String]?
    /// A client with a secret, if the server revokes no token of a public one.
    let confidentialClient: String?
    let secret: String?
    let password: String

    /// A redirect that no program on this machine handles, like a URL that the system opens in an app.
    static let claimedURL = "https://app.example.com/callback"

    /// The registration of a client.
    func client(_ name: String) -> OAuthClient {
        let isConfidential = name == confidentialClient || refusedClients?.contains(name) == true && name == "HS256"
        return OAuthClient(id: name, secret: isConfidential ? secret.map { Secret($0) } : nil)
    }

    func server(
        client name: String, redirect: OAuthServer.Redirect = .claimed(OAuthSite.claimedURL)
    ) -> OAuthServer {
        OAuthServer(issuer: issuer, client: client(name), redirect: redirect)
    }

    func manager(
        of server: OAuthServer, sessionEnd: SessionEndRule = .code("invalid_grant")
    ) -> TokenManager {
        TokenManager(baseURL: BaseURL(api), store: .inMemory, oauth: server, sessionEnd: sessionEnd)
    }
}

extension OAuthRigServer {
    /// The arguments of the server's program.
    /// - Parameter lifetime: The lifetime, in seconds, of the access tokens of the issuer with short-lived tokens.
    func arguments(in folder: String, lifetime: Int) -> [String] {
        let script = "\(folder)/\(rawValue).py"
        return self == .glewlwyd
            ? [script, "\(lifetime)", OAuthSite.claimedURL] : [script, OAuthSite.claimedURL]
    }
}
