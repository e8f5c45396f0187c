#if Encryption
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// The key of encrypted files: a passphrase, or a reference to the place that has the key.
    ///
    /// The key is looked up when a file is first read or written, and kept for the life of this value and its copies.
    /// Share one value between all stores, so that a passphrase is stretched only once, which takes a few tenths of a
    /// second and 128 megabytes. If the key cannot be found, the stores fail with ``StorageError/Kind/unreachable``.
    ///
    /// A key is 32 random bytes: raw, as base64, or as 64 hexadecimal digits. To create one: `head -c 32 /dev/urandom |
    /// base64`.
    ///
    /// ```swift
    /// let key = EncryptionKey.systemdCredential("example.key")
    /// let store: some TokenStore = .encryptedFile(path: "/var/lib/example/session", key: key)
    /// ```
    public struct EncryptionKey: Sendable {
        // Printing or dumping a key prints this property, which shows no key.
        package let ring: KeyRing

        init(_ source: KeySource, environment: @escaping @Sendable () -> [String: String], cost: ScryptCost) {
            ring = KeyRing(source, environment: environment, cost: cost)
        }

        private init(_ source: KeySource) {
            self.init(source, environment: { ProcessInfo.processInfo.environment }, cost: .standard)
        }

        /// A passphrase, stretched by scrypt (RFC 7914) with N = 2¹⁷, r = 8, p = 1 and a salt in each file.
        /// - Parameter passphrase: Must not be empty. It is compared by its UTF-8 bytes, so a letter in another Unicode
        ///   form makes another passphrase.
        public static func passphrase(_ passphrase: Secret) -> EncryptionKey {
            EncryptionKey(.passphrase(passphrase))
        }

        /// A file with a key or a passphrase. It must belong to the user and have the mode 0600
        /// (``StorageError/Kind/unsafePermissions``).
        /// - Parameters:
        ///   - path: The path of the file. Keep it on another disk than the files that it opens, or out of their
        ///     backups.
        ///   - holdsPassphrase: Whether it contains a passphrase instead of a key.
        ///   - createIfMissing: Whether to create the key file with random contents when the first file is sealed,
        ///     and its folder, if that is missing. The file is not created if a store that was made with this value
        ///     already has a sealed file. Processes that create it at the same time agree on one. If the file is lost,
        ///     everything that it opens is lost.
        public static func file(
            path: String, holdsPassphrase: Bool = false, createIfMissing: Bool = false
        ) -> EncryptionKey {
            EncryptionKey(.file(path: path, KeyContent(holdsPassphrase), createIfMissing: createIfMissing))
        }

        /// A credential of a systemd service: the file of this name in `$CREDENTIALS_DIRECTORY` (systemd.exec(5),
        /// `LoadCredentialEncrypted=`, `LoadCredential=`).
        /// - Parameters:
        ///   - name: The credential's name, without a slash.
        ///   - holdsPassphrase: Whether it contains a passphrase instead of a key.
        public static func systemdCredential(_ name: String, holdsPassphrase: Bool = false) -> EncryptionKey {
            EncryptionKey(.systemdCredential(name, KeyContent(holdsPassphrase)))
        }

        /// A secret that an orchestrator mounts as a file: Kubernetes, Docker or Podman.
        ///
        /// Such a file often belongs to root, all users of the container may read it, and in Kubernetes its path is a
        /// symbolic link that is replaced when the secret is rotated. Links are followed. The file, each link and their
        /// folders must belong to the user or to root, and no other user may be able to change them
        /// (``StorageError/Kind/unsafePermissions``); a folder with the sticky bit is accepted.
        ///
        /// A rotated secret takes effect with the next value of this type, so usually at the next start. Files sealed
        /// with the old one can no longer be opened.
        /// - Parameters:
        ///   - path: The path at which the secret is mounted, such as `/run/secrets/example.key`.
        ///   - holdsPassphrase: Whether it contains a passphrase instead of a key.
        public static func mountedSecret(at path: String, holdsPassphrase: Bool = false) -> EncryptionKey {
            EncryptionKey(.mountedSecret(path: path, KeyContent(holdsPassphrase)))
        }

        /// An environment variable, for CI and containers without a better place. Child processes and users who may
        /// inspect the process can read its environment.
        /// - Parameters:
        ///   - variable: The variable's name.
        ///   - holdsPassphrase: Whether it contains a passphrase instead of a key.
        public static func environment(_ variable: String, holdsPassphrase: Bool = false) -> EncryptionKey {
            EncryptionKey(.environment(variable, KeyContent(holdsPassphrase)))
        }
    }
#endif
