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

    /// What a download is checked against before its file is put into its place.
    ///
    /// ```swift
    /// options.check = .sha256("2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae")
    /// ```
    public struct DigestCheck: Sendable, Hashable {
        fileprivate enum Expectation: Hashable {
            case digest(Data)
            /// A text that is no digest, so that nothing fits it.
            case unreadable(String)
            case server(isRequired: Bool)
        }

        fileprivate let expectation: Expectation

        /// A SHA-256 digest of 32 bytes.
        public static func sha256(_ digest: Data) -> DigestCheck {
            DigestCheck(
                expectation: digest.count == SHA256.Digest.byteCount ? .digest(digest) : .unreadable(digest.hexText))
        }

        /// A SHA-256 digest of 64 hexadecimal digits, large or small. No download fits a text that is none.
        public static func sha256(_ digits: String) -> DigestCheck {
            guard let digest = Data(hexText: digits), digest.count == SHA256.Digest.byteCount else {
                return DigestCheck(expectation: .unreadable(digits))
            }
            return DigestCheck(expectation: .digest(digest))
        }

        /// What the server says of its file: `Repr-Digest` (RFC 9530), SHA-512 or SHA-256.
        ///
        /// It is that of the whole file, as it was sent. So it counts as not said where the endpoint itself asks for a part
        /// (`Range`), and where it asks for a compressed file that the transport decodes.
        /// - Parameter required: Whether a server that says nothing makes the download fail
        ///   (``DownloadFailure/digestMissing``).
        public static func fromServer(required: Bool = false) -> DigestCheck {
            DigestCheck(expectation: .server(isRequired: required))
        }

        var asksServer: Bool {
            if case .server = expectation { true } else { false }
        }

        func verify(_ digest: RunningDigest, said: String?) throws(DownloadFailure) {
            switch expectation {
            case .digest(let expected): try Self.compare(expected, digest.sha256Value)
            case .unreadable(let text):
                throw .digestMismatch(expected: "\"\(text)\"", actual: digest.sha256Value.hexText)
            case .server(let isRequired):
                let said = said.map(ReprDigest.parse) ?? [:]
                if let expected = said["sha-512"], let actual = digest.sha512Value {
                    try Self.compare(expected, actual)
                } else if let expected = said["sha-256"] {
                    try Self.compare(expected, digest.sha256Value)
                } else if isRequired {
                    throw .digestMissing
                }
            }
        }

        private static func compare(_ expected: Data, _ actual: Data) throws(DownloadFailure) {
            guard expected == actual else {
                throw .digestMismatch(expected: expected.hexText, actual: actual.hexText)
            }
        }
    }

    /// The digests of what has come so far.
    struct RunningDigest {
        private var sha256 = SHA256()
        /// Where the server may say this one.
        private var sha512: SHA512?

        init(for check: DigestCheck) {
            sha512 = check.asksServer ? SHA512() : nil
        }

        /// The digests of what a file has. Blocks.
        init(for check: DigestCheck, of file: IncomingFile) throws(FileProblem) {
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

    /// The dictionary of a `Repr-Digest` field (RFC 9530, section 3): `sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:`.
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
                // The last of a name counts (RFC 9651, section 4.2.2).
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
        // It is a token, so that the other never takes its place.
        static let wantReprDigest = HTTPField.Name("Want-Repr-Digest") ?? .accept
    }
#endif
