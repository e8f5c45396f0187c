#if Encryption
    internal import Crypto

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Files that nobody can read or change without their key.
    ///
    /// | bytes | what |
    /// | --- | --- |
    /// | 0–7 | `MARTLET` and a zero |
    /// | 8 | the version, 1 |
    /// | 9 | where the key comes from: 1 a key, 2 a passphrase by way of scrypt |
    /// | 10, 11, 12 | with scrypt log₂ N, r and p; else zeros |
    /// | 13–15 | zeros |
    /// | 16–31 | salt |
    /// | 32–39 | key check |
    /// | 40–47 | the first bytes of the SHA-256 of all before |
    /// | 48–59 | nonce, random for each write |
    /// | 60– | AES-256-GCM: as many bytes as were sealed, and a tag of 16 |
    ///
    /// Authenticated are also the first 48 bytes and, after them, the name of what was sealed. Key and key check are
    /// HKDF-SHA256 of the app's key or the stretched passphrase with the salt. In all versions to come the first 9
    /// bytes and those from 40 to 47 mean the same, so that a newer version is told from a damaged file.
    struct SealedFile {
        static let version: UInt8 = 1

        private static let magic = Data("MARTLET\0".utf8)
        private static let digestStart = 40
        private static let headerCount = 48
        private static let nonceAndTagCount = 12 + 16

        private let header: Data
        private let box: Data
        private let path: String
        let derivation: KeyDerivation
        private let check: Data

        /// What a file says of itself. The key is not needed for it, nor is any of it to be relied on.
        init(_ bytes: Data, at path: String) throws(StorageFailure) {
            let bytes = Data(bytes)
            let header = bytes.prefix(Self.headerCount)
            func damaged(_ what: String) -> StorageFailure {
                StorageFailure(.corrupt, "\(path) (\(bytes.count) bytes) \(what)")
            }
            if bytes.first == UInt8(ascii: "{") {
                throw damaged(
                    "is not encrypted. It looks like a plain FileTokenStore's: read it with one, write what it says "
                        + "with this store, and it is encrypted from then on")
            }
            guard header.count == Self.headerCount, header.starts(with: Self.magic),
                header[Self.digestStart...] == Self.digest(of: header.prefix(Self.digestStart))
            else { throw damaged("was damaged or tampered with, or is not an encrypted file of Martlet's") }
            guard header[8] <= Self.version else {
                throw StorageFailure(
                    .tooNew, "\(path) has version \(header[8]); this app understands up to \(Self.version)")
            }
            let cost = ScryptCost(logN: header[10], r: header[11], p: header[12])
            switch (header[8], header[9], header[13..<16].allSatisfy { $0 == 0 }) {
            case (1, 1, true) where cost == ScryptCost(logN: 0, r: 0, p: 0):
                derivation = KeyDerivation(cost: nil, salt: Data(header[16..<32]))
            case (1, 2, true) where cost.isAcceptable:
                derivation = KeyDerivation(cost: cost, salt: Data(header[16..<32]))
            default:
                throw damaged("was tampered with: it asks for a key in a way that none is made")
            }
            guard bytes.count >= Self.headerCount + Self.nonceAndTagCount else {
                throw damaged("was damaged or tampered with: its end is missing")
            }
            self.header = header
            self.path = path
            check = Data(header[32..<Self.digestStart])
            box = Data(bytes.dropFirst(Self.headerCount))
        }

        /// What was sealed.
        func open(as name: String, with key: FileKey) throws(StorageFailure) -> Data {
            guard key.check == check else {
                throw StorageFailure(
                    .corrupt, "\(path) was sealed with another key or passphrase, or its header was tampered with")
            }
            do {
                return try AES.GCM.open(
                    AES.GCM.SealedBox(combined: box), using: key.key, authenticating: header + Data(name.utf8))
            } catch {
                throw StorageFailure(
                    .corrupt, "\(path) was damaged or tampered with: the key is right, the rest is not")
            }
        }

        /// The bytes of a new file.
        static func seal(_ bytes: Data, as name: String, with key: FileKey) throws(StorageFailure) -> Data {
            let cost = key.derivation.cost
            var header = magic
            header += [version, cost == nil ? 1 : 2, cost?.logN ?? 0, cost?.r ?? 0, cost?.p ?? 0, 0, 0, 0]
            header += key.derivation.salt
            header += key.check
            header += digest(of: header)
            do {
                let box = try AES.GCM.seal(bytes, using: key.key, authenticating: header + Data(name.utf8))
                guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
                return header + combined
            } catch {
                throw StorageFailure(.unreachable, "nothing could be encrypted: \(error)")
            }
        }

        static func digest(of bytes: Data) -> Data {
            Data(SHA256.hash(data: bytes).prefix(headerCount - digestStart))
        }
    }

    /// Files are sealed with the keys of one ring.
    struct SealedCoding: FileCoding {
        let ring: KeyRing

        var isFresh: Bool { ring.isFresh }

        func seal(_ bytes: Data, as name: String) throws(StorageFailure) -> Data {
            try SealedFile.seal(bytes, as: name, with: try ring.currentKey())
        }

        func open(_ bytes: Data, as name: String, at path: String) throws(StorageFailure) -> Data {
            let file = try SealedFile(bytes, at: path)
            let key = try ring.key(for: file.derivation, of: path)
            let opened = try file.open(as: name, with: key)
            ring.hasOpened(with: key)
            return opened
        }
    }
#endif
