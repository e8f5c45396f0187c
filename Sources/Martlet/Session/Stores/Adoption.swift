#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A store that remembers the places from which it has adopted tokens, so that each is adopted only once.
protocol AdoptionRecording: TokenStore {
    /// Whether the tokens of a place were adopted, or must no longer be.
    func hasAdopted(_ place: String) async throws(StorageError) -> Bool
    /// Whether ``recordAdoption(of:)`` was called for a place.
    func hasRecorded(_ place: String) async throws(StorageError) -> Bool
    /// Remembers that the tokens of a place were adopted.
    func recordAdoption(of place: String) async throws(StorageError)
}

extension AdoptionRecording {
    func hasAdopted(_ place: String) async throws(StorageError) -> Bool { try await hasRecorded(place) }
}

/// Tokens outside Martlet's stores, for ``AnyTokenStore/adopt(_:)``.
package struct AdoptionJob: Sendable {
    /// Identifies the place.
    package let place: String
    /// Reads the tokens and the user; `nil` if there are none.
    package let read: @Sendable () async throws -> (tokens: Tokens, account: SessionAccount)?
    /// Notes at the place itself that the tokens were adopted, for a backup that contains the place and not the store.
    package let note: @Sendable () async throws -> Void
    /// Deletes the tokens; `nil` to leave them.
    package let delete: (@Sendable () async throws -> Void)?

    package init(
        place: String, read: @escaping @Sendable () async throws -> (tokens: Tokens, account: SessionAccount)?,
        note: @escaping @Sendable () async throws -> Void, delete: (@Sendable () async throws -> Void)?
    ) {
        self.place = place
        self.read = read
        self.note = note
        self.delete = delete
    }
}

extension AnyTokenStore {
    /// Adopts the tokens of a place, once. If the process is killed after a step, the next call continues there.
    /// - Returns: Whether tokens were adopted.
    @discardableResult
    package func adopt(_ job: AdoptionJob) async throws -> Bool {
        guard let store = plain as? any AdoptionRecording else {
            throw StorageError(
                .unreachable,
                "could not adopt \(job.place): the store is not one of Martlet's, so it cannot remember that")
        }
        if try await store.hasAdopted(job.place) {
            try await delete(job, of: store)
            return false
        }
        switch await store.read() {
        case .unavailable(let failure): throw failure
        // The app has had a session. Older tokens must neither replace nor revive it, even if they can be read.
        case .found, .ended: return try await finish(job, in: store, isAdopted: false)
        case .empty: break
        }
        guard let (tokens, account) = try await job.read() else { return false }
        let session = StoredSession(adopting: tokens, account: account, now: Date())
        let former = try await store.update { reading in
            if case .empty = reading { .write(session) } else { .keep }
        }
        if case .unavailable(let failure) = former { throw failure }
        return try await finish(job, in: store, isAdopted: former == .empty)
    }

    private func finish(
        _ job: AdoptionJob, in store: any AdoptionRecording, isAdopted: Bool
    ) async throws -> Bool {
        try await job.note()
        try await store.recordAdoption(of: job.place)
        try await delete(job, of: store)
        return isAdopted
    }

    /// Deletes the tokens of a place, unless an earlier call has deleted them. A later launch does not search for them
    /// again, which would fail on a locked device.
    private func delete(_ job: AdoptionJob, of store: any AdoptionRecording) async throws {
        guard let delete = job.delete, try await !store.hasRecorded(job.placeOfDeleted) else { return }
        try await delete()
        try await store.recordAdoption(of: job.placeOfDeleted)
    }

    /// A store that adopts the tokens of a place when it is first read.
    package func adopting(_ job: AdoptionJob, onFailure: @escaping @Sendable (any Error) -> Void) -> AnyTokenStore {
        AnyTokenStore(AdoptingTokenStore(store: self, job: job, onFailure: onFailure))
    }

    /// The storage of the store, if it keeps its session in one.
    package var storage: (any SecureStorage)? { (plain as? SecureTokenStore)?.storage }

    /// The store itself, without the adoptions of its first reading.
    var plain: any TokenStore { (base as? AdoptingTokenStore)?.store.plain ?? base }
}

extension AdoptionJob {
    /// Names the deletion of the tokens in the record of what was adopted.
    fileprivate var placeOfDeleted: String { place + " deleted" }
}

/// A store that adopts tokens when it is first read. While the place of the tokens cannot be read, because the device
/// is locked, the store cannot be read either: it must not report that there is no session.
private final class AdoptingTokenStore: TokenStore {
    let store: AnyTokenStore
    private let job: AdoptionJob
    private let onFailure: @Sendable (any Error) -> Void
    private let state = Locked(State())

    private struct State {
        /// Whether a reading has adopted the tokens, or has found that there are none to adopt in this launch.
        var isDone = false
        /// Whether the store remembers that the tokens must not be adopted any more.
        var isSettled = false
        /// Whether the store must still remember that, because an earlier attempt has failed.
        var mustSettle = false
        /// The reason why the last reading could not tell whether there are tokens; `nil` if it could.
        var lockedPlace: StorageError?
    }

    init(store: AnyTokenStore, job: AdoptionJob, onFailure: @escaping @Sendable (any Error) -> Void) {
        self.store = store
        self.job = job
        self.onFailure = onFailure
    }

    func read() async -> StoreReading {
        let reading = await store.read()
        guard !state.withLock(\.isDone) else { return reading }
        if case .unavailable = reading { return reading }
        do {
            try await store.adopt(job)
            finish()
            // This process or another one may have adopted the tokens.
            if case .empty = reading { return await store.read() }
            return reading
        } catch {
            // The step that failed may be one after the session was written.
            let reading = await store.read()
            if case .empty = reading, let failure = error as? StorageError, failure.kind == .locked {
                state.withLock { $0.lockedPlace = failure }
                return .unavailable(failure)
            }
            // The store was locked or unplugged after the first reading. The next reading tries again.
            if case .unavailable = reading { return reading }
            // Waiting would not help. The next launch tries again.
            finish()
            onFailure(error)
            return reading
        }
    }

    private func finish() {
        state.withLock { ($0.isDone, $0.lockedPlace) = (true, nil) }
    }

    func write(_ session: StoredSession) async throws { try await update { _ in .write(session) } }

    func delete() async throws { try await update { _ in .delete } }

    /// While the tokens cannot be read, an empty store may stand for a session. A sign-in or a sign-out concerns that
    /// session, too: its tokens are not adopted afterwards.
    @discardableResult
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        let (isSettled, lockedPlace) = state.withLock { ($0.isSettled, $0.lockedPlace) }
        guard !isSettled, let recording = store.plain as? any AdoptionRecording else {
            return try await store.update(decide)
        }
        let last = Locked(StoreUpdate.keep)
        let reading = try await store.update { reading in
            let update = decide(Self.reading(reading, lockedPlace))
            last.withLock { $0 = update }
            return update
        }
        let update = last.withLock { $0 }
        if state.withLock({ state in
            state.mustSettle = state.mustSettle || update != .keep
            return state.mustSettle
        }) {
            do {
                try await settle(in: recording, isLocked: lockedPlace != nil)
            } catch {
                // The record is stored, and the next update tries again. An ending is not complete yet, if waiting helps.
                if case .write = update {} else if (error as? StorageError)?.kind.isTransient == true { throw error }
                onFailure(error)
            }
        }
        return Self.reading(reading, lockedPlace)
    }

    /// Records that the tokens must not be adopted any more.
    /// - Parameter isLocked: Whether the place is locked, so that nothing can be noted there.
    private func settle(in recording: any AdoptionRecording, isLocked: Bool) async throws {
        if try await !recording.hasAdopted(job.place) {
            do {
                if !isLocked { try await job.note() }
            } catch {
                // The note matters only to a backup.
                onFailure(error)
            }
            try await recording.recordAdoption(of: job.place)
        }
        state.withLock { ($0.isSettled, $0.mustSettle, $0.lockedPlace) = (true, false, nil) }
    }

    private static func reading(_ reading: StoreReading, _ lockedPlace: StorageError?) -> StoreReading {
        if case .empty = reading, let lockedPlace { .unavailable(lockedPlace) } else { reading }
    }

    var refreshLock: (any StoreLock)? { store.refreshLock }

    func changes() -> AsyncStream<Void>? { store.changes() }

    var readingPromptsUser: Bool { store.readingPromptsUser }
}

extension StoredSession {
    /// A session that starts with tokens that were issued earlier.
    fileprivate init(adopting tokens: Tokens, account: SessionAccount, now: Date) {
        let expiry = tokens.expiresAt ?? JWTClaims(tokens.accessToken)?.expiresAt
        self.init(id: SessionID(), tokens: tokens.storable, estimatedExpiry: expiry, account: account)
        // The full lifetime of the token is unknown. An hour is usual, and most of it may have passed.
        lifetime = expiry.flatMap { Duration(untrusted: max($0.timeIntervalSince(now), 3600)) }
    }
}

// MARK: - The stores

extension FileTokenStore: AdoptionRecording {
    func hasRecorded(_ place: String) async throws(StorageError) -> Bool {
        try await AdoptionFile(of: place, beside: path).exists(on: queue)
    }

    func recordAdoption(of place: String) async throws(StorageError) {
        try await AdoptionFile(of: place, beside: path).create(on: queue)
    }
}

extension SecureTokenStore: AdoptionRecording {
    func hasRecorded(_ place: String) async throws(StorageError) -> Bool {
        if let keychain = storage as? KeychainStorage {
            let record = keychain.adoptionRecord(of: place)
            return try await keychain.perform("read what was adopted") { keychain throws(KeychainStatus) in
                try keychain.find(record, withData: false) != nil
            }
        }
        if let file = adoptionFile(of: place) { return try await file.exists(on: queue) }
        return try await storage.read(adoptionKey(of: place)) != nil
    }

    func recordAdoption(of place: String) async throws(StorageError) {
        if let keychain = storage as? KeychainStorage {
            let record = keychain.adoptionRecord(of: place)
            // Not bound to the device: a backup that has the former tokens has this record, too. Otherwise a restored
            // device would adopt tokens that this one has refreshed since.
            return try await keychain.perform("record what was adopted") { keychain throws(KeychainStatus) in
                try keychain.put([.data: .bytes(Data([1]))], for: record, isInBackups: true)
            }
        }
        if let file = adoptionFile(of: place) { return try await file.create(on: queue) }
        try await storage.save(Data([1]), for: adoptionKey(of: place))
    }

    private func adoptionFile(of place: String) -> AdoptionFile? {
        markFile.map { AdoptionFile(of: place, beside: $0.path) }
    }

    private func adoptionKey(of place: String) -> String { "adopted \(AdoptionFile.number(of: place))" }
}

extension KeychainStorage {
    /// The item that records an adoption. It outlives the app, so an app that is installed again does not adopt twice.
    /// It has a service of its own, so it is not listed among the app's keys.
    fileprivate func adoptionRecord(of place: String) -> KeychainAttributes {
        var record = identity(of: place)
        record[text: .service] = settings.service + ".adopted"
        return record
    }
}

/// An empty file that records that the tokens of a place were adopted. Each place has its own file, so two processes
/// cannot overwrite each other's records.
private struct AdoptionFile {
    private let file: PrivateFile
    /// The longest time that a write may take, in seconds. Older temporary files were left by killed processes.
    private static let longestWrite = 60

    init(of place: String, beside path: String) {
        file = PrivateFile(path: "\(path).adopted.\(Self.number(of: place))", protectionClass: .none)
    }

    /// A number that stands for a place, whose own name may contain the name of a user.
    static func number(of place: String) -> String { String(place.fingerprint, radix: 16) }

    func exists(on queue: BlockingQueue) async throws(StorageError) -> Bool {
        // The file is empty, so other users may read it.
        try await queue.run { [file] () throws(StorageError) in try file.read(.unchangeable) != nil }
    }

    func create(on queue: BlockingQueue) async throws(StorageError) {
        try await queue.run { [file] () throws(StorageError) in
            try file.makeFolder()
            file.removeLeftovers(olderThan: Self.longestWrite)
            _ = try file.create(with: Data())
        }
    }
}
