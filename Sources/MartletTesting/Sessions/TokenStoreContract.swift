public import Martlet
internal import MartletStorage

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Checks that a ``/Martlet/TokenStore`` keeps its promises. Run it in the tests of a store of your own:
///
/// ```swift
/// @Test func contract() async throws {
///     try await TokenStoreContract { DatabaseTokenStore(database: database) }.verify()
/// }
/// ```
///
/// It checks that each reading has the right outcome, that another handle on the record sees every change, that
/// ``/Martlet/TokenStore/update(_:)`` decides on the current record, and that a record that cannot be decoded is
/// neither reported as missing nor changed by reading. If the store has a lock, it also checks that one holder at a
/// time has the lock, that concurrent updates exclude each other, that the mark of an ended session is kept, and that
/// changes are reported. It cannot check that a write survives a power failure.
public struct TokenStoreContract: Sendable {
    /// A promise that the store did not keep.
    public struct Violation: Error, Sendable, Hashable, CustomStringConvertible {
        /// Describes what the store did and what it should have done.
        public let description: String
    }

    package let open: @Sendable () -> any TokenStore
    private let replaceBytes: (@Sendable (Data) async throws -> Void)?
    private let time: any TimeSource

    /// A contract for the stores of one record, which must not exist when the check starts.
    /// - Parameters:
    ///   - open: Opens another handle on the same record, as another process or a later launch would.
    ///   - replaceBytes: Replaces the stored bytes without using the store, to check how it reads damaged records;
    ///     `nil` to skip that check.
    ///   - time: The clock that limits the wait for a reported change; the system's if `nil`.
    public init(
        open: @escaping @Sendable () -> any TokenStore,
        replacingBytes replaceBytes: (@Sendable (Data) async throws -> Void)? = nil,
        time: (any TimeSource)? = nil
    ) {
        self.open = open
        self.replaceBytes = replaceBytes
        self.time = time ?? .system
    }

    /// Checks the whole contract. If the store passes, no record is left behind.
    /// - Throws: ``Violation``, or the error that the store threw.
    public func verify() async throws {
        try await readsLastWrite()
        try await updatesDecideOnReading()
        try await keepsUnreadableRecords()
        try await locksOutOthers()
        try await serializesUpdates()
        try await keepsMark()
        try await reportsChanges()
        try await open().delete()
    }

    private func readsLastWrite() async throws {
        try await expect(.empty, from: open(), "before the first write")
        try await open().delete()
        var record = StoredSession(
            id: SessionID(), tokens: .fresh(1), estimatedExpiry: Date(timeIntervalSince1970: 1_790_000_000.25),
            lifetime: .seconds(3600), account: SessionAccount(userID: "7", isGuest: true),
            journal: RefreshJournal(
                startedAt: Date(timeIntervalSince1970: 1_790_000_000), fingerprint: "f"))
        let store = open()
        try await store.write(record)
        try await expect(.found(record), from: store, "after a write")
        try await expect(.found(record), from: open(), "after a write through another handle")
        record.rotation = 1
        record.tokens = Tokens(accessToken: "a", refreshToken: nil, scope: "read")
        record.journal = nil
        try await open().write(record)
        try await expect(.found(record), from: store, "after a second write through another handle")
        try await store.delete()
        try await expect(.empty, from: store, "after its deletion")
        try await expect(.empty, from: open(), "after its deletion through another handle")
    }

    private func updatesDecideOnReading() async throws {
        let record = StoredSession(id: SessionID(), tokens: .fresh(1))
        try await expect(.empty, fromUpdateOf: open(), "that writes the first record") {
            $0 == .empty ? .write(record) : .keep
        }
        try await expect(.found(record), fromUpdateOf: open(), "that keeps the record") { _ in .keep }
        try await expect(.found(record), from: open(), "after an update that keeps it")
        try await expect(.found(record), fromUpdateOf: open(), "that deletes the record") {
            $0 == .found(record) ? .delete : .keep
        }
        try await expect(.empty, fromUpdateOf: open(), "that deletes a missing record") { _ in .delete }
        try await expect(.empty, from: open(), "after an update that deletes it")
    }

    /// A damaged or newer record is unavailable, not missing, and stays unchanged.
    private func keepsUnreadableRecords() async throws {
        guard let replaceBytes else { return }
        for (bytes, kind) in [
            ("{", StorageError.Kind.corrupt), ("", .corrupt), (#"{"version":1,"session":7}"#, .corrupt),
            (#"{"version":99,"session":{"bundle":"s3cret"}}"#, .tooNew),
        ] {
            try await replaceBytes(Data(bytes.utf8))
            let isAsked = Locked(false)
            let reading = try await open().update { _ in
                isAsked.withLock { $0 = true }
                return .keep
            }
            guard isAsked.withLock({ $0 }) else {
                throw Violation(description: "An update must call its closure even if the record cannot be decoded.")
            }
            guard case .unavailable(let failure) = reading, failure.kind == kind else {
                throw Violation(description: "The bytes \(bytes) must be unavailable (\(kind)), but were \(reading).")
            }
            try await expect(reading, from: open(), "after an update that keeps bytes it cannot decode")
            guard !failure.description.contains("s3cret") else {
                throw Violation(description: "The error of a record that cannot be decoded quotes the record.")
            }
        }
        let record = StoredSession(id: SessionID(), tokens: .fresh(1))
        try await open().write(record)
        try await expect(.found(record), from: open(), "after a write over bytes that cannot be decoded")
        try await replaceBytes(Data("{".utf8))
        try await open().delete()
        try await expect(.empty, from: open(), "after the deletion of bytes that cannot be decoded")
    }

    private func locksOutOthers() async throws {
        let holders = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                guard let lock = open().refreshLock else { return }
                group.addTask {
                    let held = try await lock.acquire(lease: .seconds(60))
                    defer { held.release() }
                    holders.withLock { $0 += 1 }
                    // Another task would acquire a lock that does not keep it out.
                    for _ in 0..<20 { await Task.yield() }
                    let isHeld = await held.isStillHeld()
                    let count = holders.withLock { holders in
                        defer { holders -= 1 }
                        return holders
                    }
                    guard count == 1 else {
                        throw Violation(description: "One holder at a time must have the lock, but \(count) had it.")
                    }
                    guard isHeld else {
                        throw Violation(description: "`isStillHeld()` must be true before the release of a lock.")
                    }
                }
            }
            try await group.waitForAll()
        }
        guard let held = try await open().refreshLock?.acquire(lease: .seconds(60)) else { return }
        held.release()
        if await held.isStillHeld() {
            throw Violation(description: "`isStillHeld()` must be false after the release of the lock.")
        }
    }

    private func serializesUpdates() async throws {
        guard open().refreshLock != nil else { return }
        var record = StoredSession(id: SessionID(), tokens: .fresh(1))
        try await open().write(record)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    let store = open()
                    for _ in 0..<5 {
                        try await store.update { reading in
                            guard case .found(var record) = reading else { return .keep }
                            record.rotation += 1
                            return .write(record)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        record.rotation = 25
        try await expect(.found(record), from: open(), "after 25 concurrent updates that each add one")
        try await open().delete()
    }

    /// A session that has ended in one process has ended for all.
    private func keepsMark() async throws {
        guard open().refreshLock != nil else { return }
        let record = StoredSession(id: SessionID(), generation: 7, tokens: .fresh(1))
        let mark = EndMark(record.position, expiry: .rotationLost)
        try await open().write(record)
        try await expect(.found(record), fromUpdateOf: open(), "that ends the session") { _ in .end(mark) }
        try await expect(.ended(mark), from: open(), "after the end of its session")
        let lower = EndMark(SessionPosition(generation: 1, rotation: 0))
        try await expect(.ended(mark), fromUpdateOf: open(), "with a lower mark") { _ in .mark(lower) }
        try await expect(.ended(mark), from: open(), "after a lower mark")
        try await expect(.ended(mark), fromUpdateOf: open(), "with a lower end") { _ in .end(lower) }
        try await expect(.ended(mark), from: open(), "after the end of an earlier session")
        let newer = StoredSession(id: SessionID(), generation: 8, tokens: .fresh(2))
        try await open().write(newer)
        let higher = EndMark(SessionPosition(generation: 9, rotation: 0), expiry: .rotationLost)
        try await expect(.found(newer), fromUpdateOf: open(), "with a mark above the record") { _ in .mark(higher) }
        try await expect(.ended(higher), from: open(), "after a mark above it")
        try await open().write(record)
        try await expect(.found(record), from: open(), "after a write below the mark")
        try await open().delete()
        try await expect(.empty, from: open(), "after the deletion of a record that was written below the mark")
    }

    private func reportsChanges() async throws {
        try await reports("a write") { try await $0.write(StoredSession(id: SessionID(), tokens: .fresh(1))) }
        try await reports("a deletion") { try await $0.delete() }
    }

    /// Checks that a store reports another store's change. Each change has a stream of its own, because a store may
    /// report the one before twice.
    private func reports(_ cause: String, _ change: (any TokenStore) async throws -> Void) async throws {
        let store = open()
        guard store.refreshLock != nil else { return }
        guard let changes = store.changes() else {
            throw Violation(description: "A store that processes share must report changes, but `changes()` is nil.")
        }
        // The store may start to watch for changes only at its next operation.
        _ = await store.read()
        let (signals, signal) = AsyncStream<Bool>.makeStream()
        let forwarding = Task {
            for await _ in changes { signal.yield(true) }
            signal.finish()
        }
        defer { forwarding.cancel() }
        try await change(open())
        // A store that reports nothing must not hang the test.
        let timer = Task {
            try await time.sleep(until: time.uptime + .seconds(30))
            signal.yield(false)
        }
        defer { timer.cancel() }
        var iterator = signals.makeAsyncIterator()
        guard await iterator.next() == true else {
            throw Violation(description: "The stream of changes did not report \(cause) within 30 s.")
        }
    }

    private func expect(_ expected: StoreReading, from store: any TokenStore, _ when: String) async throws {
        let reading = await store.read()
        guard reading == expected else {
            throw Violation(description: "The record \(when) must be \(expected), but was \(reading).")
        }
    }

    private func expect(
        _ expected: StoreReading, fromUpdateOf store: any TokenStore, _ which: String,
        _ decide: @escaping @Sendable (StoreReading) -> StoreUpdate
    ) async throws {
        let reading = try await store.update(decide)
        guard reading == expected else {
            throw Violation(description: "An update \(which) must find \(expected), but found \(reading).")
        }
    }
}
