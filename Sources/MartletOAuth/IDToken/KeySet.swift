#if canImport(CryptoKit) || Encryption
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// A public key of a server (RFC 7517).
    struct VerificationKey: Sendable, Hashable {
        /// The numbers of a key.
        enum Material: Sendable, Hashable {
            /// The modulus without leading zeros, and the exponent.
            case rsa(modulus: Data, exponent: Data)
            case p256(x: Data, y: Data)
            case p384(x: Data, y: Data)
            case ed25519(Data)
        }

        let material: Material
        let keyID: String?
        private let use: String?
        private let algorithm: String?
        private let operations: [String]?

        /// Reads a key of a set.
        /// - Returns: `nil` for a key of another type, such as `oct`, and for one that is incomplete. A set may have
        ///   keys for other purposes (RFC 7517, section 5).
        init?(_ members: [String: StrictJSON]) {
            guard let type = members["kty"]?.string, let material = Material(type: type, members) else { return nil }
            for name in ["kid", "use", "alg"] where members[name] != nil && members[name]?.string == nil { return nil }
            if members["key_ops"] != nil, members["key_ops"]?.strings == nil { return nil }
            self.material = material
            keyID = members["kid"]?.string
            use = members["use"]?.string
            algorithm = members["alg"]?.string
            operations = members["key_ops"]?.strings
        }

        /// Whether the key is for the signature of a token.
        func suits(_ token: SignedToken) -> Bool {
            if let wanted = token.keyID, !(keyID?.isIdentical(to: wanted) ?? false) { return false }
            if let algorithm, !algorithm.isIdentical(to: token.algorithm.rawValue) { return false }
            if let use, use != "sig" { return false }
            if let operations, !operations.contains("verify") { return false }
            switch (material, token.algorithm) {
            case (.rsa, .rs256), (.rsa, .ps256), (.p256, .es256), (.p384, .es384), (.ed25519, .edDSA): return true
            default: return false
            }
        }

        /// The sizes of moduli in bits. Smaller ones can be factored; larger ones only cost time.
        static let modulusSizes = 2048...8192

        /// Whether the modulus is too small or too large, or the numbers cannot be those of an RSA key.
        var hasUnacceptableNumbers: Bool {
            guard case .rsa(let modulus, let exponent) = material else { return false }
            let size = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
            // The modulus and the exponent of a key are odd. The exponent 1 would accept every signature.
            guard let last = modulus.last, last & 1 == 1, let end = exponent.last, end & 1 == 1 else { return true }
            return !Self.modulusSizes.contains(size) || exponent.count > 4 || exponent == Data([1])
        }
    }

    extension VerificationKey.Material {
        fileprivate init?(type: String, _ members: [String: StrictJSON]) {
            func number(_ name: String, size: Int? = nil) -> Data? {
                guard let bytes = (members[name]?.string?.utf8).flatMap({ Base64URL.decode($0) }), !bytes.isEmpty,
                    size == nil || bytes.count == size
                else { return nil }
                return Data(bytes)
            }
            switch (type, members["crv"]?.string) {
            case ("RSA", _):
                guard let modulus = number("n")?.withoutLeadingZeros, let exponent = number("e")?.withoutLeadingZeros
                else {
                    return nil
                }
                self = .rsa(modulus: modulus, exponent: exponent)
            case ("EC", "P-256"):
                guard let x = number("x", size: 32), let y = number("y", size: 32) else { return nil }
                self = .p256(x: x, y: y)
            case ("EC", "P-384"):
                guard let x = number("x", size: 48), let y = number("y", size: 48) else { return nil }
                self = .p384(x: x, y: y)
            case ("OKP", "Ed25519"):
                guard let x = number("x", size: 32) else { return nil }
                self = .ed25519(x)
            default: return nil
            }
        }
    }

    extension Data {
        fileprivate var withoutLeadingZeros: Data { Data(drop { $0 == 0 }) }
    }

    /// The keys that a server publishes (RFC 7517, section 5).
    struct KeySet: Sendable, Hashable {
        private let keys: [VerificationKey]

        /// - Throws: ``StrictJSON/Fault`` if the document is not a key set.
        init(_ document: Data) throws(StrictJSON.Fault) {
            guard case .array(let elements) = try StrictJSON(document).members?["keys"] else { throw .malformed }
            keys = elements.compactMap { $0.members.flatMap(VerificationKey.init) }
        }

        /// The one key for the signature of a token; `nil` if there is none.
        /// - Throws: An error if there are several, because a wrong guess would look like a wrong signature, or if the
        ///   key is weak.
        func key(for token: SignedToken) throws(FailedCheck) -> VerificationKey? {
            let candidates = keys.filter { $0.suits(token) }
            guard candidates.count < 2 else { throw FailedCheck(.severalKeys) }
            guard let key = candidates.first else { return nil }
            guard !key.hasUnacceptableNumbers else { throw FailedCheck(.weakKey) }
            return key
        }
    }
#endif
