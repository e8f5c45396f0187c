#if canImport(FoundationNetworking) && (!os(Linux) || URLSession || !AsyncHTTPClient)
    internal import Foundation
    internal import FoundationNetworking

    /// The settings of a session. FoundationNetworking has no challenge for certificates, ignores the minimum version
    /// of TLS and the proxies of its configuration, and reads its authorities from the environment.
    struct URLSessionTrust: Sendable {
        /// - Throws: ``TransportSettingsError/unsupported(_:)`` unless the settings change nothing.
        init?(
            _ tls: TLSSettings, _ proxy: ProxySettings?, configuring configuration: URLSessionConfiguration
        ) throws(TransportSettingsError) {
            guard tls.isDefault else {
                throw .unsupported(
                    "URLSession on Linux has no settings for TLS. Use AsyncHTTPClientTransport (trait AsyncHTTPClient)."
                )
            }
            guard proxy == nil else {
                throw .unsupported(
                    "URLSession on Linux has no settings for proxies. Use AsyncHTTPClientTransport (trait "
                        + "AsyncHTTPClient).")
            }
            return nil
        }

        func respond(
            to challenge: URLAuthenticationChallenge, for exchange: URLSessionExchange?,
            _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            completionHandler(.performDefaultHandling, nil)
        }
    }
#endif
