#if os(Linux)
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif

    /// The functions of libsecret, and of the GLib beneath it, that ``SecretServiceStorage`` needs.
    ///
    /// They are looked for when they are first needed: nothing has to be installed to build an app or to start it, and
    /// where the library is missing there is a ``StorageFailure`` that says so. None of them takes variable arguments,
    /// which Swift could not pass.
    struct LibSecret: Sendable {
        /// An object or a block of memory that the library owns or has given away.
        typealias Pointer = UnsafeMutableRawPointer
        /// Where a function leaves its error.
        typealias ErrorPlace = UnsafeMutablePointer<Pointer?>
        typealias Text = UnsafePointer<CChar>

        typealias Free = @convention(c) @Sendable (Pointer?) -> Void
        typealias Make = @convention(c) @Sendable () -> Pointer?
        typealias GetFlag = @convention(c) @Sendable (Pointer) -> Int32
        typealias GetNumber = @convention(c) @Sendable (Pointer) -> UInt64
        typealias GetPointer = @convention(c) @Sendable (Pointer) -> Pointer?
        typealias GetText = @convention(c) @Sendable (Pointer) -> Text?
        typealias Perform = @convention(c) @Sendable (Pointer, Pointer, ErrorPlace) -> Int32
        typealias Hash = @convention(c) @Sendable (UnsafeRawPointer?) -> UInt32
        typealias Equal = @convention(c) @Sendable (UnsafeRawPointer?, UnsafeRawPointer?) -> Int32

        // GLib
        let free: Free
        let freeError: Free
        let freeList: Free
        let copyText: @convention(c) @Sendable (Text) -> Pointer?
        let quarkText: @convention(c) @Sendable (UInt32) -> Text?
        let textHash: Hash
        let textEqual: Equal
        let makeTable: @convention(c) @Sendable (Hash, Equal, Free, Free) -> Pointer?
        let insert: @convention(c) @Sendable (Pointer, Pointer?, Pointer?) -> Int32
        let lookUp: @convention(c) @Sendable (Pointer, Text) -> Text?
        let releaseTable: Free
        let makeContext: Make
        let pushContext: Free
        let popContext: Free
        let iterateContext: @convention(c) @Sendable (Pointer, Int32) -> Int32
        let release: Free
        let makeCancellable: Make
        let cancel: Free
        let connectToBus: @convention(c) @Sendable (Int32, Pointer, ErrorPlace) -> Pointer?
        let setExitsOnClose: @convention(c) @Sendable (Pointer, Int32) -> Void
        let isClosed: GetFlag
        let objectPath: GetText

        // libsecret
        let serviceType: @convention(c) @Sendable () -> UInt
        let openService: @convention(c) @Sendable (UInt, Text?, Int32, Pointer, ErrorPlace) -> Pointer?
        let search: @convention(c) @Sendable (Pointer, Pointer?, Pointer, Int32, Pointer, ErrorPlace) -> Pointer?
        let collectionForAlias: @convention(c) @Sendable (Pointer, Text, Int32, Pointer, ErrorPlace) -> Pointer?
        let isCollectionLocked: GetFlag
        let createItem:
            @convention(c) @Sendable (Pointer, Pointer?, Pointer, Text, Pointer, Int32, Pointer, ErrorPlace) -> Pointer?
        let isItemLocked: GetFlag
        let itemModified: GetNumber
        let itemCreated: GetNumber
        let itemAttributes: GetPointer
        let loadSecret: Perform
        let itemSecret: GetPointer
        let deleteItem: Perform
        let makeValue: @convention(c) @Sendable (UnsafeRawPointer?, Int, Text) -> Pointer?
        let valueBytes: @convention(c) @Sendable (Pointer, UnsafeMutablePointer<UInt>) -> UnsafeRawPointer?
        let releaseValue: Free

        /// What most systems have.
        static let system = Result { () throws(StorageFailure) in try LibSecret(name: "libsecret-1.so.0") }

        /// - Parameter name: The library's name for the system's loader, or its path.
        /// - Throws: ``StorageFailure`` where it is not installed, or lacks a function.
        init(name: String) throws(StorageFailure) {
            let library = try Library(name)
            free = try library["g_free"]
            freeError = try library["g_error_free"]
            freeList = try library["g_list_free"]
            copyText = try library["g_strdup"]
            quarkText = try library["g_quark_to_string"]
            textHash = try library["g_str_hash"]
            textEqual = try library["g_str_equal"]
            makeTable = try library["g_hash_table_new_full"]
            insert = try library["g_hash_table_insert"]
            lookUp = try library["g_hash_table_lookup"]
            releaseTable = try library["g_hash_table_unref"]
            makeContext = try library["g_main_context_new"]
            pushContext = try library["g_main_context_push_thread_default"]
            popContext = try library["g_main_context_pop_thread_default"]
            iterateContext = try library["g_main_context_iteration"]
            release = try library["g_object_unref"]
            makeCancellable = try library["g_cancellable_new"]
            cancel = try library["g_cancellable_cancel"]
            connectToBus = try library["g_bus_get_sync"]
            setExitsOnClose = try library["g_dbus_connection_set_exit_on_close"]
            isClosed = try library["g_dbus_connection_is_closed"]
            objectPath = try library["g_dbus_proxy_get_object_path"]
            serviceType = try library["secret_service_get_type"]
            openService = try library["secret_service_open_sync"]
            search = try library["secret_service_search_sync"]
            collectionForAlias = try library["secret_collection_for_alias_sync"]
            isCollectionLocked = try library["secret_collection_get_locked"]
            createItem = try library["secret_item_create_sync"]
            isItemLocked = try library["secret_item_get_locked"]
            itemModified = try library["secret_item_get_modified"]
            itemCreated = try library["secret_item_get_created"]
            itemAttributes = try library["secret_item_get_attributes"]
            loadSecret = try library["secret_item_load_secret_sync"]
            itemSecret = try library["secret_item_get_secret"]
            deleteItem = try library["secret_item_delete_sync"]
            makeValue = try library["secret_value_new"]
            valueBytes = try library["secret_value_get"]
            releaseValue = try library["secret_value_unref"]
        }

        /// Calls a function that may leave an error, and frees that error.
        func check<Outcome>(_ call: (ErrorPlace) -> Outcome) throws(GLibError) -> Outcome {
            var error: Pointer?
            let outcome = call(&error)
            guard let error else { return outcome }
            defer { freeError(error) }
            throw GLibError(error, self)
        }

        /// Calls `use` with a table of texts that is gone afterwards.
        /// - Parameter texts: Without NUL, which C could not tell from their end.
        func withTable<Outcome, Failure: Error>(
            _ texts: [String: String], _ use: (Pointer) throws(Failure) -> Outcome
        ) throws(Failure) -> Outcome? {
            guard let table = makeTable(textHash, textEqual, free, free) else { return nil }
            defer { releaseTable(table) }
            for (name, text) in texts { _ = insert(table, copyText(name), copyText(text)) }
            return try use(table)
        }
    }

    /// What a function of GLib or libsecret has to say about its failure.
    struct GLibError: Error {
        /// The name of the list that `code` belongs to, such as `g-io-error-quark`.
        let domain: String
        let code: Int32
        let message: String

        /// The head of a `GError`.
        private struct Fields {
            let domain: UInt32
            let code: Int32
            let message: LibSecret.Text?
        }

        fileprivate init(_ error: LibSecret.Pointer, _ library: LibSecret) {
            let fields = error.load(as: Fields.self)
            domain = library.quarkText(fields.domain).map { String(cString: $0) } ?? "?"
            code = fields.code
            message = fields.message.map { String(cString: $0) } ?? ""
        }
    }

    /// A reference to an object of GLib's, given back when this goes.
    ///
    /// Unchecked: GLib counts references atomically, and what is called with the pointer is up to the caller.
    final class GLibObject: @unchecked Sendable {
        private let pointer: LibSecret.Pointer
        private let release: LibSecret.Free

        /// Takes over a reference.
        init?(_ pointer: LibSecret.Pointer?, _ library: LibSecret) {
            guard let pointer else { return nil }
            self.pointer = pointer
            release = library.release
        }

        deinit {
            release(pointer)
        }

        /// Calls `body` with the object, which stays for as long as that takes.
        func use<Outcome, Failure: Error>(
            _ body: (LibSecret.Pointer) throws(Failure) -> Outcome
        ) throws(Failure) -> Outcome {
            defer { withExtendedLifetime(self) {} }
            return try body(pointer)
        }
    }

    /// A library that was opened, and stays so: GLib has threads of its own and cannot be unloaded.
    private struct Library {
        private let name: String
        private let handle: UnsafeMutableRawPointer

        init(_ name: String) throws(StorageFailure) {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
                let reason = dlerror().map { String(cString: $0) } ?? "no reason given"
                throw StorageFailure(
                    .unreachable,
                    "libsecret is not installed (\(reason)); Debian and Ubuntu have it in the package libsecret-1-0, "
                        + "Fedora and Alpine in libsecret")
            }
            self.name = name
            self.handle = handle
        }

        /// A function of the library, or of one that it uses.
        subscript<Function>(_ symbol: String) -> Function {
            get throws(StorageFailure) {
                guard let address = dlsym(handle, symbol) else {
                    throw StorageFailure(.unreachable, "\(name) is too old or not libsecret: it has no \(symbol)")
                }
                // Right as long as the type is that of the function in the library's headers, which has not changed.
                return unsafeBitCast(address, to: Function.self)
            }
        }
    }
#endif
