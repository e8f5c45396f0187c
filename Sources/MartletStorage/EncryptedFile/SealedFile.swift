#if Encryption
    internal import Crypto

    #if canImport(FoundationEssentials)
        package import FoundationEssentials
    #else
        package import Foundation
    #endif

    /// The format of encrypted files.
    ///
    /// | bytes | content |
    /// | --- | --- |
    /// | 0–7 | `MARTLET` and a zero |
    /// | 8 | the version, 1 |
    /// | 9 | the source of the key: 1 a key, 2 a passphrase stretched by scrypt |
    /// | 10, 11, 12 | log₂ N, r and p of scrypt; otherwise zeros |
    /// | 13–15 | zeros |
    /// | 16–31 | salt |
    /// | 32–39 | key check |
    /// | 40–47 | the first bytes of the SHA-256 of bytes 0–39 |
    /// | 48–59 | nonce, random for each write |
    /// | 60– | AES-256-GCM: the sealed contents and a tag of 16 bytes |
    ///
    /// The additional authenticated data is the first 48 bytes, followed by the name of the contents. The key and the
    /// key check are HKDF-SHA256 of the app's key or the stretched passphrase with the salt. Bytes 0–8 and 40–47 keep
    /// their meaning in all later versions, to distinguish a newer version from a damaged file.
    struct SealedFile {
        static let version: UInt8 = 1

        private static let magic = Data(PrivateFile.sealedMagic)
        private static let digestStart = 40
        private static let headerCount = 48
        private static let nonceAndTagCount = 12 + 16

        private let header: Data
        private let box: Data
        private let path: String
        let derivation: KeyDerivation
        private let check: Data

        /// Parses the header. This needs no key, and nothing in the header is authenticated yet.
        init(_ bytes: Data, at path: String) throws(StorageError) {
            let bytes = Data(bytes)
            let header = bytes.prefix(Self.headerCount)
            func damaged(_ what: String) -> StorageError {
                StorageError(.corrupt, "\(path) (\(bytes.count) bytes) \(what)")
            }
            if bytes.first == UInt8(ascii: "{") {
                throw damaged(
                    "is not encrypted. It looks like a plain text session: read it with .file(path:) and write the "
                        + "session with .encryptedFile(path:key:) to encrypt it")
            }
            // Allow one damaged byte: the file is still Martlet's.
            let matching = zip(header, Self.magic).count { $0 == $1 }
            guard matching >= min(header.count, Self.magic.count) - 1 else {
                throw StorageError(
                    .foreign,
                    "\(path) (\(bytes.count) bytes) was not written by Martlet, so it is left alone; move it away, or "
                        + "choose another path")
            }
            guard header.count == Self.headerCount, header.starts(with: Self.magic),
                header[Self.digestStart...] == Self.digest(of: header.prefix(Self.digestStart))
            else {
                throw damaged("was damaged or tampered with, or is not an encrypted file of Martlet; sign in again")
            }
            guard header[8] <= Self.version else {
                throw StorageError(
                    .tooNew, "\(path) has version \(header[8]), and this app reads up to \(Self.version); update it")
            }
            guard let derivation = Self.derivation(in: header) else {
                throw damaged("was tampered with: it asks for a key derivation that Martlet never uses")
            }
            guard bytes.count >= Self.headerCount + Self.nonceAndTagCount else {
                throw damaged("was damaged or tampered with: its end is missing; sign in again")
            }
            self.header = header
            self.path = path
            self.derivation = derivation
            check = Data(header[32..<Self.digestStart])
            box = Data(bytes.dropFirst(Self.headerCount))
        }

        /// The key derivation that a header asks for; `nil` if Martlet never uses it.
        private static func derivation(in header: Data) -> KeyDerivation? {
            let cost = ScryptCost(logN: header[10], r: header[11], p: header[12])
            switch (header[8], header[9], header[13..<16].allSatisfy { $0 == 0 }) {
            case (1, 1, true) where cost == ScryptCost(logN: 0, r: 0, p: 0):
                return KeyDerivation(cost: nil, salt: Data(header[16..<32]))
            case (1, 2, true) where cost.isAcceptable:
                return KeyDerivation(cost: cost, salt: Data(header[16..<32]))
            default: return nil
            }
        }

        /// Decrypts the contents.
        func open(as name: String, with key: FileKey) throws(StorageError) -> Data {
            guard key.check == check else {
                throw StorageError(
                    .corrupt,
                    "\(path) was sealed with another key or passphrase, or its header was tampered with; restore the key, "
                        + "or sign in again")
            }
            do {
                return try AES.GCM.open(
                    AES.GCM.SealedBox(combined: box), using: key.key, authenticating: header + Data(name.utf8))
            } catch {
                throw StorageError(
                    .corrupt,
                    "\(path) was damaged or tampered with: the key is right, but the contents are not; sign in again")
            }
        }

        /// Encrypts contents.
        static func seal(_ bytes: Data, as name: String, with key: FileKey) throws(StorageError) -> Data {
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
                throw StorageError(.unreachable, "could not encrypt: \(error)")
            }
        }

        static func digest(of bytes: Data) -> Data {
            Data(SHA256.hash(data: bytes).prefix(headerCount - digestStart))
        }
    }

    /// Seals files with the keys of a key ring.
    package struct SealedCoding: FileCoding {
        let ring: KeyRing

        package init(ring: KeyRing) {
            self.ring = ring
        }

        package var lacksSealingKey: Bool { ring.lacksSealingKey }

        package func addPlace(_ path: String, _ hasSealedFile: @escaping @Sendable () -> Bool) {
            ring.addPlace(path, hasSealedFile)
        }

        package func didDelete(_ path: String) { ring.forget(path) }

        package func seal(_ bytes: Data, as name: String) async throws(StorageError) -> Data {
            try SealedFile.seal(bytes, as: name, with: try await ring.currentKey())
        }

        package func open(_ bytes: Data, as name: String, at path: String) async throws(StorageError) -> Data {
            let file = try SealedFile(bytes, at: path)
            let key = try await ring.key(for: file.derivation, of: path)
            let opened = try file.open(as: name, with: key)
            ring.adoptKey(key)
            return opened
        }
    }
#endif
