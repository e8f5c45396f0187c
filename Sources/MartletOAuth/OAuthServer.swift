#if canImport(CryptoKit) || Encryption
    public import Martlet

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// A server at which users sign in with a browser: an OpenID provider, or another OAuth 2.0 authorization server.
    ///
    /// ```swift
    /// let id = OAuthServer(
    ///     issuer: "https://id.example.com", client: OAuthClient(id: "example-app"),
    ///     redirect: .appScheme("com.example.app:/callback"))
    /// let tokens = TokenManager(
    ///     baseURL: "https://api.example.com", store: .platformDefault(service: "com.example.app"), oauth: id)
    /// ```
    ///
    /// Its endpoints are discovered when they are first needed, and kept for the life of this object, so share one
    /// object. <doc:SignInWithABrowser> shows the ways to sign in.
    public final class OAuthServer: Sendable {
        /// The URI that the server redirects the browser to after the sign-in, as it is registered there (RFC 8252,
        /// section 7).
        public struct Redirect: Sendable, Hashable {
            enum Kind: Sendable, Hashable {
                case fixed(String)
                case loopback(port: UInt16, path: String)
            }

            let kind: Kind

            /// A URI whose scheme belongs to the app: `com.example.app:/callback`.
            public static func appScheme(_ uri: String) -> Redirect { Redirect(kind: .fixed(uri)) }

            /// An `https` URL that the system opens in the app, or that a web server handles.
            public static func claimed(_ url: String) -> Redirect { Redirect(kind: .fixed(url)) }

            /// `http://127.0.0.1:PORT/callback`, for commands and apps on macOS and Linux.
            /// - Parameters:
            ///   - port: The port; 0 for any free port. Servers must accept every port (RFC 8252, section 7.3), but not
            ///     all do.
            ///   - path: The path, percent-encoded and without a query. With any other, a sign-in throws
            ///     ``OAuthError/Kind/unsupported``.
            public static func loopback(port: UInt16 = 0, path: String = "/callback") -> Redirect {
                Redirect(kind: .loopback(port: port, path: path.hasPrefix("/") ? path : "/" + path))
            }
        }

        let issuer: String
        let client: OAuthClient
        let redirect: Redirect
        let link: ServerLink
        let discovery: Discovery
        let keys: KeyStore

        /// Creates a server.
        /// - Parameters:
        ///   - issuer: The server's issuer identifier, exactly as its metadata spells it. An `https` URL, or an `http`
        ///     URL that points to this machine.
        ///   - client: The app's registration at the server.
        ///   - redirect: The redirect URI that is registered there.
        ///   - transport: Sends the requests to the server, over the transport that
        ///     ``/Martlet/Transport/makeIsolatedTransport()`` returns. Of these requests, only the one to the userinfo
        ///     endpoint carries an access token.
        ///   - time: The clocks; the system's if `nil`.
        public init(
            issuer: String, client: OAuthClient, redirect: Redirect, transport: any Transport = .platformDefault,
            time: (any TimeSource)? = nil
        ) {
            self.issuer = issuer
            self.client = client
            self.redirect = redirect
            link = ServerLink(transport: transport.makeIsolatedTransport(), time: time ?? .system)
            discovery = Discovery(of: issuer, over: link)
            keys = KeyStore(over: link)
        }
    }
#endif
