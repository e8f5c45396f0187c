#if os(Linux)
    internal import FoundationEssentials

    /// What one call does with the Secret Service. Every function blocks, for as long as `cancellable` lets it.
    ///
    /// None of them unlocks anything, so that no dialog comes up for it.
    struct SecretServiceCall {
        let library: LibSecret
        let service: GLibObject
        let cancellable: GLibObject
        /// The keyring that new items go to, by the name of its role.
        var keyring = "default"

        /// An item that matches some attributes.
        private struct Item {
            let object: GLibObject
            let path: String
            let isLocked: Bool
            let modified: UInt64
            let created: UInt64

            /// Whether it was saved later than another one. The clock of keyrings has seconds; paths decide what it does
            /// not, for no other reason than to decide alike each time.
            func isNewer(than other: Item) -> Bool {
                (modified, created, path.utf8.count, path) > (
                    other.modified, other.created, other.path.utf8.count, other.path
                )
            }
        }

        private enum Option {
            static let searchAll: Int32 = 1 << 1
            static let replace: Int32 = 1 << 1
        }

        /// The newest value with these attributes.
        func read(_ attributes: [String: String]) throws(StorageFailure) -> Data? {
            let items = try unlockedItems(attributes)
            try requireTelling(items)
            guard let first = items.first else { return nil }
            let newest = items.dropFirst().reduce(first) { $1.isNewer(than: $0) ? $1 : $0 }
            _ = try perform { place in
                newest.object.use { item in cancellable.use { library.loadSecret(item, $0, place) } }
            }
            guard let secret = newest.object.use({ library.itemSecret($0) }) else {
                throw StorageFailure(.unreachable, "the Secret Service has the value and did not hand it over")
            }
            defer { library.releaseValue(secret) }
            var count: UInt = 0
            guard let bytes = library.valueBytes(secret, &count) else { return Data() }
            return Data(bytes: bytes, count: Int(count))
        }

        /// Saves a value in the default keyring in place of all that have these attributes.
        func save(
            _ value: Data, _ attributes: [String: String], label: String
        ) throws(StorageFailure) {
            let before = try unlockedItems(attributes)
            let collection = try defaultCollection()
            try requireUnlocked(collection)
            let secret = value.withUnsafeBytes {
                library.makeValue($0.baseAddress, $0.count, "application/octet-stream")
            }
            guard let secret else { throw StorageFailure(.unreachable, "libsecret takes no value of this size") }
            defer { library.releaseValue(secret) }
            let created = try library.withTable(attributes) { table throws(StorageFailure) in
                try perform { place in
                    collection.use { collection in
                        cancellable.use {
                            library.createItem(collection, nil, table, label, secret, Option.replace, $0, place)
                        }
                    }
                }
            }
            guard let created = GLibObject(created ?? nil, library) else {
                throw StorageFailure(.locked, "the Secret Service has not saved the value: the person may have refused")
            }
            let path = path(of: created)
            // After the new value, so that there is one at every moment.
            for item in before where item.path != path { try delete(item) }
        }

        /// Deletes all that have these attributes.
        func delete(_ attributes: [String: String]) throws(StorageFailure) {
            let items = try unlockedItems(attributes)
            try requireTelling(items)
            if items.isEmpty { return }
            for item in items { try delete(item) }
            // libsecret calls it a success where the service asked a person, who refused.
            let paths = Set(items.map(\.path))
            if try unlockedItems(attributes).contains(where: { paths.contains($0.path) }) {
                throw StorageFailure(
                    .locked, "the Secret Service has not deleted the value: the person may have refused")
            }
        }

        /// Makes sure that there can be no other item than these: a locked keyring may not say what it has.
        private func requireTelling(_ items: [Item]) throws(StorageFailure) {
            do throws(StorageFailure) {
                try requireUnlocked(defaultCollection())
            } catch {
                // Without a default keyring what is elsewhere is all there is.
                if items.isEmpty || error.kind == .locked { throw error }
            }
        }

        /// What the items with these attributes have for another one.
        func values(of name: String, _ attributes: [String: String]) throws(StorageFailure) -> [String] {
            let items = try unlockedItems(attributes)
            try requireUnlocked(defaultCollection())
            return items.compactMap { item in
                guard let table = item.object.use({ library.itemAttributes($0) }) else { return nil }
                defer { library.releaseTable(table) }
                return library.lookUp(table, name).map { String(cString: $0) }
            }
        }

        /// Finds the keyring that new items go to.
        @discardableResult
        func defaultCollection() throws(StorageFailure) -> GLibObject {
            let found = try perform { place in
                service.use { service in
                    cancellable.use { library.collectionForAlias(service, keyring, 0, $0, place) }
                }
            }
            guard let collection = GLibObject(found, library) else {
                throw StorageFailure(
                    .unreachable,
                    "there is no default keyring: make one, for example in the app Passwords and Keys, or open the one "
                        + "that there is")
            }
            return collection
        }

        private func requireUnlocked(_ collection: GLibObject) throws(StorageFailure) {
            if collection.use({ library.isCollectionLocked($0) }) != 0 { throw .lockedKeyring }
        }

        /// All items with these attributes, if every one of them is open: what a locked one has may be newer.
        private func unlockedItems(_ attributes: [String: String]) throws(StorageFailure) -> [Item] {
            let list = try library.withTable(attributes) { table throws(StorageFailure) in
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

        private func delete(_ item: Item) throws(StorageFailure) {
            do throws(GLibError) {
                _ = try library.check { place in
                    item.object.use { item in cancellable.use { library.deleteItem(item, $0, place) } }
                }
            } catch {
                // Somebody else was faster.
                if error.isMissingObject { return }
                throw StorageFailure(error)
            }
        }

        /// Takes over what a list holds.
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
        ) throws(StorageFailure) -> Outcome {
            do throws(GLibError) {
                return try library.check(call)
            } catch {
                throw StorageFailure(error)
            }
        }
    }

    extension StorageFailure {
        static var lockedKeyring: StorageFailure {
            StorageFailure(.locked, "the keyring is locked: unlock it, for example by signing in to the desktop")
        }

        /// What a service has answered. Its own words are left out: nobody knows what it says in them.
        fileprivate init(_ error: GLibError) {
            if error.isLocked {
                self = .lockedKeyring
            } else if error.isMissingService {
                self.init(
                    .unreachable,
                    "no Secret Service answers on the session bus: GNOME Keyring, KeePassXC or KWallet offers one "
                        + "(\(error.domain) \(error.code))")
            } else {
                self.init(.unreachable, "the Secret Service has failed (\(error.domain) \(error.code))")
            }
        }

        /// Why there is no connection.
        init(connecting error: GLibError) {
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
