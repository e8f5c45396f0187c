#if Encryption
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// What an ``EncryptedFileTokenStore`` and an ``EncryptedFileStorage`` seal their files with.
    ///
    /// Nothing is looked up before a file is read or written, and what was found is kept for the life of this value and
    /// its copies. So make one and give it to all stores: a passphrase is then turned into a key once, which takes a
    /// few tenths of a second and 128 megabytes. A key that is not to be had is ``StorageFailure/Kind/unreachable``.
    ///
    /// A key of 32 random bytes comes from `head -c 32 /dev/urandom | base64`. Text of 64 hexadecimal digits or the
    /// bytes themselves will do as well.
    ///
    /// ```swift
    /// let key = EncryptionKey.systemdCredential("example.key")
    /// let store: some TokenStore = .encryptedFile(path: "/var/lib/example/session", key: key)
    /// ```
    public struct EncryptionKey: Sendable {
        let ring: KeyRing

        init(_ source: KeySource, environment: @escaping @Sendable () -> [String: String], cost: ScryptCost) {
            ring = KeyRing(source, environment: environment, cost: cost)
        }

        private init(_ source: KeySource) {
            self.init(source, environment: { ProcessInfo.processInfo.environment }, cost: .standard)
        }

        /// What is kept where the key is looked for.
        public enum Content: Sendable, Hashable {
            /// 32 random bytes, as they are or as text.
            case key
            /// A passphrase; a line break at its end is not part of it.
            case passphrase
        }

        /// A passphrase, stretched by scrypt (RFC 7914) with N = 2¹⁷, r = 8, p = 1 and a salt that is in each file.
        /// - Parameter passphrase: It must not be empty. It is taken as its UTF-8 bytes, which differ where the same
        ///   letter is composed in different ways.
        public static func passphrase(_ passphrase: Secret) -> EncryptionKey {
            EncryptionKey(.passphrase(passphrase))
        }

        /// A file with a key of 32 bytes, of the user's own and with mode 0600; no other is trusted
        /// (``StorageFailure/Kind/unsafePermissions``).
        /// - Parameters:
        ///   - path: Where it is; best on another disk than what it opens, or left out of its backups.
        ///   - createIfMissing: Whether to make it, with a random key, when something is first to be sealed; not beside
        ///     a file that was sealed with another one. Processes that do so at the same time agree on one. Whoever loses
        ///     the file loses all that it opens.
        public static func file(path: String, createIfMissing: Bool = false) -> EncryptionKey {
            EncryptionKey(.file(path: path, .key, createIfMissing: createIfMissing))
        }

        /// A file with a key or a passphrase, of the user's own and with mode 0600; no other is trusted
        /// (``StorageFailure/Kind/unsafePermissions``).
        /// - Parameters:
        ///   - path: Where it is.
        ///   - content: What is in it.
        public static func file(path: String, holding content: Content) -> EncryptionKey {
            EncryptionKey(.file(path: path, content, createIfMissing: false))
        }

        /// A credential that systemd hands to the service: the file of this name in `$CREDENTIALS_DIRECTORY`
        /// (systemd.exec(5), `LoadCredentialEncrypted=`, `LoadCredential=`).
        /// - Parameters:
        ///   - name: The credential's name, without a slash.
        ///   - content: What is in it.
        public static func systemdCredential(_ name: String, holding content: Content = .key) -> EncryptionKey {
            EncryptionKey(.systemdCredential(name, content))
        }

        /// An environment variable, for CI and containers that have nothing better: the environment of a process is to
        /// be seen by its children, and by whoever may look at the process.
        /// - Parameters:
        ///   - variable: The variable's name.
        ///   - content: What is in it; a key as text.
        public static func environment(_ variable: String, holding content: Content = .key) -> EncryptionKey {
            EncryptionKey(.environment(variable, content))
        }
    }

    extension EncryptionKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        /// Where the key comes from; never the key.
        public var description: String { ring.description }

        /// Where the key comes from; never the key.
        public var debugDescription: String { description }

        /// A mirror without children, so that `dump` shows nothing either.
        public var customMirror: Mirror { Mirror(self, children: [:]) }
    }
#endif
