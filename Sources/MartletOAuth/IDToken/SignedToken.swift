#if canImport(CryptoKit) || Encryption
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// An algorithm that may sign an ID token. There is no `none` and no HMAC, whatever a server lists: with HMAC,
    /// anyone who can verify a token can also make one (RFC 8725, section 3.1).
    enum SigningAlgorithm: String, Sendable, CaseIterable {
        case rs256 = "RS256"
        case ps256 = "PS256"
        case es256 = "ES256"
        case es384 = "ES384"
        case edDSA = "EdDSA"
    }

    /// A failed check of an ID token.
    struct FailedCheck: Error, Hashable {
        let check: OAuthError.IDTokenCheck

        init(_ check: OAuthError.IDTokenCheck) {
            self.check = check
        }
    }

    /// A signed token in its compact form (RFC 7515, section 3.1), whose signature has not been verified.
    struct SignedToken: Sendable {
        let algorithm: SigningAlgorithm
        /// `kid` of the header.
        let keyID: String?
        /// The bytes that the signature covers.
        let signedBytes: Data
        let signature: Data
        let claims: [String: StrictJSON]
        /// The claims as they were written.
        let payload: Data

        /// The size limit of a token, and of its header, in bytes.
        static let maximumSize = 64 << 10
        static let maximumHeaderSize = 4 << 10
        /// The size of the largest signature, that of an RSA key with 8192 bits.
        static let maximumSignatureSize = 1024

        init(_ text: String) throws(FailedCheck) {
            let bytes = Array(text.utf8)
            let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard bytes.count <= Self.maximumSize, parts.count == 3, parts[0].count <= Self.maximumHeaderSize,
                let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
                let signature = Base64URL.decode(parts[2]), signature.count <= Self.maximumSignatureSize
            else { throw FailedCheck(.format) }
            let fields = try Self.object(header)
            // No extension is supported, so none may be critical (RFC 7515, section 4.1.11).
            guard fields["crit"] == nil else { throw FailedCheck(.critical) }
            guard let name = fields["alg"]?.string else { throw FailedCheck(.algorithm) }
            guard let algorithm = SigningAlgorithm.allCases.first(where: { $0.rawValue.isIdentical(to: name) }) else {
                throw FailedCheck(.algorithm)
            }
            keyID = try fields["kid"].map { (value) throws(FailedCheck) in
                guard let keyID = value.string else { throw FailedCheck(.format) }
                return keyID
            }
            claims = try Self.object(payload)
            self.algorithm = algorithm
            self.payload = Data(payload)
            self.signature = Data(signature)
            signedBytes = Data(bytes[..<parts[1].endIndex])
        }

        /// The claims of a token, whatever its header says.
        /// - Returns: `nil` if the text is not a token.
        static func claims(of text: String) -> [String: StrictJSON]? {
            let bytes = Array(text.utf8)
            let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard bytes.count <= maximumSize, parts.count == 3, let payload = Base64URL.decode(parts[1]) else {
                return nil
            }
            return try? object(payload)
        }

        private static func object(_ bytes: [UInt8]) throws(FailedCheck) -> [String: StrictJSON] {
            let value: StrictJSON
            do throws(StrictJSON.Fault) {
                value = try StrictJSON(bytes)
            } catch {
                throw FailedCheck(error == .duplicateMember ? .duplicateMember : .format)
            }
            guard let members = value.members else { throw FailedCheck(.format) }
            return members
        }
    }
#endif
