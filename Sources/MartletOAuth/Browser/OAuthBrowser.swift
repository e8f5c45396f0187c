#if canImport(CryptoKit) || Encryption
    internal import Martlet

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Opens a page in the user's browser and receives the callback.
    public struct OAuthBrowser: Sendable {
        /// Prepares one visit, so that its redirect URI is known before the browser is opened.
        private let prepare: @Sendable (OAuthServer.Redirect) async throws -> BrowserVisit

        init(prepare: @escaping @Sendable (OAuthServer.Redirect) async throws -> BrowserVisit) {
            self.prepare = prepare
        }

        /// A browser that a closure opens. The redirect URI must be known beforehand.
        init(_ open: @escaping @Sendable (URL) async throws -> URL) {
            self.init { redirect in
                BrowserVisit(redirectURI: try redirect.fixedURI()) { url, _ in try await open(url) }
            }
        }

        func begin(_ redirect: OAuthServer.Redirect) async throws(OAuthError) -> BrowserVisit {
            do {
                return try await prepare(redirect)
            } catch {
                throw OAuthError(ofBrowser: error)
            }
        }
    }

    /// One visit of the browser to the server.
    struct BrowserVisit: Sendable {
        let redirectURI: String
        private let visit: @Sendable (URL, Secret) async throws -> URL
        /// Stops waiting for the callback.
        let close: @Sendable () -> Void

        init(
            redirectURI: String, _ visit: @escaping @Sendable (URL, Secret) async throws -> URL,
            close: @escaping @Sendable () -> Void = {}
        ) {
            self.redirectURI = redirectURI
            self.visit = visit
            self.close = close
        }

        /// Opens a page of the server.
        /// - Parameter state: The `state` that the callback must have. Callbacks without it may be ignored.
        /// - Returns: The callback.
        func open(_ url: URL, _ state: Secret) async throws(OAuthError) -> URL {
            do {
                return try await visit(url, state)
            } catch {
                throw OAuthError(ofBrowser: error)
            }
        }
    }

    extension OAuthError {
        fileprivate init(ofBrowser error: any Error) {
            switch error {
            case let error as OAuthError: self = error
            case is CancellationError: self.init(.cancelled, "The visit to the sign-in server was cancelled.")
            // The error's text may contain the callback, and with it the code.
            default: self.init(noBrowser: "The browser failed with \(type(of: error)).")
            }
        }

        /// - Parameter reason: A sentence.
        init(noBrowser reason: String) {
            self.init(
                .noBrowser,
                "\(reason) Sign in where there is a browser. A device without one needs the device flow (RFC 8628), which"
                    + " Martlet does not have: get the tokens by it, and pass them to TokenManager.signIn(with:account:)."
            )
        }
    }
#endif
