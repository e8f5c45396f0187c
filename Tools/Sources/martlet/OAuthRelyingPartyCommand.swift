internal import ArgumentParser
internal import Foundation
internal import Martlet
internal import MartletOAuth

/// `martlet oauth-rp`: one sign-in at an OpenID provider.
struct OAuthRelyingPartyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oauth-rp", abstract: "Sign in once at an OpenID provider, as a relying party.",
        discussion: """
            For a provider that asks the user nothing, such as a client test of the OpenID Foundation's conformance suite: \
            without --browser, the command follows the redirects itself. Register http://127.0.0.1:PORT/callback there.

            Prints one line: "signed in" and the user's sub, or "refused" and the error. Exits with 0 only if the user \
            is signed in. A negative module of the suite expects 1.
            """)

    @Option(help: "The issuer, exactly as the provider's metadata spells it.")
    var issuer: String

    @Option(help: "The client's identifier.")
    var clientID: String

    @Option(help: "The client's secret, if it has one.")
    var clientSecret: String?

    @Option(help: "The port of the redirect URI.")
    var redirectPort: UInt16 = 8400

    @Option(help: "The scope, separated by spaces.")
    var scope = "openid"

    @Flag(help: "Ask the userinfo endpoint for the user's claims, too.")
    var userinfo = false

    @Flag(help: "Open the user's browser, which comes back to a listener on the redirect's port.")
    var browser = false

    @Option(help: "A PEM file of authorities to trust beside the system's, such as that of a suite on this machine.")
    var authority: String?

    func validate() throws {
        guard redirectPort != 0 || browser else {
            throw ValidationError("--redirect-port 0 needs --browser, whose listener gets a free port.")
        }
    }

    func run() async throws {
        let secret = clientSecret.map { Secret($0) }
        var party = RelyingParty(
            issuer: issuer, client: OAuthClient(id: clientID, secret: secret), port: redirectPort,
            transport: try transport())
        party.scope = scope.split(separator: " ").map(String.init)
        party.options.fetchesUserinfo = userinfo
        if browser { party.browser = .loopback() }
        let outcome = await party.signIn()
        Console(allowsColor: false).line("\(outcome)")
        if !outcome.isSignedIn { throw ExitCode.failure }
    }

    private func transport() throws -> any Transport {
        guard let authority else { return .platformDefault }
        var tls = TLSSettings.system
        tls.authorities = .systemAnd(try TLSCertificate.all(pem: String(contentsOfFile: authority, encoding: .utf8)))
        return try AsyncHTTPClientTransport(tls: tls)
    }
}
