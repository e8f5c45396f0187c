#if canImport(CryptoKit) || Encryption
    internal import Martlet

    extension OAuthError {
        /// A failed check of an ID token.
        /// - Parameter place: The issuer of the token, or the place of its keys.
        init(failed check: IDTokenCheck, at place: String) {
            self.init(.idToken(check), "The ID token from \(place) was refused: \(check.complaint).")
        }
    }

    extension OAuthError.IDTokenCheck {
        /// A part of a sentence for developers.
        fileprivate var complaint: String {
            switch self {
            case .presence: "the token response has none, although the scope has openid"
            case .format: "it is not a signed token in compact form of at most \(SignedToken.maximumSize) bytes"
            case .duplicateMember: "an object in it has two members with the same name"
            case .critical: "it needs an extension (crit)"
            case .algorithm:
                "its algorithm is not one of \(SigningAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")), or the server"
                    + " does not list it. Change the algorithm in the client's registration"
            case .key: "the server publishes no key for it"
            case .severalKeys: "several keys match. The server must name one (kid)"
            case .weakKey: "its RSA key is not a key of \(VerificationKey.modulusSizes.lowerBound) or more bits"
            case .signature: "its signature is wrong"
            case .issuer: "iss is another server"
            case .subject: "sub is missing, too long, or a different user than before"
            case .audience: "aud does not name this client, or has changed"
            case .authorizedParty: "azp is another client, or missing beside several audiences"
            case .expiry: "exp is missing or has passed. Check the clock of this device"
            case .issueTime: "iat is missing or in the future. Check the clock of this device"
            case .notBefore: "nbf is in the future. Check the clock of this device"
            case .nonce: "nonce is not that of this sign-in"
            case .accessTokenHash: "at_hash is not that of the access token"
            case .authenticationTime: "auth_time is missing, or older than the sign-in allows"
            case .authenticationClass: "acr is not one of the values that the sign-in requires"
            }
        }
    }
#endif
