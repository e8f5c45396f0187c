extension TokenStore where Self == AnyTokenStore {
    /// Keeps the session in the safest storage of the system: the Keychain on Apple platforms; on Linux the desktop's
    /// keyring if one responds, otherwise files that only their user can read.
    ///
    /// On Linux the choice is made when the first session is saved, and is kept: if the keyring does not respond later,
    /// the session is *unavailable*, which does not sign the user out. To choose again, delete the file `storage` of
    /// the service's folder in `$XDG_STATE_HOME`, and sign in again.
    ///
    /// ```swift
    /// let store: AnyTokenStore = .platformDefault(service: "com.example.app")
    /// print(try await store.choice() as Any)    // Optional(secretService(reason: "it is available"))
    /// ```
    /// - Parameter service: The app's name in reverse-domain form; on Apple platforms usually its bundle identifier.
    public static func platformDefault(service: String) -> AnyTokenStore {
        AnyTokenStore(
            SecureTokenStore(
                storage: PlatformStorage.best(service: service), key: "session", folder: Disk.stateFolder(of: service)))
    }
}

#if canImport(Security)
    extension TokenStore where Self == AnyTokenStore {
        /// Keeps the session in Apple's Keychain, as one generic password.
        ///
        /// ```swift
        /// let tokens = TokenManager(
        ///     baseURL: "https://api.example.com", store: .keychain(service: "com.example.app"),
        ///     refresher: .json(path: "/auth/refresh"))
        /// ```
        ///
        /// By default the session is readable after the first unlock of the device, on this device only. While it
        /// cannot be read, the session is *unavailable*, which does not sign the user out. It is read again after the
        /// unlock. An app and its extensions share a session through an access group and a folder of their app group:
        ///
        /// ```swift
        /// let group = "group.com.example.app"
        /// let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group)
        /// let store: some TokenStore = .keychain(
        ///     service: "com.example.app", accessGroup: group, folder: folder?.path)
        /// ```
        /// - Parameters:
        ///   - service: Usually the app's bundle identifier (`kSecAttrService`).
        ///   - account: Distinguishes several sessions of the app (`kSecAttrAccount`).
        ///   - accessGroup: One of the app's keychain access groups or app groups, including the team's prefix if it
        ///     has one. `nil` for the app alone.
        ///   - accessibility: The condition under which the session may be read.
        ///   - authentication: Whether the user must authenticate before the session is read. Storing a session never
        ///     prompts. On tvOS, where no authentication is available, reading then fails.
        ///   - reinstallMarkerFolder: A folder that is deleted only together with the app. Keychain items outlive the
        ///     app, and by default the session of an earlier installation is used. With this folder, the store keeps
        ///     the same random number in the item and in a file, and deletes the session if the file is gone or has
        ///     another number. If the file cannot be read, or the item has no number yet, the session is kept. A
        ///     folder of caches has no effect, because the system empties it; tvOS has no other folder. Extensions that
        ///     share the session pass a folder of their app group.
        ///   - macKeychain: The Keychain to use on macOS.
        ///   - folder: The folder of the lock files. By default a folder of the service in the container's
        ///     `Library/Application Support`, on tvOS `Library/Caches`. Processes that share the session pass the same
        ///     folder, in the container of their app group.
        public static func keychain(
            service: String, account: String = "session", accessGroup: String? = nil,
            accessibility: KeychainAccessibility = .afterFirstUnlockThisDeviceOnly,
            authentication: KeychainAuthentication = .none, reinstallMarkerFolder: String? = nil,
            macKeychain: MacKeychain = .automatic, folder: String? = nil
        ) -> AnyTokenStore {
            let storage = KeychainStorage(
                KeychainStorage.Settings(
                    service: service, accessGroup: accessGroup, accessibility: accessibility,
                    authentication: authentication, reinstallMarkerFolder: reinstallMarkerFolder,
                    macKeychain: macKeychain))
            return .secure(storage, key: account, folder: folder ?? Disk.stateFolder(of: service))
        }
    }
#endif

#if os(Linux)
    extension TokenStore where Self == AnyTokenStore {
        /// Keeps the session in the desktop's keyring: GNOME Keyring, KeePassXC, KWallet or another that implements the
        /// [Secret Service](https://specifications.freedesktop.org/secret-service-spec/latest/).
        ///
        /// ```swift
        /// let tokens = TokenManager(
        ///     baseURL: "https://api.example.com", store: .secretService(service: "com.example.app"),
        ///     refresher: .json(path: "/auth/refresh"))
        /// ```
        ///
        /// While the keyring is locked, or if the system has none, the session is *unavailable*; see
        /// ``SecureStorage/secretService(service:timeout:)``. The keyring does not report when it is unlocked, so the
        /// session is read again only when it is next needed.
        /// - Parameters:
        ///   - service: The app's name in reverse-domain form.
        ///   - account: Distinguishes several sessions of the app.
        ///   - timeout: The longest duration of a call. Above seven seconds, another process of the app may mistake
        ///     this one for a suspended one.
        ///   - folder: The folder of the lock files, the same in all processes that share the session. By default a
        ///     folder of the service in `$XDG_STATE_HOME`.
        public static func secretService(
            service: String, account: String = "session", timeout: Duration = .seconds(5), folder: String? = nil
        ) -> AnyTokenStore {
            .secure(
                SecretServiceStorage(service: service, timeout: timeout), key: account,
                folder: folder ?? Disk.stateFolder(of: service))
        }
    }
#endif

#if Encryption
    extension TokenStore where Self == AnyTokenStore {
        /// Keeps the session in an encrypted file of the user: `session.sealed` beside the `session.json` of
        /// ``TokenStore/file(service:)``. See ``encryptedFile(path:key:)``.
        /// - Parameters:
        ///   - service: The app's name in reverse-domain form. A slash in it is replaced by a dash.
        ///   - key: Seals the file.
        public static func encryptedFile(service: String, key: EncryptionKey) -> AnyTokenStore {
            .encryptedFile(path: Disk.stateFolder(of: service) + "/session.sealed", key: key)
        }

        /// Keeps the session in an encrypted file: for services, CI and containers. Needs the trait `Encryption`.
        ///
        /// The file is sealed with AES-256-GCM and a new nonce for each write: without the key it can be neither read
        /// nor changed. A program with write access to the folder can still delete the file, or replace it with an
        /// older one or with one that was sealed with the same key elsewhere. Otherwise the store works like
        /// ``TokenStore/file(path:)``. All processes that share the file need the same key.
        ///
        /// If the file is damaged, or was sealed with another key, reading fails with ``StorageError/Kind/corrupt``;
        /// the description says which of the two applies. A plain text file is not read. To encrypt the file of an
        /// existing session:
        ///
        /// ```swift
        /// let store: AnyTokenStore = .encryptedFile(path: path, key: key)
        /// if case .found(let session) = await AnyTokenStore.file(path: path).read() { try await store.write(session) }
        /// ```
        /// - Parameters:
        ///   - path: A path on a local disk. Missing folders are created when needed.
        ///   - key: Seals the file.
        public static func encryptedFile(path: String, key: EncryptionKey) -> AnyTokenStore {
            AnyTokenStore(FileTokenStore(path: path, coding: SealedCoding(ring: key.ring)))
        }
    }
#endif
