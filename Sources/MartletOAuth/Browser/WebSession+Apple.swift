#if canImport(CryptoKit) || Encryption
    #if os(iOS) || os(macOS) || os(visionOS)
        public import AuthenticationServices
        internal import Foundation
        internal import Martlet
        internal import MartletStorage

        extension OAuthBrowser {
            /// The system's sheet for sign-ins (`ASWebAuthenticationSession`), which shares the browser's cookies.
            ///
            /// The redirect is an app's scheme, or with iOS 17.4, macOS 14.4 or visionOS 1.1 a claimed URL.
            /// - Parameters:
            ///   - anchor: The window that the sheet belongs to.
            ///   - isEphemeral: Whether the sheet starts without cookies and keeps none, so that the user signs in
            ///     anew.
            public static func webSession(anchor: ASPresentationAnchor, isEphemeral: Bool = false) -> OAuthBrowser {
                OAuthBrowser { redirect in
                    let uri = try redirect.fixedURI()
                    return BrowserVisit(redirectURI: uri) { url, _ in
                        try await WebSession(anchor: anchor, isEphemeral: isEphemeral).visit(url, comingBackTo: uri)
                    }
                }
            }
        }

        /// One visit of the system's sheet.
        @MainActor private final class WebSession: NSObject, ASWebAuthenticationPresentationContextProviding {
            private let anchor: ASPresentationAnchor
            private let isEphemeral: Bool
            private var session: ASWebAuthenticationSession?

            init(anchor: ASPresentationAnchor, isEphemeral: Bool) {
                self.anchor = anchor
                self.isEphemeral = isEphemeral
            }

            func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }

            func visit(_ url: URL, comingBackTo uri: String) async throws -> URL {
                // The system may call the handler on any thread. Whether it calls it after a cancellation is not
                // documented.
                let race = Race<URL>()
                let session = try Self.session(for: url, comingBackTo: uri, reportingTo: race)
                session.presentationContextProvider = self
                session.prefersEphemeralWebBrowserSession = isEphemeral
                self.session = session
                if !session.start() {
                    race.finish(.failure(OAuthError(noBrowser: "The system's sheet for sign-ins could not be shown.")))
                }
                let result = await withTaskCancellationHandler {
                    await withCheckedContinuation { race.wait($0) }
                } onCancel: {
                    race.finish(.failure(CancellationError()))
                }
                session.cancel()
                self.session = nil
                return try result.get()
            }

            private static func session(
                for url: URL, comingBackTo uri: String, reportingTo race: Race<URL>
            ) throws(OAuthError) -> ASWebAuthenticationSession {
                let report = handler(reportingTo: race)
                guard let components = URLComponents(string: uri), let scheme = components.scheme else {
                    throw OAuthError(.unsupported, "The redirect \(uri) is no URI. Correct it.")
                }
                guard scheme == "https" || scheme == "http" else {
                    return ASWebAuthenticationSession(url: url, callbackURLScheme: scheme, completionHandler: report)
                }
                guard #available(iOS 17.4, macOS 14.4, visionOS 1.1, *), scheme == "https", let host = components.host
                else {
                    throw OAuthError(
                        .unsupported,
                        "The sheet cannot come back to \(uri) on this system. Use an app's scheme, or beginSignIn and finish."
                    )
                }
                return ASWebAuthenticationSession(
                    url: url, callback: .https(host: host, path: components.path), completionHandler: report)
            }

            private nonisolated static func handler(
                reportingTo race: Race<URL>
            ) -> @Sendable (URL?, (any Error)?) -> Void {
                { callback, error in
                    let isCancelled = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
                    let failure = isCancelled ? CancellationError() : error ?? CancellationError()
                    race.finish(callback.map { .success($0) } ?? .failure(failure))
                }
            }
        }
    #endif
#endif
