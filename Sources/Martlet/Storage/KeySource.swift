#if Encryption
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Where a key comes from.
    enum KeySource: Sendable {
        case passphrase(Secret)
        case file(path: String, EncryptionKey.Content, createIfMissing: Bool)
        case systemdCredential(String, EncryptionKey.Content)
        case environment(String, EncryptionKey.Content)

        /// What was found there.
        enum Material: Sendable {
            case key(Data)
            case passphrase(Data)
        }

        /// Looks it up, which blocks.
        /// - Parameter creates: Whether a file that is to be made where there is none may be made now.
        func material(creates: Bool, environment: [String: String]) throws(StorageFailure) -> Material {
            switch self {
            case .passphrase(let passphrase):
                return try material(.passphrase, of: Data(passphrase.reveal().utf8))
            case .file(let path, let content, let createIfMissing):
                if let bytes = try PrivateFile(path: path).read() { return try material(content, of: bytes) }
                if createIfMissing, creates { return try make(at: path) }
                throw StorageFailure(
                    .unreachable,
                    "there is no key file at \(path). Put the one there that its files were sealed with, or a new one "
                        + "where there are none: (umask 077; head -c 32 /dev/urandom | base64 > \(path))")
            case .systemdCredential(let name, let content):
                guard let folder = environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
                    throw StorageFailure(
                        .unreachable,
                        "CREDENTIALS_DIRECTORY is not set, so there is no credential \(name). systemd sets it for a "
                            + "service whose unit has LoadCredential=\(name):… or LoadCredentialEncrypted=\(name):…")
                }
                guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
                    throw StorageFailure(.unreachable, "\(name) is not the name of a credential")
                }
                guard let bytes = try PrivateFile(path: "\(folder)/\(name)").read(.userOrRoot) else {
                    throw StorageFailure(
                        .unreachable,
                        "there is no credential \(name) in \(folder). The service's unit needs "
                            + "LoadCredential=\(name):… or LoadCredentialEncrypted=\(name):…")
                }
                return try material(content, of: bytes)
            case .environment(let variable, let content):
                guard let value = environment[variable] else {
                    throw StorageFailure(
                        .unreachable, "the environment variable \(variable), which should have a key, is not set")
                }
                return try material(content, of: Data(value.utf8))
            }
        }

        private func material(
            _ content: EncryptionKey.Content, of bytes: Data
        ) throws(StorageFailure) -> Material {
            switch content {
            case .key:
                guard let key = KeyText.key(in: bytes) else {
                    throw StorageFailure(
                        .unreachable,
                        "\(self) (\(bytes.count) bytes) is not a key: 32 random bytes, or these as base64 or 64 "
                            + "hexadecimal digits")
                }
                return .key(key)
            case .passphrase:
                var passphrase = bytes
                if case .passphrase = self {} else { passphrase.removeLineBreak() }
                guard !passphrase.isEmpty else { throw StorageFailure(.unreachable, "\(self) is empty") }
                return .passphrase(passphrase)
            }
        }

        /// In seconds. No write of a key takes as long, so what is older was left behind.
        private static let oldestWrite = 60

        private func make(at path: String) throws(StorageFailure) -> Material {
            let file = PrivateFile(path: path)
            try file.makeFolder()
            file.removeLeftovers(olderThan: Self.oldestWrite)
            _ = try file.create(with: Data((KeyText.random() + "\n").utf8))
            // Where another process was quicker this is its key.
            guard let bytes = try file.read() else {
                throw StorageFailure(.unreachable, "the key file at \(path) was removed as soon as it was made")
            }
            return try material(.key, of: bytes)
        }
    }

    extension KeySource: CustomStringConvertible {
        var description: String {
            switch self {
            case .passphrase: "the passphrase"
            case .file(let path, let content, _): "the \(content) in \(path)"
            case .systemdCredential(let name, let content): "the \(content) in the credential \(name)"
            case .environment(let variable, let content): "the \(content) in the environment variable \(variable)"
            }
        }
    }

    /// Keys as people write them.
    enum KeyText {
        static let byteCount = 32

        /// The key in some bytes; `nil` where there is none.
        static func key(in bytes: Data) -> Data? {
            // Text of 32 characters is far from 32 random bytes, which have others in between.
            if bytes.count == byteCount, bytes.contains(where: { !(0x20..<0x7F).contains($0) && $0 != 0x0A }) {
                return bytes
            }
            let text = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
            let key = text.utf8.count == 2 * byteCount ? hexadecimal(text) : base64(text)
            return key.flatMap { $0.count == byteCount ? $0 : nil }
        }

        /// A new one.
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

        /// Either alphabet (RFC 4648, sections 4 and 5), padded or not.
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
