#if Encryption
    internal import Crypto
    internal import CryptoExtras
    internal import Dispatch

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// What stretching a passphrase costs (RFC 7914).
    struct ScryptCost: Sendable, Hashable {
        /// The binary logarithm of N.
        var logN: UInt8
        var r: UInt8
        var p: UInt8

        /// What OWASP's cheat sheet on password storage recommends: 128 megabytes.
        static let standard = ScryptCost(logN: 17, r: 8, p: 1)

        /// From 16 to 256 megabytes. A file that asks for more was made to keep its reader busy, or to starve it.
        var isAcceptable: Bool { (14...18).contains(logN) && r == 8 && (1...4).contains(p) }
    }

    /// How the key of a file is had from the one that the app has.
    struct KeyDerivation: Sendable, Hashable {
        /// `nil` where the app has a key already, and not a passphrase.
        var cost: ScryptCost?
        var salt: Data

        static let saltCount = 16
    }

    /// The key of files that have one derivation.
    struct FileKey: Sendable {
        let derivation: KeyDerivation
        let key: SymmetricKey
        /// A few bytes that are in each file, from which the key cannot be had: they tell a wrong key from a damaged
        /// file.
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

    /// Finds keys, and keeps those that were found. Every call may block, for some tenths of a second.
    final class KeyRing: Sendable {
        private let source: KeySource
        private let environment: @Sendable () -> [String: String]
        private let cost: ScryptCost
        /// Taken by whoever looks something up, so that it is done once.
        private let turn = DispatchQueue(label: "martlet.encryption-key")
        private let known = Locked(Known())

        private struct Known: Sendable {
            var material: KeySource.Material?
            var keys: [KeyDerivation: FileKey] = [:]
            /// With which the next file is sealed.
            var current: FileKey?
            /// Whether there is a file that only the key opens which it was sealed with.
            var hasSeenFile = false
        }

        /// Only files that somebody has made for this purpose have more.
        private static let mostKeys = 64

        init(_ source: KeySource, environment: @escaping @Sendable () -> [String: String], cost: ScryptCost) {
            self.source = source
            self.environment = environment
            self.cost = cost
        }

        /// Whether no file was sealed or opened yet. Whatever is opened first may show the salt to go on with.
        var isFresh: Bool { known.withLock { $0.current == nil } }

        /// The key to seal a file with.
        func currentKey() throws(StorageFailure) -> FileKey {
            try inTurn { () throws(StorageFailure) in
                if let key = known.withLock({ $0.current }) { return key }
                var salt = Data(count: KeyDerivation.saltCount)
                for index in salt.indices { salt[index] = .random(in: 0 ... .max) }
                let cost: ScryptCost? =
                    switch try material(creates: !known.withLock { $0.hasSeenFile }) {
                    case .key: nil
                    case .passphrase: self.cost
                    }
                let key = try key(for: KeyDerivation(cost: cost, salt: salt))
                known.withLock { $0.current = key }
                return key
            }
        }

        /// The key of a file that is there.
        /// - Parameter path: The file's, for the words of a failure.
        func key(for derivation: KeyDerivation, of path: String) throws(StorageFailure) -> FileKey {
            try inTurn { () throws(StorageFailure) in
                // A key that is missing now, on a disk that is not there say, must not be replaced by a new one.
                known.withLock { $0.hasSeenFile = true }
                switch (try material(creates: false), derivation.cost) {
                case (.key, nil), (.passphrase, .some): return try key(for: derivation)
                case (.key, .some):
                    throw StorageFailure(.corrupt, "\(path) is sealed with a passphrase, and \(source) is none")
                case (.passphrase, nil):
                    throw StorageFailure(.corrupt, "\(path) is sealed with a key, and not with \(source)")
                }
            }
        }

        /// A file was opened with this key. Sealing goes on with it, unless it cost less than it should: many files may
        /// have one salt then, and other processes need no time for a new one.
        func hasOpened(with key: FileKey) {
            known.withLock { known in
                if key.derivation.cost == nil || key.derivation.cost == cost { known.current = key }
            }
        }

        private func inTurn<Value>(_ work: () throws(StorageFailure) -> Value) throws(StorageFailure) -> Value {
            try turn.sync { Result { () throws(StorageFailure) -> Value in try work() } }.get()
        }

        private func material(creates: Bool) throws(StorageFailure) -> KeySource.Material {
            if let material = known.withLock({ $0.material }) { return material }
            let material = try source.material(creates: creates, environment: environment())
            known.withLock { $0.material = material }
            return material
        }

        private func key(for derivation: KeyDerivation) throws(StorageFailure) -> FileKey {
            if let key = known.withLock({ $0.keys[derivation] }) { return key }
            let key = FileKey(derivation, from: try base(of: derivation))
            known.withLock { known in
                if known.keys.count >= Self.mostKeys { known.keys = [:] }
                known.keys[derivation] = key
            }
            return key
        }

        private func base(of derivation: KeyDerivation) throws(StorageFailure) -> SymmetricKey {
            switch (try material(creates: false), derivation.cost) {
            case (.passphrase(let passphrase), let cost?):
                let key = try? KDF.Scrypt.deriveKey(
                    from: passphrase, salt: derivation.salt, outputByteCount: KeyText.byteCount,
                    rounds: 1 << Int(cost.logN), blockSize: Int(cost.r), parallelism: Int(cost.p))
                guard let key else {
                    throw StorageFailure(.unreachable, "\(source) could not be stretched: is there enough memory?")
                }
                return key
            case (.key(let key), _), (.passphrase(let key), nil):
                return SymmetricKey(data: key)
            }
        }
    }

    extension KeyRing: CustomStringConvertible, CustomReflectable {
        var description: String { "\(source)" }
        var customMirror: Mirror { Mirror(self, children: [:]) }
    }
#endif
