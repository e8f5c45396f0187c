#if Encryption
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Whether a key source holds a key, or a passphrase that a key is derived from.
    enum KeyContent: Sendable, Hashable {
        case key
        case passphrase

        init(_ holdsPassphrase: Bool) {
            self = holdsPassphrase ? .passphrase : .key
        }
    }

    /// The source of the key or the passphrase.
    enum KeySource: Sendable {
        case passphrase(Secret)
        case file(path: String, KeyContent, createIfMissing: Bool)
        case systemdCredential(String, KeyContent)
        case mountedSecret(path: String, KeyContent)
        case environment(String, KeyContent)

        /// The bytes of the key or the passphrase.
        enum Material: Sendable {
            case key(Data)
            case passphrase(Data)
        }

        /// Looks up the key or passphrase. Blocks.
        /// - Parameter creates: Whether a missing file may be created now, if `createIfMissing` is set.
        /// - Throws: ``StorageError``, never of the kind ``StorageError/Kind/foreign``. That kind describes a record,
        ///   and a foreign record is never deleted.
        func material(creates: Bool, environment: [String: String]) throws(StorageError) -> Material {
            do throws(StorageError) {
                return try found(creates: creates, environment: environment)
            } catch {
                throw error.kind == .foreign ? StorageError(.unreachable, error.description) : error
            }
        }

        private func found(creates: Bool, environment: [String: String]) throws(StorageError) -> Material {
            switch self {
            case .passphrase(let passphrase):
                return try material(.passphrase, of: Data(passphrase.reveal().utf8))
            case .file(let path, let content, let createIfMissing):
                if let bytes = try PrivateFile(path: path).read() { return try material(content, of: bytes) }
                if createIfMissing, creates { return try create(content, at: path) }
                let advice =
                    createIfMissing
                    ? "lost, sign out and sign in again"
                    : "lost, create a key and sign in again: (umask 077; head -c 32 /dev/urandom | base64 > \(path))"
                throw StorageError(
                    .unreachable,
                    "there is no key file at \(path). Restore the one that the session was sealed with. If that key is "
                        + advice)
            case .systemdCredential(let name, let content):
                return try material(content, of: credential(name, environment))
            case .mountedSecret(let path, let content):
                guard let bytes = try MountedSecret(path: path).read() else {
                    throw StorageError(
                        .unreachable,
                        "there is no secret at \(path). Mount it there: with a volume of the Secret in Kubernetes, with "
                            + "secrets: in Docker")
                }
                return try material(content, of: bytes)
            case .environment(let variable, let content):
                guard let value = environment[variable] else {
                    throw StorageError(
                        .unreachable, "the environment variable \(variable) is not set; it must have the \(content)")
                }
                return try material(content, of: Data(value.utf8))
            }
        }

        /// The bytes of a systemd credential.
        private func credential(_ name: String, _ environment: [String: String]) throws(StorageError) -> Data {
            guard let folder = environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
                throw StorageError(
                    .unreachable,
                    "CREDENTIALS_DIRECTORY is not set, so there is no credential \(name). systemd sets it for a "
                        + "service whose unit has LoadCredential=\(name):… or LoadCredentialEncrypted=\(name):…")
            }
            guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
                throw StorageError(
                    .unreachable, "\(name) is not the name of a credential; it must not contain a slash")
            }
            guard let bytes = try PrivateFile(path: "\(folder)/\(name)").read(.userOrRoot) else {
                throw StorageError(
                    .unreachable,
                    "there is no credential \(name) in \(folder). The service's unit needs "
                        + "LoadCredential=\(name):… or LoadCredentialEncrypted=\(name):…")
            }
            return bytes
        }

        private func material(
            _ content: KeyContent, of bytes: Data
        ) throws(StorageError) -> Material {
            switch content {
            case .key:
                guard let key = KeyText.key(in: bytes) else {
                    throw StorageError(
                        .unreachable,
                        "\(self) (\(bytes.count) bytes) is not a key. Set a key of 32 random bytes, as such, as base64 "
                            + "or as 64 hexadecimal digits")
                }
                return .key(key)
            case .passphrase:
                var passphrase = bytes
                if case .passphrase = self {} else { passphrase.removeLineBreak() }
                guard !passphrase.isEmpty else { throw StorageError(.unreachable, "\(self) is empty; set one") }
                return .passphrase(passphrase)
            }
        }

        /// In seconds. No write of a key takes this long, so an older temporary file was left by a killed process.
        private static let longestWrite = 60

        private func create(_ content: KeyContent, at path: String) throws(StorageError) -> Material {
            let file = PrivateFile(path: path)
            try file.makeFolder()
            file.removeLeftovers(olderThan: Self.longestWrite)
            _ = try file.create(with: Data((KeyText.random() + "\n").utf8))
            // If another process created the file first, this is its key.
            guard let bytes = try file.read() else {
                throw StorageError(
                    .unreachable, "the key file at \(path) was removed as soon as it was created; try again")
            }
            return try material(content, of: bytes)
        }
    }

    extension KeySource: CustomStringConvertible {
        package var description: String {
            switch self {
            case .passphrase: "the passphrase"
            case .file(let path, let content, _): "the \(content) in \(path)"
            case .systemdCredential(let name, let content): "the \(content) in the credential \(name)"
            case .mountedSecret(let path, let content): "the \(content) in the secret \(path)"
            case .environment(let variable, let content): "the \(content) in the environment variable \(variable)"
            }
        }
    }

    /// Reads and writes keys as text.
    enum KeyText {
        static let byteCount = 32

        /// The key that some bytes represent; `nil` if they are not a key.
        static func key(in bytes: Data) -> Data? {
            // 32 random bytes contain some that are not printable; text of 32 characters does not.
            if bytes.count == byteCount, bytes.contains(where: { !(0x20..<0x7F).contains($0) && $0 != 0x0A }) {
                return bytes
            }
            let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
            let key = text.utf8.count == 2 * byteCount ? hexadecimal(text) : base64(text)
            return key.flatMap { $0.count == byteCount ? $0 : nil }
        }

        /// A new key as base64.
        static func random() -> String {
            var random = SystemRandomNumberGenerator()
            return Data((0..<byteCount).map { _ in UInt8.random(in: 0 ... .max, using: &random) }).base64EncodedString()
        }

        private static func hexadecimal(_ text: String) -> Data? {
            var bytes = Data()
            var rest = Substring(text)
            while !rest.isEmpty {
                guard rest.allSatisfy(\.isHexDigit), let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
                bytes.append(byte)
                rest = rest.dropFirst(2)
            }
            return bytes
        }

        /// Decodes both alphabets (RFC 4648, sections 4 and 5), with or without padding.
        private static func base64(_ text: String) -> Data? {
            let text = text.replacing("-", with: "+").replacing("_", with: "/").prefix { $0 != "=" }
            return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
        }
    }

    extension Data {
        fileprivate mutating func removeLineBreak() {
            if last == UInt8(ascii: "\n") { removeLast() }
            if last == UInt8(ascii: "\r") { removeLast() }
        }
    }
#endif
