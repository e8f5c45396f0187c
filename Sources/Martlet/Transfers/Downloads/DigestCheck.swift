#if canImport(CryptoKit) || Encryption
    #if canImport(CryptoKit)
        internal import CryptoKit
    #else
        internal import Crypto
    #endif
    internal import HTTPTypes

    #if canImport(FoundationEssentials)
        public import FoundationEssentials
    #else
        public import Foundation
    #endif

    /// A digest that a download must have. The client verifies it before the file appears at its path.
    ///
    /// ```swift
    /// options.check = .sha256("2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae")
    /// ```
    public struct DigestCheck: Sendable, Hashable {
        /// The expected digest of the download.
        fileprivate enum Expectation: Hashable {
            /// A SHA-256 digest from the app.
            case digest(Data)
            /// Text from the app that is not a digest, so that no download matches.
            case unreadable(String)
            /// The digest that the server sends.
            case server(isRequired: Bool)
        }

        fileprivate let expectation: Expectation

        /// A SHA-256 digest of 32 bytes. With any other number of bytes, the download fails before it is sent.
        public static func sha256(_ digest: Data) -> DigestCheck {
            DigestCheck(
                expectation: digest.count == SHA256.Digest.byteCount ? .digest(digest) : .unreadable(digest.hexText))
        }

        /// A SHA-256 digest of 64 hexadecimal digits, in upper or lower case. With any other text, the download fails
        /// before it is sent.
        public static func sha256(_ digits: String) -> DigestCheck {
            guard let digest = Data(hexText: digits), digest.count == SHA256.Digest.byteCount else {
                return DigestCheck(expectation: .unreadable(digits))
            }
            return DigestCheck(expectation: .digest(digest))
        }

        /// The digest that the server sends in `Repr-Digest` (RFC 9530), SHA-512 or SHA-256.
        ///
        /// It is the digest of the whole file as sent. It is therefore ignored if the endpoint asks for a range, or for
        /// a compressed file that the transport decodes.
        /// - Parameter required: Whether the download fails if the server sends no digest
        ///   (``DownloadError/digestMissing``).
        public static func fromServer(required: Bool = false) -> DigestCheck {
            DigestCheck(expectation: .server(isRequired: required))
        }

        /// The problem with text or bytes of the app that are no digest; `nil` if there is none.
        var problem: InvalidRequestError? {
            guard case .unreadable(let text) = expectation else { return nil }
            return InvalidRequestError(
                "\"\(text.prefix(200))\" is not a SHA-256 digest, which has 64 hexadecimal digits.")
        }

        var asksServer: Bool {
            if case .server = expectation { true } else { false }
        }

        func verify(_ digest: RunningDigest, announced: String?) throws(DownloadError) {
            switch expectation {
            case .digest(let expected): try Self.compare(expected, digest.sha256Value)
            case .unreadable(let text):
                throw .digestMismatch(expected: "\"\(text)\"", actual: digest.sha256Value.hexText)
            case .server(let isRequired):
                let digests = announced.map(ReprDigest.parse) ?? [:]
                if let expected = digests["sha-512"], let actual = digest.sha512Value {
                    try Self.compare(expected, actual)
                } else if let expected = digests["sha-256"] {
                    try Self.compare(expected, digest.sha256Value)
                } else if isRequired {
                    throw .digestMissing
                }
            }
        }

        private static func compare(_ expected: Data, _ actual: Data) throws(DownloadError) {
            guard expected == actual else {
                throw .digestMismatch(expected: expected.hexText, actual: actual.hexText)
            }
        }
    }

    /// The digests of the bytes received so far.
    struct RunningDigest {
        private var sha256 = SHA256()
        /// Computed only if the server may send this digest.
        private var sha512: SHA512?

        init(for check: DigestCheck) {
            sha512 = check.asksServer ? SHA512() : nil
        }

        /// The digests of a file's content. Blocks.
        init(for check: DigestCheck, of file: IncomingFile) throws(FileError) {
            self.init(for: check)
            var position: Int64 = 0
            while true {
                let piece = try file.read(upTo: FileChunks.standardChunkSize, from: position)
                guard !piece.isEmpty else { return }
                update(piece)
                position += Int64(piece.count)
            }
        }

        mutating func update(_ bytes: Data) {
            sha256.update(data: bytes)
            sha512?.update(data: bytes)
        }

        var sha256Value: Data { Data(sha256.finalize()) }
        var sha512Value: Data? { sha512.map { Data($0.finalize()) } }
    }

    /// The dictionary of a `Repr-Digest` field (RFC 9530, section 3):
    /// `sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:`.
    enum ReprDigest {
        static func parse(_ field: String) -> [String: Data] {
            var result: [String: Data] = [:]
            for member in field.split(separator: ",") {
                let halves = member.split(separator: "=", maxSplits: 1)
                guard halves.count == 2 else { continue }
                let name = halves[0].trimmingPrefix { $0 == " " || $0 == "\t" }
                let bytes = halves[1].split(separator: ":", omittingEmptySubsequences: false)
                guard bytes.count >= 3, bytes[0].isEmpty, let value = Data(base64Encoded: String(bytes[1])) else {
                    continue
                }
                // If a name repeats, the last member wins (RFC 9651, section 4.2.2).
                result[name.lowercased()] = value
            }
            return result
        }
    }

    extension Data {
        fileprivate var hexText: String {
            map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
        }

        fileprivate init?(hexText: String) {
            let digits = hexText.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
            guard digits.count % 2 == 0 else { return nil }
            self.init(capacity: digits.count / 2)
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard let high = digits[index], let low = digits[index + 1] else { return nil }
                append(UInt8(high << 4 | low))
            }
        }
    }

    extension HTTPField.Name {
        // The name is valid, so the fallback is never used.
        static let wantReprDigest = HTTPField.Name("Want-Repr-Digest") ?? .accept
    }
#endif
