#if os(Linux)
    public import FoundationEssentials

    /// Keeps an app's secrets in the desktop's keyring: GNOME Keyring, KeePassXC, KWallet or another that offers the
    /// [Secret Service](https://specifications.freedesktop.org/secret-service-spec/latest/).
    ///
    /// A person sees them there as "service: key". They are in the default keyring, which is usually unlocked by signing
    /// in to the desktop. Nothing is unlocked for a call, and reading never brings up a dialog: while the keyring is
    /// locked every call fails with ``StorageFailure/Kind/locked``, since a locked keyring may not say what it has.
    ///
    /// It needs libsecret, which desktops have; it is loaded when it is first needed. Where it is missing, or there is no
    /// session bus, no service or no default keyring, as on a server, calls fail with
    /// ``StorageFailure/Kind/unreachable``, and so they do where the service does not answer in time. The key and the
    /// service's name are not secret: other programs of the user can read them even while the keyring is locked.
    ///
    /// The connection to the session bus is GLib's own, which a program that uses GTK has too; GLib is told not to end the
    /// process where the bus goes away.
    ///
    /// ```swift
    /// let secrets: some SecureStorage = .secretService(service: "com.example.app")
    /// try await secrets.save(Data("4711".utf8), for: "pin")
    /// ```
    public final class SecretServiceStorage: SecureStorage {
        /// The name that this app's secrets have in common.
        public let service: String
        private let timeout: Duration
        private let link: SecretServiceLink

        /// A storage in the default keyring.
        /// - Parameters:
        ///   - service: The app's name in reverse-domain form. Storages of the same name share their values.
        ///   - timeout: How long a call may take, with all that it has to wait for. A service that asks the user before
        ///     it saves, as KeePassXC can, needs a longer one; GLib itself waits for no answer longer than 25 seconds.
        public convenience init(service: String, timeout: Duration = .seconds(5)) {
            self.init(service: service, timeout: timeout, link: .shared)
        }

        init(service: String, timeout: Duration, link: SecretServiceLink) {
            self.service = service
            self.timeout = timeout
            self.link = link
        }

        /// Reads a value. Where other programs have saved several, the newest.
        ///
        /// The cancellation of the task does not end the call, here and below; the timeout does.
        /// - Parameter key: Any text; keys are told apart by their bytes.
        /// - Throws: ``StorageFailure``.
        public func read(_ key: String) async throws(StorageFailure) -> Data? {
            let attributes = attributes(key)
            return try await link.run(within: timeout) { call throws(StorageFailure) in try call.read(attributes) }
        }

        /// Saves a value, in place of what was there; returns once the service has said that it has it.
        /// - Parameters:
        ///   - value: A few kilobytes; a megabyte at most.
        ///   - key: Any text; keys are told apart by their bytes.
        /// - Throws: ``StorageFailure``. Where that is for a service that has stopped in the middle of saving, it may
        ///   still do so when it goes on.
        public func save(_ value: Data, for key: String) async throws(StorageFailure) {
            let attributes = attributes(key)
            let label = "\(SecretServiceText.escape(service)): \(SecretServiceText.escape(key))"
            try await link.run(within: timeout) { call throws(StorageFailure) in
                try call.save(value, attributes, label: label)
            }
        }

        /// Deletes a value; does nothing where there is none.
        /// - Throws: ``StorageFailure``. Where that is for a service that has stopped in the middle of deleting, it may
        ///   still do so when it goes on.
        public func delete(_ key: String) async throws(StorageFailure) {
            let attributes = attributes(key)
            try await link.run(within: timeout) { call throws(StorageFailure) in try call.delete(attributes) }
        }

        /// The keys that have a value, sorted.
        /// - Throws: ``StorageFailure``.
        public func keys() async throws(StorageFailure) -> [String] {
            let attributes = attributes(nil)
            let found = try await link.run(within: timeout) { call throws(StorageFailure) in
                try call.values(of: "key", attributes)
            }
            return Set(found.compactMap(SecretServiceText.unescape)).sorted()
        }

        /// Tells whether this system has what the storage needs: the library, a session bus, a service that answers, and
        /// a default keyring, locked or not.
        /// - Returns: What is missing; `nil` where nothing is.
        public func availability() async -> StorageFailure? {
            do throws(StorageFailure) {
                try await link.run(within: timeout) { call throws(StorageFailure) in _ = try call.defaultCollection() }
                return nil
            } catch {
                return error
            }
        }

        /// What an item is found by; for any key where there is none.
        func attributes(_ key: String?) -> [String: String] {
            var attributes = ["xdg:schema": "org.martlet.Secret", "service": SecretServiceText.escape(service)]
            attributes["key"] = key.map(SecretServiceText.escape)
            return attributes
        }
    }

    /// Text as the Secret Service can have it, which is any without NUL.
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

        /// - Returns: `nil` where it was not escaped like this, so that somebody else has written it.
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

    extension SecureStorage where Self == SecretServiceStorage {
        /// The desktop's keyring.
        /// - Parameter service: The app's name in reverse-domain form.
        public static func secretService(service: String) -> SecretServiceStorage {
            SecretServiceStorage(service: service)
        }
    }
#endif
