#if os(Linux)
    internal import FoundationEssentials

    /// The operations of one call to the Secret Service. Each blocks until it is done or cancelled by `cancellable`.
    ///
    /// None of them unlocks a keyring, so none shows a dialog for that.
    struct SecretServiceCall {
        let library: LibSecret
        let service: GLibObject
        let cancellable: GLibObject
        /// The alias of the keyring for new items.
        var keyring = "default"

        /// An item that matches some attributes.
        private struct Item {
            let object: GLibObject
            let path: String
            let isLocked: Bool
            let modified: UInt64
            let created: UInt64

            /// Whether the item was saved later than another one. The timestamps have a resolution of one second, so
            /// paths break a tie to make the result deterministic.
            func isNewer(than other: Item) -> Bool {
                (modified, created, path.utf8.count, path) > (
                    other.modified, other.created, other.path.utf8.count, other.path
                )
            }
        }

        /// Flags of libsecret: one of `SecretSearchFlags`, and one of `SecretItemCreateFlags`.
        private enum Option {
            static let searchAll: Int32 = 1 << 1
            static let replace: Int32 = 1 << 1
        }

        /// The newest value with these attributes.
        func read(_ attributes: [String: String]) throws(StorageError) -> Data? {
            let items = try unlockedItems(attributes)
            try requireComplete(items)
            guard let first = items.first else { return nil }
            let newest = items.dropFirst().reduce(first) { $1.isNewer(than: $0) ? $1 : $0 }
            _ = try perform { place in
                newest.object.use { item in cancellable.use { library.loadSecret(item, $0, place) } }
            }
            guard let secret = newest.object.use({ library.itemSecret($0) }) else {
                throw StorageError(.unreachable, "the Secret Service has the value but did not return it; try again")
            }
            defer { library.releaseValue(secret) }
            var count: UInt = 0
            guard let bytes = library.valueBytes(secret, &count) else { return Data() }
            return Data(bytes: bytes, count: Int(count))
        }

        /// Saves a value in the default keyring, and deletes all other items with these attributes.
        func save(
            _ value: Data, _ attributes: [String: String], label: String
        ) throws(StorageError) {
            let before = try unlockedItems(attributes)
            let collection = try defaultCollection()
            try requireUnlocked(collection)
            let secret = value.withUnsafeBytes {
                library.makeValue($0.baseAddress, $0.count, "application/octet-stream")
            }
            guard let secret else {
                throw StorageError(.unreachable, "libsecret accepts no value of \(value.count) bytes; save less")
            }
            defer { library.releaseValue(secret) }
            let created = try library.withTable(attributes) { table throws(StorageError) in
                try perform { place in
                    collection.use { collection in
                        cancellable.use {
                            library.createItem(collection, nil, table, label, secret, Option.replace, $0, place)
                        }
                    }
                }
            }
            guard let created = GLibObject(created ?? nil, library) else {
                throw StorageError(
                    .locked, "the Secret Service did not save the value; the user may have denied it. Try again")
            }
            let path = path(of: created)
            // Delete the old items last, so that there is a value at every moment.
            for item in before where item.path != path { try delete(item) }
        }

        /// Deletes all items with these attributes.
        func delete(_ attributes: [String: String]) throws(StorageError) {
            let items = try unlockedItems(attributes)
            try requireComplete(items)
            if items.isEmpty { return }
            for item in items { try delete(item) }
            // libsecret reports success even if the user denied the deletion.
            let paths = Set(items.map(\.path))
            if try unlockedItems(attributes).contains(where: { paths.contains($0.path) }) {
                throw StorageError(
                    .locked, "the Secret Service did not delete the value; the user may have denied it. Try again")
            }
        }

        /// Confirms that there are no other items: a locked keyring need not list its items.
        private func requireComplete(_ items: [Item]) throws(StorageError) {
            do throws(StorageError) {
                try requireUnlocked(defaultCollection())
            } catch {
                // Without a default keyring, the items of the other keyrings are complete.
                if items.isEmpty || error.kind == .locked { throw error }
            }
        }

        /// The values of one attribute, for all items with these attributes.
        func values(of name: String, _ attributes: [String: String]) throws(StorageError) -> [String] {
            let items = try unlockedItems(attributes)
            try requireUnlocked(defaultCollection())
            return items.compactMap { item in
                guard let table = item.object.use({ library.itemAttributes($0) }) else { return nil }
                defer { library.releaseTable(table) }
                return library.lookUp(table, name).map { String(cString: $0) }
            }
        }

        /// The keyring for new items.
        @discardableResult
        func defaultCollection() throws(StorageError) -> GLibObject {
            let found = try perform { place in
                service.use { service in
                    cancellable.use { library.collectionForAlias(service, keyring, 0, $0, place) }
                }
            }
            guard let collection = GLibObject(found, library) else {
                throw StorageError(
                    .unreachable,
                    "there is no default keyring: create one, for example in the app Passwords and Keys, or open the "
                        + "existing one")
            }
            return collection
        }

        private func requireUnlocked(_ collection: GLibObject) throws(StorageError) {
            if collection.use({ library.isCollectionLocked($0) }) != 0 { throw .lockedKeyring }
        }

        /// All items with these attributes. Throws if one is locked: it may be the newest.
        private func unlockedItems(_ attributes: [String: String]) throws(StorageError) -> [Item] {
            let list = try library.withTable(attributes) { table throws(StorageError) in
                try perform { place in
                    service.use { service in
                        cancellable.use { library.search(service, nil, table, Option.searchAll, $0, place) }
                    }
                }
            }
            guard let list = list ?? nil else { return [] }
            defer { library.freeList(list) }
            let items = objects(in: list).map { object in
                object.use { pointer in
                    Item(
                        object: object, path: path(of: object), isLocked: library.isItemLocked(pointer) != 0,
                        modified: library.itemModified(pointer), created: library.itemCreated(pointer))
                }
            }
            if items.contains(where: \.isLocked) { throw .lockedKeyring }
            return items
        }

        private func delete(_ item: Item) throws(StorageError) {
            do throws(GLibError) {
                _ = try library.check { place in
                    item.object.use { item in cancellable.use { library.deleteItem(item, $0, place) } }
                }
            } catch {
                // Another program has already deleted the item.
                if error.isMissingObject { return }
                throw StorageError(error)
            }
        }

        /// Takes ownership of the objects in a list.
        private func objects(in list: LibSecret.Pointer) -> [GLibObject] {
            var objects: [GLibObject] = []
            var node: LibSecret.Pointer? = list
            while let current = node {
                let fields = current.load(as: (data: LibSecret.Pointer?, next: LibSecret.Pointer?).self)
                if let object = GLibObject(fields.data, library) { objects.append(object) }
                node = fields.next
            }
            return objects
        }

        private func path(of object: GLibObject) -> String {
            object.use { library.objectPath($0).map { String(cString: $0) } } ?? ""
        }

        private func perform<Outcome>(
            _ call: (LibSecret.ErrorPlace) -> Outcome
        ) throws(StorageError) -> Outcome {
            do throws(GLibError) {
                return try library.check(call)
            } catch {
                throw StorageError(error)
            }
        }
    }

    extension StorageError {
        package static var lockedKeyring: StorageError {
            StorageError(.locked, "the keyring is locked: unlock it, for example by signing in to the desktop")
        }

        /// The error of the service. Omits its message, which may contain anything.
        fileprivate init(_ error: GLibError) {
            if error.isLocked {
                self = .lockedKeyring
            } else if error.isMissingService {
                self.init(
                    .unreachable,
                    "no Secret Service runs on the session bus (\(error.domain) \(error.code)). Start GNOME Keyring, "
                        + "KeePassXC or KWallet")
            } else {
                self.init(.unreachable, "the Secret Service failed (\(error.domain) \(error.code)); try again")
            }
        }

        /// The error of a failed connection.
        package init(connecting error: GLibError) {
            self.init(
                .unreachable,
                "there is no session bus to reach the Secret Service on: \(error.message) "
                    + "(\(error.domain) \(error.code))")
        }
    }

    extension GLibError {
        fileprivate var isLocked: Bool { domain == "secret-error" && code == 2 }
        fileprivate var isMissingObject: Bool { domain == "secret-error" && code == 3 }
        fileprivate var isMissingService: Bool { domain == "g-dbus-error-quark" && [2, 3].contains(code) }
    }
#endif
