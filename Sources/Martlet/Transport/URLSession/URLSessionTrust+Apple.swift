#if !canImport(FoundationNetworking)
    internal import Foundation
    internal import Network
    internal import Security

    /// Checks the certificates of servers, and presents the client's.
    struct URLSessionTrust: Sendable {
        private let server: ServerTrust
        private let identity: URLCredential?

        /// - Throws: ``TransportSettingsError`` if an identity cannot be read, or the system is too old for a proxy.
        init?(
            _ tls: TLSSettings, _ proxy: ProxySettings?, configuring configuration: URLSessionConfiguration
        ) throws(TransportSettingsError) {
            self.server = ServerTrust(settings: tls)
            self.identity = try tls.identity.map { identity throws(TransportSettingsError) in
                try URLCredential.make(identity)
            }
            configuration.tlsMinimumSupportedProtocolVersion = tls.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
            guard let rules = try proxy?.rules() else { return }
            guard #available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *) else {
                throw .unsupported("A proxy for URLSession needs iOS 17, macOS 14, tvOS 17 or watchOS 10.")
            }
            configuration.proxyConfigurations = try Self.proxies(rules)
        }

        @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
        private static func proxies(_ rules: ProxyRules) throws(TransportSettingsError) -> [ProxyConfiguration] {
            guard rules.https == rules.http else {
                throw .unsupported("URLSession takes the same proxy for https and http.")
            }
            guard let server = rules.https, let port = NWEndpoint.Port(rawValue: UInt16(server.port)) else { return [] }
            let endpoint = NWEndpoint.hostPort(host: NWEndpoint.Host(server.host), port: port)
            var configuration =
                server.kind == .http
                ? ProxyConfiguration(httpCONNECTProxy: endpoint, tlsOptions: nil)
                : ProxyConfiguration(socksv5Proxy: endpoint)
            configuration.allowFailover = false
            if let user = server.user {
                configuration.applyCredential(username: user, password: server.password?.reveal() ?? "")
            }
            for exception in rules.exceptions {
                guard let domain = exception.domain else {
                    throw .unsupported("URLSession skips a proxy for names of hosts only, not for networks or ports.")
                }
                configuration.excludedDomains.append(domain)
            }
            return [configuration]
        }

        /// Responds to a challenge for the certificate of the server or the client.
        func respond(
            to challenge: URLAuthenticationChallenge, for exchange: URLSessionExchange?,
            _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodClientCertificate:
                guard let identity else { return completionHandler(.performDefaultHandling, nil) }
                completionHandler(.useCredential, identity)
            case NSURLAuthenticationMethodServerTrust:
                let judgement = server.judgement(for: space.host)
                if judgement == .system { return completionHandler(.performDefaultHandling, nil) }
                guard case .evaluate(let anchors, let onlyAnchors) = judgement, let trust = space.serverTrust,
                    Self.set(anchors, only: onlyAnchors, for: trust)
                else {
                    exchange?.fail(TransportError.tlsFailed("the server's certificate cannot be checked"))
                    return completionHandler(.cancelAuthenticationChallenge, nil)
                }
                evaluate(trust, for: space.host, exchange, completionHandler)
            default:
                completionHandler(.performDefaultHandling, nil)
            }
        }

        private static func set(_ anchors: [Data]?, only: Bool, for trust: SecTrust) -> Bool {
            guard let anchors else { return true }
            let certificates = anchors.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            return certificates.count == anchors.count
                && SecTrustSetAnchorCertificates(trust, certificates as CFArray) == errSecSuccess
                && SecTrustSetAnchorCertificatesOnly(trust, only) == errSecSuccess
        }

        private func evaluate(
            _ trust: SecTrust, for host: String, _ exchange: URLSessionExchange?,
            _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            // The evaluation may wait for the network. The queue must be the one on which it is started.
            let queue = DispatchQueue(label: "martlet.trust")
            queue.async { [trust = UncheckedTrust(trust)] in
                let status = SecTrustEvaluateAsyncWithError(trust.value, queue) { evaluated, isTrusted, _ in
                    let chain: CFTypeRef? = SecTrustCopyCertificateChain(evaluated)
                    let leaf = (chain as? [SecCertificate])?.first.map { SecCertificateCopyData($0) as Data }
                    if let refusal = server.verdict(isTrusted: isTrusted, leaf: leaf, for: host, at: Date()) {
                        exchange?.fail(refusal)
                        completionHandler(.cancelAuthenticationChallenge, nil)
                    } else {
                        completionHandler(.useCredential, URLCredential(trust: evaluated))
                    }
                }
                guard status != errSecSuccess else { return }
                exchange?.fail(TransportError.tlsFailed("the server's certificate cannot be checked"))
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
        }

        /// `@unchecked Sendable` is right because the trust belongs to one challenge, which hands it to one queue and
        /// does not use it afterwards.
        private struct UncheckedTrust: @unchecked Sendable {
            let value: SecTrust

            init(_ value: SecTrust) { self.value = value }
        }
    }

    extension URLCredential {
        fileprivate static func make(_ identity: ClientIdentity) throws(TransportSettingsError) -> URLCredential {
            switch identity.content {
            case .pem:
                throw .unsupported(
                    "URLSession takes no private key in PEM. Convert it with openssl pkcs12 -export, or store the identity "
                        + "in the Keychain.")
            case .pkcs12(let file, let passphrase):
                return try imported(file, passphrase)
            case .keychain(let label):
                return try stored([kSecAttrLabel as String: label])
            case .keychainReference(let reference):
                return try stored([kSecValuePersistentRef as String: reference])
            }
        }

        private static func imported(
            _ file: Data, _ passphrase: Secret
        ) throws(TransportSettingsError) -> URLCredential {
            var options: [String: Any] = [kSecImportExportPassphrase as String: passphrase.reveal()]
            #if os(macOS)
                // Otherwise the identity is added to the user's keychain.
                if #available(macOS 15, *) { options[kSecImportToMemoryOnly as String] = true }
            #endif
            var items: CFArray?
            let status = SecPKCS12Import(file as CFData, options as CFDictionary, &items)
            let imported: CFTypeRef? = items
            guard status == errSecSuccess, let item = (imported as? [[String: AnyObject]])?.first,
                let identity = identity(item[kSecImportItemIdentity as String])
            else { throw .invalidIdentity("The PKCS#12 file cannot be read, or its passphrase is wrong (\(status)).") }
            let chain = item[kSecImportItemCertChain as String] as? [Any] ?? []
            // The identity contains the first certificate of the chain.
            return URLCredential(
                identity: identity, certificates: Array(chain.dropFirst()), persistence: .forSession)
        }

        private static func stored(_ attributes: [String: Any]) throws(TransportSettingsError) -> URLCredential {
            var query = attributes
            query[kSecClass as String] = kSecClassIdentity
            query[kSecReturnRef as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status == errSecSuccess, let identity = identity(found) else {
                throw .invalidIdentity("The Keychain has no such identity, or it cannot be read (\(status)).")
            }
            return URLCredential(identity: identity, certificates: nil, persistence: .forSession)
        }

        /// Swift cannot check the type of a Core Foundation value, so its type ID is compared.
        private static func identity(_ value: CFTypeRef?) -> SecIdentity? {
            guard let value, CFGetTypeID(value) == SecIdentityGetTypeID() else { return nil }
            return unsafeDowncast(value, to: SecIdentity.self)
        }
    }
#endif
