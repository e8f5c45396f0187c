#if canImport(CryptoKit) || Encryption
    #if os(macOS) || os(Linux)
        internal import Martlet
        internal import MartletStorage

        #if canImport(FoundationEssentials)
            public import FoundationEssentials
        #else
            public import Foundation
        #endif

        extension OAuthBrowser {
            /// The user's browser, with a listener on 127.0.0.1 for the callback. For commands and apps on macOS and
            /// Linux (RFC 8252, section 7.3).
            ///
            /// The redirect URI is that of ``OAuthServer/Redirect/loopback(port:path:)``, or
            /// `http://127.0.0.1:PORT/callback` with a free port if the server has another redirect. The browser then
            /// shows a page that says that its window can be closed.
            /// - Parameters:
            ///   - limit: The time for the user to sign in. After that, the sign-in ends with
            ///     ``OAuthError/Kind/cancelled``.
            ///   - open: Opens a URL in the browser. By default, `open` on macOS and `xdg-open` on Linux, without a
            ///     shell; if there is none, the sign-in ends with ``OAuthError/Kind/noBrowser``.
            public static func loopback(
                limit: Duration = .seconds(600), opening open: (@Sendable (URL) async throws -> Void)? = nil
            ) -> OAuthBrowser {
                if let open { return loopback(limit: limit, time: .system, hidesURL: false, opening: open) }
                return loopback(limit: limit, time: .system, hidesURL: true) { url in
                    try await SystemBrowser().open(url)
                }
            }

            /// - Parameter hidesURL: Whether the browser first opens a page of the listener that redirects to the
            ///   server. Other users of the machine can read the arguments of a process, and the server's URL contains
            ///   the state or an ID token.
            static func loopback(
                limit: Duration, time: any TimeSource, hidesURL: Bool,
                opening show: @escaping @Sendable (URL) async throws -> Void
            ) -> OAuthBrowser {
                OAuthBrowser { redirect in
                    let (port, path) = try redirect.loopback()
                    let listener = try await LoopbackListener.listen(on: port)
                    let uri = OAuthServer.Redirect.loopbackURI(port: listener.port, path: path)
                    return BrowserVisit(redirectURI: uri) { url, state in
                        let host = listener.port == 80 ? "127.0.0.1" : "127.0.0.1:\(listener.port)"
                        var expected = LoopbackRequest.Expectation(host: host, path: path, state: state)
                        var opened = url
                        if hidesURL, let page = URL(string: "http://\(host)/start-\(randomText().reveal())") {
                            expected.start = LoopbackRequest.Start(path: page.path, location: url.absoluteString)
                            opened = page
                        }
                        let result = await TimeLimits(time: time, keepsSleeper: false).run(within: limit) {
                            [expected, opened] in
                            try await listener.callback(expected) { try await show(opened) }
                        }
                        if case .failure(is TimeLimitError) = result {
                            throw OAuthError(.cancelled, "The browser has not come back to \(uri) in time. Try again.")
                        }
                        // Browsers send some characters that a URL must not contain. Foundation would escape the
                        // escapes of such a query, too.
                        let query = PercentEncoding.encodePath(try result.get(), allowing: "?")
                        guard let callback = URL(string: uri + "?" + query) else {
                            throw OAuthError(.invalidCallback, "The callback to \(uri) is no URL. Begin a new sign-in.")
                        }
                        return callback
                    } close: {
                        listener.close()
                    }
                }
            }
        }

        extension OAuthServer.Redirect {
            fileprivate func loopback() throws(OAuthError) -> (port: UInt16, path: String) {
                guard case .loopback(let port, let path) = kind else { return (0, "/callback") }
                try Self.checkLoopbackPath(path)
                return (port, path)
            }
        }
    #endif
#endif
