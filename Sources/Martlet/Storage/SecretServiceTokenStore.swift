#if os(Linux)
    /// Keeps the session in the desktop's keyring, as one secret.
    ///
    /// ```swift
    /// let tokens = TokenManager(
    ///     baseURL: "https://api.example.com", store: .secretService(service: "com.example.app"),
    ///     refresher: .json(path: "/auth/refresh"))
    /// ```
    ///
    /// What it does where the keyring is locked or there is none is told by ``SecretServiceStorage``. Nothing there says
    /// that the keyring has been unlocked: the session is read again when it is next needed.
    public typealias SecretServiceTokenStore = SecureTokenStore<SecretServiceStorage>

    extension SecureTokenStore where Storage == SecretServiceStorage {
        /// A store for one session in the default keyring.
        /// - Parameters:
        ///   - service: The app's name in reverse-domain form.
        ///   - account: What tells this session from others of the app.
        ///   - timeout: How long the service may take for what is asked of it. With more than seven seconds other
        ///     processes of the app may take a slow one for one that was stopped.
        ///   - folder: Where processes that share the session leave each other notes. By default a folder of the service
        ///     below `$XDG_STATE_HOME`.
        public convenience init(
            service: String, account: String = "session", timeout: Duration = .seconds(5), folder: String? = nil
        ) {
            self.init(
                storage: SecretServiceStorage(service: service, timeout: timeout), key: account,
                folder: folder ?? Disk.stateFolder(of: service))
        }
    }

    extension TokenStore where Self == SecretServiceTokenStore {
        /// The session of an app, in the desktop's keyring.
        /// - Parameter service: The app's name in reverse-domain form.
        public static func secretService(service: String) -> SecretServiceTokenStore {
            SecretServiceTokenStore(service: service)
        }
    }
#endif
