#if os(Linux)
    internal import MartletLibc

    /// The functions of libsecret and GLib that ``SecretServiceStorage`` needs.
    ///
    /// The library is loaded when it is first needed, so nothing must be installed to build or launch an app. If the
    /// library is missing, a ``StorageError`` says so. Functions with variable arguments are avoided, because Swift
    /// cannot call them.
    package struct LibSecret: Sendable {
        /// An object or a block of memory of the library.
        typealias Pointer = UnsafeMutableRawPointer
        /// The error argument of a function.
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

        /// The library of the system.
        static let system = Result { () throws(StorageError) in try LibSecret(name: "libsecret-1.so.0") }

        /// - Parameters:
        ///   - name: The file name of the library, or its path.
        ///   - isStaticProgram: Whether this program is linked statically, with the C library.
        /// - Throws: ``StorageError`` if the library is not installed, cannot be loaded, or lacks a function.
        init(name: String, isStaticProgram: Bool = Library.isStaticProgram) throws(StorageError) {
            guard !isStaticProgram else {
                throw StorageError(
                    .unreachable,
                    "libsecret cannot be loaded into a program that is linked with -static-executable. Link it with "
                        + "--static-swift-stdlib alone, or choose a store in files")
            }
            try self.init(Library(name))
        }

        private init(_ library: Library) throws(StorageError) {
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

        /// Calls a function with an error argument, and frees the error.
        func check<Outcome>(_ call: (ErrorPlace) -> Outcome) throws(GLibError) -> Outcome {
            var error: Pointer?
            let outcome = call(&error)
            guard let error else { return outcome }
            defer { freeError(error) }
            throw GLibError(error, self)
        }

        /// Calls the closure with a hash table that exists for the duration of the call.
        /// - Parameter texts: The entries. They must not contain NUL, which ends a string in C.
        func withTable<Outcome, Failure: Error>(
            _ texts: [String: String], _ use: (Pointer) throws(Failure) -> Outcome
        ) throws(Failure) -> Outcome? {
            guard let table = makeTable(textHash, textEqual, free, free) else { return nil }
            defer { releaseTable(table) }
            for (name, text) in texts { _ = insert(table, copyText(name), copyText(text)) }
            return try use(table)
        }
    }

    /// The error of a GLib or libsecret function.
    package struct GLibError: Error {
        /// The domain of `code`, such as `g-io-error-quark`.
        let domain: String
        let code: Int32
        let message: String

        /// The layout of a `GError`.
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

    /// A reference to a GLib object. It is released when this object is destroyed.
    ///
    /// `@unchecked Sendable` is correct because GLib counts references atomically. The caller must serialize the calls
    /// that it makes with the pointer.
    final class GLibObject: @unchecked Sendable {
        private let pointer: LibSecret.Pointer
        private let release: LibSecret.Free

        /// Takes ownership of a reference.
        init?(_ pointer: LibSecret.Pointer?, _ library: LibSecret) {
            guard let pointer else { return nil }
            self.pointer = pointer
            release = library.release
        }

        deinit {
            release(pointer)
        }

        /// Calls `body` with the object, which stays alive for the duration of the call.
        func use<Outcome, Failure: Error>(
            _ body: (LibSecret.Pointer) throws(Failure) -> Outcome
        ) throws(Failure) -> Outcome {
            defer { withExtendedLifetime(self) {} }
            return try body(pointer)
        }
    }

    /// An opened library. It is never closed: GLib has threads of its own and cannot be unloaded.
    struct Library {
        /// Whether this program is linked statically, so that it has no dynamic symbols. Do not load a library then:
        /// glibc would load a second C library with it, and the first call would end the process.
        static let isStaticProgram = dlsym(nil, "dlopen") == nil

        private let name: String
        private let handle: UnsafeMutableRawPointer

        fileprivate init(_ name: String) throws(StorageError) {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
                let reason = dlerror().map { String(cString: $0) } ?? "no reason given"
                throw StorageError(
                    .unreachable,
                    "libsecret is not installed (\(reason)). Install the package libsecret-1-0 (Debian, Ubuntu) or "
                        + "libsecret (Fedora, Alpine)")
            }
            self.name = name
            self.handle = handle
        }

        /// A function of the library or of its dependencies.
        fileprivate subscript<Function>(_ symbol: String) -> Function {
            get throws(StorageError) {
                guard let address = dlsym(handle, symbol) else {
                    throw StorageError(
                        .unreachable, "\(name) is too old or not libsecret: it has no \(symbol); update it")
                }
                // The type is that of the function in the library's headers, which is stable.
                return unsafeBitCast(address, to: Function.self)
            }
        }
    }
#endif
