#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The proxy of a transport.
///
/// ```swift
/// let transport = try AsyncHTTPClientTransport(tls: .system, proxy: .http(host: "proxy.example.com", port: 3128))
/// ```
public struct ProxySettings: Sendable {
    private enum Content: Sendable {
        case server(ProxyServer, except: [String])
        case environment
    }

    private let content: Content

    /// An HTTP proxy, which is asked to `CONNECT` to each server (RFC 9110, section 9.3.6). For `https` it carries
    /// encrypted bytes only and sees no token.
    /// - Parameters:
    ///   - host: The host of the proxy.
    ///   - port: Its port.
    ///   - user: The user name for the proxy. It goes to the proxy without encryption (Basic, RFC 7617).
    ///   - password: The password for the proxy.
    ///   - hosts: The hosts that are reached without the proxy, such as `localhost`, `10.0.0.0/8`, or `example.com`,
    ///     which also covers its subdomains.
    public static func http(
        host: String, port: Int, user: String? = nil, password: Secret? = nil, except hosts: [String] = []
    ) -> ProxySettings {
        ProxySettings(
            content: .server(
                ProxyServer(kind: .http, host: host, port: port, user: user, password: password), except: hosts))
    }

    /// A SOCKS proxy of version 5 without authentication (RFC 1928). It also looks up the names of the servers.
    /// - Parameters:
    ///   - host: The host of the proxy.
    ///   - port: Its port.
    ///   - hosts: The hosts that are reached without the proxy, as for ``http(host:port:user:password:except:)``.
    public static func socks5(host: String, port: Int = 1080, except hosts: [String] = []) -> ProxySettings {
        ProxySettings(content: .server(ProxyServer(kind: .socks5, host: host, port: port), except: hosts))
    }

    /// The proxies that the environment names when the transport is created: `https_proxy` for `https`, `http_proxy`
    /// for `http`, and `all_proxy` for both if they are missing. `no_proxy` lists the exceptions, separated by commas;
    /// `*` means all hosts.
    ///
    /// The names may also be in upper case, except `HTTP_PROXY`, which a web server may set from a header field of its
    /// client (CVE-2016-5385). A proxy is a URL such as `http://user:password@proxy.example.com:3128` or
    /// `socks5://127.0.0.1:1080`. Without a scheme it is an HTTP proxy. The default port is 80, and 1080 for SOCKS.
    public static let environment = ProxySettings(content: .environment)

    /// - Throws: ``TransportSettingsError/invalidProxy(_:)``.
    func rules(
        in environment: @autoclosure () -> [String: String] = ProcessInfo.processInfo.environment
    ) throws(TransportSettingsError) -> ProxyRules {
        switch content {
        case .server(let server, let exceptions):
            try server.validate()
            return ProxyRules(https: server, http: server, exceptions: try exceptions.map(ProxyException.init))
        case .environment:
            return try ProxyRules(environment: environment())
        }
    }
}

/// The address of a proxy, with the credentials for it.
struct ProxyServer: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case http
        case socks5
    }

    var kind: Kind
    /// Without the brackets of an IPv6 address.
    var host: String
    var port: Int
    var user: String?
    var password: Secret?

    func validate() throws(TransportSettingsError) {
        guard PinnedHost.normalized(host) != nil, !host.hasPrefix("[") else {
            throw .invalidProxy("\"\(host.prefix(100))\" is not the host of a proxy.")
        }
        guard (1...65535).contains(port) else { throw .invalidProxy("The port of the proxy is outside 1 to 65535.") }
        guard user != nil || password == nil else { throw .invalidProxy("The proxy has a password, but no user name.") }
        guard let user else { return }
        guard kind == .http else { throw .unsupported("A SOCKS proxy with a user name is not supported.") }
        guard !user.contains(":"),
            !(user + (password?.reveal() ?? "")).unicodeScalars.contains(where: { $0.value < 32 })
        else {
            throw .invalidProxy("The user name of the proxy has a colon, or it or the password a control character.")
        }
    }
}
