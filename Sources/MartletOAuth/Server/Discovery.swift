#if canImport(CryptoKit) || Encryption
    internal import Martlet
    internal import MartletStorage

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Fetches the server's metadata once for all callers, and keeps it after the first success.
    final class Discovery: Sendable {
        private let issuer: String
        private let link: ServerLink
        private let found = Locked<ServerMetadata?>(nil)
        private let flight: SingleFlight<Result<ServerMetadata, OAuthError>>

        init(of issuer: String, over link: ServerLink) {
            self.issuer = issuer
            self.link = link
            flight = SingleFlight(time: link.time, outlivesCallers: false)
        }

        /// The metadata.
        /// - Throws: ``OAuthError/Kind/discovery``, or ``OAuthError/Kind/cancelled``.
        func metadata() async throws(OAuthError) -> ServerMetadata {
            if let metadata = found.withLock({ $0 }) { return metadata }
            let result = await flight.run { [issuer, link, found] in
                // A flight that has just ended may have found the metadata.
                if let metadata = found.withLock({ $0 }) { return .success(metadata) }
                do throws(OAuthError) {
                    let metadata = try await Self.fetch(issuer, over: link)
                    found.withLock { $0 = metadata }
                    return .success(metadata)
                } catch {
                    return .failure(error)
                }
            }
            guard let result else { throw OAuthError(.cancelled, "The discovery of \(issuer) was cancelled.") }
            return try result.get()
        }

        /// The revocation endpoint; `nil` if the server has none.
        ///
        /// OpenID Connect Discovery has no member for it. Django OAuth Toolkit 3.4 names it only in the metadata of RFC
        /// 8414, so this method reads that metadata too.
        /// - Throws: ``OAuthError/Kind/discovery``, or ``OAuthError/Kind/cancelled``.
        func revocationEndpoint() async throws(OAuthError) -> String? {
            if let endpoint = try await metadata().revocationEndpoint { return endpoint }
            let url = Self.places(of: issuer)[1]
            let response = try await link.get(url, as: .discovery)
            // Nothing is known about the server's endpoints if it could not respond.
            if response.status >= 500 || [408, 429].contains(response.status) {
                throw Self.unexpected(response, from: url)
            }
            guard response.status == 200 else { return nil }
            return try? ServerMetadata(response.body, of: issuer, at: url).revocationEndpoint
        }

        private static func fetch(_ issuer: String, over link: ServerLink) async throws(OAuthError) -> ServerMetadata {
            guard ServerMetadata.isAcceptable(issuer, isLocal: true), !issuer.utf8.contains(UInt8(ascii: "?")) else {
                throw OAuthError(
                    .discovery, "The issuer \(issuer) is no https URL without query and fragment. Correct the issuer.")
            }
            var failure: OAuthError?
            for url in places(of: issuer) {
                let response = try await link.get(url, as: .discovery)
                // A server may publish the metadata in only one of the places. It may redirect other paths to its login,
                // and a single-page app responds to every unknown path with its page.
                if response.isMissingDocument || response.status == 200 && !response.isJSONObject {
                    failure = failure ?? unexpected(response, from: url)
                } else if response.status == 200 {
                    return try ServerMetadata(response.body, of: issuer, at: url)
                } else {
                    throw unexpected(response, from: url)
                }
            }
            throw failure ?? OAuthError(.discovery, "The issuer \(issuer) has no metadata.")
        }

        private static func unexpected(_ response: ServerResponse, from url: String) -> OAuthError {
            OAuthError(
                .discovery,
                "\(url) responded with \(response.status) instead of the server's metadata. Check the issuer.",
                userText: response.status >= 500 ? .serverTrouble : nil)
        }

        /// The URLs of the metadata. OpenID Connect Discovery 1.0, section 4, appends its path to the issuer's path;
        /// RFC 8414, section 3, inserts its own path before it.
        static func places(of issuer: String) -> [String] {
            let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
            let authority = base.firstRange(of: "://").map { base[$0.upperBound...] } ?? base[...]
            let slash = authority.firstIndex(of: "/") ?? base.endIndex
            return [
                base + "/.well-known/openid-configuration",
                base[..<slash] + "/.well-known/oauth-authorization-server" + base[slash...],
            ]
        }
    }

    extension ServerResponse {
        /// Whether the server has no document at the URL; a 408 or 429 says nothing about that.
        fileprivate var isMissingDocument: Bool {
            (300..<500).contains(status) && status != 408 && status != 429
        }

        fileprivate var isJSONObject: Bool {
            body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
        }
    }
#endif
