#if Encryption
    internal import Crypto
    internal import CryptoExtras

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// The cost of stretching a passphrase (RFC 7914).
    struct ScryptCost: Sendable, Hashable {
        /// The binary logarithm of N.
        var logN: UInt8
        var r: UInt8
        var p: UInt8

        /// The cost that OWASP's cheat sheet on password storage recommends: 128 megabytes.
        static let standard = ScryptCost(logN: 17, r: 8, p: 1)

        /// Whether a file may ask for this cost: 16 to 256 megabytes. A file that asks for more was crafted to exhaust
        /// its reader's time or memory.
        var isAcceptable: Bool { (14...18).contains(logN) && r == 8 && (1...4).contains(p) }
    }

    /// The derivation of a file's key from the app's key or passphrase.
    struct KeyDerivation: Sendable, Hashable {
        /// `nil` if the app has a key instead of a passphrase.
        var cost: ScryptCost?
        var salt: Data

        static let saltCount = 16
    }

    /// The encryption key that one derivation yields, for all files with that derivation.
    struct FileKey: Sendable {
        let derivation: KeyDerivation
        let key: SymmetricKey
        /// Stored in each file, to distinguish a wrong key from a damaged file. Reveals nothing about the key.
        let check: Data

        static let checkCount = 8

        /// HKDF (RFC 5869) over the app's key or the stretched passphrase.
        init(_ derivation: KeyDerivation, from base: SymmetricKey) {
            func derived(_ purpose: String, _ count: Int) -> SymmetricKey {
                HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: base, salt: derivation.salt, info: Data(purpose.utf8), outputByteCount: count)
            }
            self.derivation = derivation
            key = derived("martlet file key", 32)
            check = derived("martlet file check", Self.checkCount).withUnsafeBytes { Data($0) }
        }
    }

    /// Looks up and derives keys, and caches them.
    ///
    /// Printing or dumping a key ring shows where its key comes from, never the key.
    package final class KeyRing: Sendable {
        private let source: KeySource
        private let environment: @Sendable () -> [String: String]
        private let cost: ScryptCost
        /// Serializes lookups, so that each is done once.
        private let queue = BlockingQueue("martlet.encryption-key")
        private let known = Locked(Known())

        /// The keys that the key ring has looked up and derived so far.
        private struct Known: Sendable {
            var material: KeySource.Material?
            var keys: [KeyDerivation: FileKey] = [:]
            /// The key to seal the next file with; `nil` until one was derived or adopted.
            var current: FileKey?
            /// The sealed files that were found. They need their existing key, so no new one may be created.
            var seenFiles: Set<String> = []
            /// The places of sealed files. Each says whether it has one.
            var places: [String: @Sendable () -> Bool] = [:]
        }

        /// Limits the memory that maliciously crafted files can occupy.
        private static let maximumKeys = 64

        init(_ source: KeySource, environment: @escaping @Sendable () -> [String: String], cost: ScryptCost) {
            self.source = source
            self.environment = environment
            self.cost = cost
        }

        /// Whether there is no key to seal files with yet. Opening a file may provide one, which saves a derivation.
        var lacksSealingKey: Bool { known.withLock { $0.current == nil } }

        func addPlace(_ path: String, _ hasSealedFile: @escaping @Sendable () -> Bool) {
            known.withLock { $0.places[path] = hasSealedFile }
        }

        private var mayCreateKey: Bool {
            let (seenFiles, places) = known.withLock { ($0.seenFiles, $0.places.values) }
            return seenFiles.isEmpty && !places.contains { $0() }
        }

        /// Forgets a file that was deleted, such as the record of a user who signs out because its key is lost.
        func forget(_ path: String) {
            known.withLock { _ = $0.seenFiles.remove(path) }
        }

        /// The key to seal a file with.
        func currentKey() async throws(StorageError) -> FileKey {
            try await queue.run { [self] () throws(StorageError) in
                if let key = known.withLock({ $0.current }) { return key }
                var salt = Data(count: KeyDerivation.saltCount)
                for index in salt.indices { salt[index] = .random(in: 0 ... .max) }
                let cost: ScryptCost? =
                    switch try material(creates: mayCreateKey) {
                    case .key: nil
                    case .passphrase: self.cost
                    }
                let key = try key(for: KeyDerivation(cost: cost, salt: salt))
                known.withLock { $0.current = key }
                return key
            }
        }

        /// The key of an existing file.
        /// - Parameter path: The file, for error texts.
        func key(for derivation: KeyDerivation, of path: String) async throws(StorageError) -> FileKey {
            try await queue.run { [self] () throws(StorageError) in
                // Never replace a missing key with a new one: it may be on an unmounted disk, for example.
                known.withLock { _ = $0.seenFiles.insert(path) }
                switch (try material(creates: false), derivation.cost) {
                case (.key, nil), (.passphrase, .some): return try key(for: derivation)
                case (.key, .some):
                    throw StorageError(
                        .corrupt, "\(path) is sealed with a passphrase, but \(source) is a key; use the passphrase")
                case (.passphrase, nil):
                    throw StorageError(.corrupt, "\(path) is sealed with a key, not with \(source); use the key")
                }
            }
        }

        /// Seals further files with the key of an opened one, unless that was stretched at another cost than the
        /// configured one. Files then share a salt, and other processes need not derive another key.
        func adoptKey(_ key: FileKey) {
            known.withLock { known in
                if key.derivation.cost == nil || key.derivation.cost == cost { known.current = key }
            }
        }

        private func material(creates: Bool) throws(StorageError) -> KeySource.Material {
            if let material = known.withLock({ $0.material }) { return material }
            let material = try source.material(creates: creates, environment: environment())
            known.withLock { $0.material = material }
            return material
        }

        private func key(for derivation: KeyDerivation) throws(StorageError) -> FileKey {
            if let key = known.withLock({ $0.keys[derivation] }) { return key }
            let key = FileKey(derivation, from: try base(of: derivation))
            known.withLock { known in
                if known.keys.count >= Self.maximumKeys { known.keys = [:] }
                known.keys[derivation] = key
            }
            return key
        }

        private func base(of derivation: KeyDerivation) throws(StorageError) -> SymmetricKey {
            switch (try material(creates: false), derivation.cost) {
            case (.passphrase(let passphrase), let cost?):
                let key = try? KDF.Scrypt.deriveKey(
                    from: passphrase, salt: derivation.salt, outputByteCount: KeyText.byteCount,
                    rounds: 1 << Int(cost.logN), blockSize: Int(cost.r), parallelism: Int(cost.p))
                guard let key else {
                    throw StorageError(.unreachable, "\(source) could not be stretched; that takes up to 256 MB")
                }
                return key
            case (.key(let key), _), (.passphrase(let key), nil):
                return SymmetricKey(data: key)
            }
        }
    }

    extension KeyRing: CustomStringConvertible, CustomReflectable {
        package var description: String { "\(source)" }
        package var customMirror: Mirror { Mirror(self, children: [:]) }
    }
#endif
