#if AsyncHTTPClient
    internal import AsyncHTTPClient
    internal import NIOCore
    internal import NIOSSL

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    extension TLSConfiguration {
        /// The system's authorities and TLS 1.2 or newer; NIOSSL alone would accept TLS 1.0.
        static var martlet: TLSConfiguration {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            return configuration
        }

        init(_ settings: TLSSettings) throws(TransportSettingsError) {
            try settings.validate()
            self = .martlet
            if settings.minimumVersion == .tls13 { minimumTLSVersion = .tlsv13 }
            switch settings.authorities {
            case .system: break
            case .systemAnd(let certificates): additionalTrustRoots = [.certificates(try Self.load(certificates))]
            case .only(let certificates): trustRoots = .certificates(try Self.load(certificates))
            }
            // Do not wait long for a refused server to confirm the end of TLS.
            if !settings.pins.isEmpty { shutdownTimeout = .seconds(1) }
            guard let identity = settings.identity else { return }
            try load(identity)
            do {
                // The context compares the private key with the certificate, which would otherwise happen in the first
                // handshake.
                _ = try NIOSSLContext(configuration: self)
            } catch {
                throw .invalidIdentity("The private key does not belong to the first certificate of the client.")
            }
        }

        private static func load(_ certificates: [TLSCertificate]) throws(TransportSettingsError) -> [NIOSSLCertificate]
        {
            do {
                return try certificates.map { try NIOSSLCertificate(bytes: [UInt8]($0.der), format: .der) }
            } catch {
                throw .invalidCertificate("A certificate cannot be read.")
            }
        }

        private mutating func load(_ identity: ClientIdentity) throws(TransportSettingsError) {
            switch identity.content {
            case .pem(let certificates, let key, let passphrase):
                certificateChain = try Self.load(certificates).map { .certificate($0) }
                do {
                    let bytes = Array(key.reveal().utf8)
                    privateKey = .privateKey(
                        try NIOSSLPrivateKey(bytes: bytes, format: .pem) { setter in
                            setter(Array((passphrase?.reveal() ?? "").utf8))
                        })
                } catch {
                    throw .invalidIdentity("The private key cannot be read, or its passphrase is missing or wrong.")
                }
            case .pkcs12(let file, let passphrase):
                do {
                    let bundle = try NIOSSLPKCS12Bundle(
                        buffer: [UInt8](file), passphrase: Array(passphrase.reveal().utf8))
                    certificateChain = bundle.certificateChain.map { .certificate($0) }
                    privateKey = .privateKey(bundle.privateKey)
                } catch {
                    throw .invalidIdentity("The PKCS#12 file cannot be read, or its passphrase is wrong.")
                }
            #if canImport(Security)
                case .keychain, .keychainReference:
                    throw .unsupported("Identities of the Keychain need URLSessionTransport.")
            #endif
            }
        }
    }

    extension HTTPClient.Configuration {
        /// Accepts only connections to servers that match a pin. async-http-client waits for these closures between the
        /// handshake and the first request.
        mutating func require(_ host: PinnedHost) {
            http1_1ConnectionDebugInitializer = Self.checked(host, before: http1_1ConnectionDebugInitializer)
            http2ConnectionDebugInitializer = Self.checked(host, before: http2ConnectionDebugInitializer)
        }

        private static func checked(
            _ host: PinnedHost, before next: (@Sendable (any Channel) -> EventLoopFuture<Void>)?
        ) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
            { channel in
                let certificate = try? channel.pipeline.syncOperations.nioSSL_peerCertificate()?.toDERBytes()
                if let certificate, host.accepts(Data(certificate), at: Date()) {
                    return next?(channel) ?? channel.eventLoop.makeSucceededVoidFuture()
                }
                // async-http-client does not close a connection that is refused here. Close it before the failure is
                // reported: in the other order async-http-client may trap, because its pool may be shut down by then.
                let refused = channel.closeFuture.flatMapThrowing { throw host.mismatch }
                channel.close(promise: nil)
                return refused
            }
        }
    }
#endif
