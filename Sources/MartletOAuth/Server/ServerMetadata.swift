#if canImport(CryptoKit) || Encryption
    internal import Martlet

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// The server's description of itself (RFC 8414, section 2; OpenID Connect Discovery 1.0, section 3).
    struct ServerMetadata: Sendable, Hashable {
        let authorizationEndpoint: String
        let tokenEndpoint: String
        let keysURL: String?
        let userinfoEndpoint: String?
        let revocationEndpoint: String?
        let logoutEndpoint: String?
        let pushEndpoint: String?
        /// Whether the server accepts only requests that were pushed to it (RFC 9126, section 5).
        let requiresPush: Bool
        /// Whether each callback has an `iss` (RFC 9207, section 3).
        let promisesIssuer: Bool
        /// Whether requests can ask for essential claims.
        let readsClaims: Bool
        /// The algorithms of ID tokens; `nil` if the server lists none.
        let algorithms: [String]?
        /// The transformations of a code verifier; `nil` if the server lists none.
        let challengeMethods: [String]?

        /// Reads the metadata.
        /// - Parameters:
        ///   - issuer: The issuer that the app has named.
        ///   - url: The place of the metadata, for errors.
        init(_ document: Data, of issuer: String, at url: String) throws(OAuthError) {
            func problem(_ text: String) -> OAuthError { OAuthError(.discovery, "The metadata at \(url) \(text)") }
            let value: StrictJSON
            do throws(StrictJSON.Fault) {
                value = try StrictJSON(document)
            } catch {
                throw problem("is not a JSON document with unique names. Check the issuer \(issuer).")
            }
            guard let members = value.members else {
                throw problem("is not a JSON object. Check the issuer \(issuer).")
            }
            // Otherwise a server could pose as another one (RFC 8414, section 3.3).
            guard let found = members["issuer"]?.string, found.isIdentical(to: issuer) else {
                throw problem(
                    "belongs to another issuer than \(issuer). Write the issuer exactly as the server spells it.")
            }
            if let name = Self.unacceptableEndpoint(in: members, of: issuer) {
                throw problem("has no https URL as its \(name). Ask the server's operator.")
            }
            guard let authorization = members["authorization_endpoint"]?.string,
                let token = members["token_endpoint"]?.string
            else {
                throw problem(
                    "has no authorization_endpoint or no token_endpoint. Users cannot sign in there with a browser.")
            }
            authorizationEndpoint = authorization
            tokenEndpoint = token
            keysURL = members["jwks_uri"]?.string
            userinfoEndpoint = members["userinfo_endpoint"]?.string
            revocationEndpoint = members["revocation_endpoint"]?.string
            logoutEndpoint = members["end_session_endpoint"]?.string
            pushEndpoint = members["pushed_authorization_request_endpoint"]?.string
            requiresPush = members["require_pushed_authorization_requests"]?.isTrue ?? false
            promisesIssuer = members["authorization_response_iss_parameter_supported"]?.isTrue ?? false
            readsClaims = members["claims_parameter_supported"]?.isTrue ?? false
            algorithms = members["id_token_signing_alg_values_supported"]?.strings
            challengeMethods = members["code_challenge_methods_supported"]?.strings
        }

        /// The name of an endpoint that may not be used.
        private static func unacceptableEndpoint(in members: [String: StrictJSON], of issuer: String) -> String? {
            let isLocal = Origin(issuer)?.isLoopback ?? false
            return members.first { name, value in
                guard name.hasSuffix("_endpoint") || name == "jwks_uri", value != .null else { return false }
                return value.string.map { !isAcceptable($0, isLocal: isLocal) } ?? true
            }?.key
        }

        /// Whether a URL is https and has no fragment. If the server is on this machine, its endpoints on this machine
        /// need no TLS.
        static func isAcceptable(_ url: String, isLocal: Bool) -> Bool {
            guard let origin = Origin(url), !url.utf8.contains(UInt8(ascii: "#")) else { return false }
            return origin.scheme == "https" || isLocal && origin.isLoopback
        }
    }
#endif
