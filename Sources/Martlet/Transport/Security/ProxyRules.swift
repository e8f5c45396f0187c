/// The rules that choose the proxy of a request.
struct ProxyRules: Sendable {
    var https: ProxyServer?
    var http: ProxyServer?
    var exceptions: [ProxyException]

    /// The proxy for an origin; `nil` if it is reached directly.
    /// - Parameter host: A normalized host.
    func server(scheme: String, host: String, port: Int) -> ProxyServer? {
        guard let server = scheme == "https" ? https : http, !exceptions.contains(where: { $0.covers(host, port) })
        else { return nil }
        return server
    }
}

extension ProxyRules {
    /// The rules of ``ProxySettings/environment``.
    init(environment: [String: String]) throws(TransportSettingsError) {
        func value(_ names: String...) -> (name: String, value: String)? {
            for name in names {
                // An empty variable disables the proxy, even if the next name has a value.
                if let value = environment[name] { return value.isEmpty ? nil : (name, value) }
            }
            return nil
        }
        func server(_ variable: (name: String, value: String)?) throws(TransportSettingsError) -> ProxyServer? {
            guard let variable else { return nil }
            return try ProxyServer(url: variable.value, of: variable.name)
        }
        let general = value("all_proxy", "ALL_PROXY")
        let secure = environment["https_proxy"] ?? environment["HTTPS_PROXY"]
        self.https = try server(secure == nil ? general : value("https_proxy", "HTTPS_PROXY"))
        self.http = try server(environment["http_proxy"] == nil ? general : value("http_proxy"))
        self.exceptions = []
        for entry in (value("no_proxy", "NO_PROXY")?.value ?? "").split(whereSeparator: { $0 == "," || $0 == " " }) {
            exceptions.append(try ProxyException(String(entry)))
        }
    }
}

extension ProxyServer {
    /// Parses the URL of a proxy. Errors name the variable and not its value, which may contain a password.
    init(url: String, of variable: String) throws(TransportSettingsError) {
        var rest = url[...]
        var kind = Kind.http
        if let end = rest.firstRange(of: "://") {
            switch rest[..<end.lowerBound].lowercased() {
            case "http": kind = .http
            case "socks5", "socks5h", "socks": kind = .socks5
            case "https":
                throw .unsupported("\(variable) names a proxy that is reached over TLS, which is not supported.")
            default: throw .unsupported("\(variable) has a scheme other than http and socks5.")
            }
            rest = rest[end.upperBound...]
        }
        rest = rest.prefix { $0 != "/" }
        var user: String?
        var password: Secret?
        if let at = rest.lastIndex(of: "@") {
            let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = PercentEncoding.decode(String(parts[0]))
            password = parts.count > 1 ? Secret(PercentEncoding.decode(String(parts[1]))) : nil
            rest = rest[rest.index(after: at)...]
        }
        guard let address = HostAndPort(rest, defaultPort: kind == .http ? 80 : 1080) else {
            throw .invalidProxy("\(variable) has no valid host and port.")
        }
        self.init(kind: kind, host: address.host, port: address.port, user: user, password: password)
        do { try validate() } catch {
            if case .unsupported = error { throw error }
            throw .invalidProxy("\(variable) is not a valid proxy.")
        }
    }
}

/// The host and port of an authority, with the host normalized for comparison.
struct HostAndPort: Sendable, Hashable {
    var host: String
    var port: Int

    init?(_ authority: some StringProtocol, defaultPort: Int) {
        var host = Substring(authority)
        var port = defaultPort
        let end = host.lastIndex(of: "]") ?? host.startIndex
        if let colon = host[end...].lastIndex(of: ":") {
            let digits = host[host.index(after: colon)...]
            guard let number = digits.isEmpty ? defaultPort : Int(digits), (1...65535).contains(number) else {
                return nil
            }
            port = number
            host = host[..<colon]
        }
        guard host.hasPrefix("[") == host.hasSuffix("]"), let name = PinnedHost.normalized(host) else { return nil }
        self.host = name
        self.port = port
    }
}
