#if os(Linux)
    package import FoundationEssentials

    /// Keeps secrets in the desktop's keyring, through the Secret Service.
    ///
    /// The user sees them there as "service: key". Calls never unlock the keyring, so reading never shows a dialog.
    /// While the keyring is locked, it need not list its items, so every call fails with ``StorageError/Kind/locked``.
    ///
    /// The connection to the session bus is GLib's, and is shared with GTK if the program uses it. GLib is told not to
    /// end the process when the bus closes the connection.
    package final class SecretServiceStorage: SecureStorage {
        private let service: String
        private let timeout: Duration
        private let link: SecretServiceLink

        package init(service: String, timeout: Duration = .seconds(5), link: SecretServiceLink = .shared) {
            self.service = service
            self.timeout = timeout
            self.link = link
        }

        /// Reads a value: the newest, if other programs have saved several.
        ///
        /// The timeout ends the call; cancellation of the task does not. This applies to all calls of this type.
        package func read(_ key: String) async throws(StorageError) -> Data? {
            let attributes = attributes(key)
            return try await link.run(within: timeout) { call throws(StorageError) in try call.read(attributes) }
        }

        /// - Throws: ``StorageError``. After a timeout, a suspended service may still save the value when it resumes.
        package func save(_ value: Data, for key: String) async throws(StorageError) {
            let attributes = attributes(key)
            let label = "\(SecretServiceText.escape(service)): \(SecretServiceText.escape(key))"
            try await link.run(within: timeout) { call throws(StorageError) in
                try call.save(value, attributes, label: label)
            }
        }

        /// - Throws: ``StorageError``. After a timeout, a suspended service may still delete the value when it resumes.
        package func delete(_ key: String) async throws(StorageError) {
            let attributes = attributes(key)
            try await link.run(within: timeout) { call throws(StorageError) in try call.delete(attributes) }
        }

        package func keys() async throws(StorageError) -> [String] {
            let attributes = attributes(nil)
            let found = try await link.run(within: timeout) { call throws(StorageError) in
                try call.values(of: "key", attributes)
            }
            return Set(found.compactMap(SecretServiceText.unescape)).sorted()
        }

        /// Checks for the library, the session bus, a service that responds, and a default keyring, locked or not.
        /// - Returns: The error of the first that is missing; `nil` if none is.
        func availability() async -> StorageError? {
            do throws(StorageError) {
                try await link.run(within: timeout) { call throws(StorageError) in _ = try call.defaultCollection() }
                return nil
            } catch {
                return error
            }
        }

        /// The attributes of the item of a key, or of all items if `nil`.
        func attributes(_ key: String?) -> [String: String] {
            var attributes = ["xdg:schema": "org.martlet.Secret", "service": SecretServiceText.escape(service)]
            attributes["key"] = key.map(SecretServiceText.escape)
            return attributes
        }
    }

    /// Escapes text for the Secret Service, which does not allow NUL.
    enum SecretServiceText {
        static func escape(_ text: String) -> String {
            text.unicodeScalars.reduce(into: "") { escaped, scalar in
                switch scalar {
                case "%": escaped += "%25"
                case "\0": escaped += "%00"
                default: escaped.unicodeScalars.append(scalar)
                }
            }
        }

        /// - Returns: `nil` if the text is not escaped in this way, so another program has written it.
        static func unescape(_ text: String) -> String? {
            var rest = text.unicodeScalars[...]
            var plain = String.UnicodeScalarView()
            while let scalar = rest.popFirst() {
                guard scalar == "%" else {
                    plain.append(scalar)
                    continue
                }
                switch String(rest.prefix(2)) {
                case "25": plain.append("%")
                case "00": plain.append("\0")
                default: return nil
                }
                rest = rest.dropFirst(2)
            }
            return String(plain)
        }
    }

    extension SecureStorage where Self == AnySecureStorage {
        /// Keeps secrets in the desktop's keyring: GNOME Keyring, KeePassXC, KWallet or another that implements the
        /// [Secret Service](https://specifications.freedesktop.org/secret-service-spec/latest/).
        ///
        /// The user sees them there as "service: key", in the default keyring, which is usually unlocked by signing in
        /// to the desktop. Calls never unlock it, so reading never shows a dialog: while the keyring is locked, calls
        /// throw ``StorageError/Kind/locked``. Keys and the name of the service are not secret: other programs of the
        /// user can read them even while the keyring is locked.
        ///
        /// libsecret is loaded when it is first needed. If it is missing, or there is no session bus, service or
        /// default keyring, as on a server, calls throw ``StorageError/Kind/unreachable``.
        ///
        /// ```swift
        /// let secrets: some SecureStorage = .secretService(service: "com.example.app")
        /// try await secrets.save(Data("4711".utf8), for: "pin")
        /// ```
        /// - Parameters:
        ///   - service: The app's name in reverse-domain form. Storages of the same name share their values.
        ///   - timeout: The longest duration of a call; afterwards it throws ``StorageError/Kind/unreachable``. A
        ///     service that asks the user before it saves, as KeePassXC can, needs longer. GLib waits for at most 25
        ///     seconds.
        public static func secretService(
            service: String, timeout: Duration = .seconds(5)
        ) -> AnySecureStorage {
            AnySecureStorage(SecretServiceStorage(service: service, timeout: timeout))
        }
    }
#endif
