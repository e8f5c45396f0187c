import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The contract of token stores", .timeLimit(.minutes(10))) struct TokenStoreContractTests {
    @Test(
        "the contract finds a store that loses, changes or invents a record", arguments: BrokenTokenStore.Fault.allCases
    )
    func brokenStore(fault: BrokenTokenStore.Fault) async throws {
        let store = BrokenTokenStore(fault)
        let contract = TokenStoreContract {
            store
        } replacingBytes: { bytes in
            store.record.withLock { $0 = bytes }
        }
        let violation = await #expect(throws: TokenStoreContract.Violation.self) { try await contract.verify() }
        #expect(violation?.description.contains("s3cret") == false)
    }

    @Test(
        "the contract finds a shared store that breaks a promise to other processes",
        arguments: BrokenSharedStore.Fault.allCases)
    fileprivate func brokenSharedStore(fault: BrokenSharedStore.Fault) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            let contract = TokenStoreContract { BrokenSharedStore(base: FileTokenStore(path: path), fault: fault) }
            await #expect(throws: TokenStoreContract.Violation.self) { try await contract.verify() }
        }
    }

    @Test("a shared store that reports no change fails the contract instead of hanging it") func silentStore()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session.json"
            let time = ManualTimeSource()
            let contract = TokenStoreContract(open: { SilentTokenStore(base: FileTokenStore(path: path)) }, time: time)
            let verification = Task { try await contract.verify() }
            await time.waitForSleepers()
            time.advance(by: .seconds(30))
            await #expect(throws: TokenStoreContract.Violation.self) { try await verification.value }
        }
    }

    @Test("a shared store that reports each write twice, and no deletion, fails the contract") func doubledReports()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let (bell, time) = (Bell(), ManualTimeSource())
            let path = folder.path + "/session.json"
            let contract = TokenStoreContract(
                open: { SilentTokenStore(base: FileTokenStore(path: path), bell: bell) }, time: time)
            let verification = Task { try await contract.verify() }
            await bell.deletion.pass()
            await time.waitForSleepers()
            time.advance(by: .seconds(30))
            let violation = await #expect(throws: TokenStoreContract.Violation.self) {
                try await verification.value
            }
            #expect(violation?.description.contains("deletion") == true)
        }
    }
}

/// A shared store that breaks one promise of ``TokenStoreContract`` to other processes.
private struct BrokenSharedStore: TokenStore {
    enum Fault: CaseIterable { case lockAdmitsAll, lockIsNeverHeld, lockStaysHeld, ignoresMarks, lowersMarks }

    let base: FileTokenStore
    let fault: Fault

    var refreshLock: (any StoreLock)? {
        base.refreshLock.map { lock in
            switch fault {
            case .lockAdmitsAll, .lockIsNeverHeld, .lockStaysHeld: BrokenLock(base: lock, fault: fault)
            case .ignoresMarks, .lowersMarks: lock
            }
        }
    }

    func read() async -> StoreReading { await base.read() }
    func write(_ session: StoredSession) async throws { try await base.write(session) }
    func delete() async throws { try await base.delete() }
    func changes() -> AsyncStream<Void>? { base.changes() }

    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        let fault = fault
        let lower = Locked<EndMark?>(nil)
        let reading = try await base.update { reading in
            switch decide(reading) {
            case .mark where fault == .ignoresMarks: return .keep
            case .end(let mark) where fault == .lowersMarks:
                if case .ended = reading { lower.withLock { $0 = mark } }
                return .end(mark)
            case let update: return update
            }
        }
        if let mark = lower.withLock(\.self) {
            try await base.delete()
            let record = StoredSession(id: SessionID(), generation: mark.position.generation, tokens: .fresh())
            try await base.write(record)
            _ = try await base.update { _ in .end(mark) }
        }
        return reading
    }
}

private struct BrokenLock: StoreLock {
    let base: any StoreLock
    let fault: BrokenSharedStore.Fault

    func acquire(lease: Duration) async throws -> any HeldStoreLock {
        let held = fault == .lockAdmitsAll ? nil : try await base.acquire(lease: lease)
        return BrokenHeldLock(base: held, fault: fault)
    }
}

private final class BrokenHeldLock: HeldStoreLock {
    private let base: (any HeldStoreLock)?
    private let fault: BrokenSharedStore.Fault
    private let isReleased = Locked(false)

    init(base: (any HeldStoreLock)?, fault: BrokenSharedStore.Fault) {
        (self.base, self.fault) = (base, fault)
    }

    var isHeld: Bool {
        switch fault {
        case .lockIsNeverHeld: false
        case .lockStaysHeld: true
        case .lockAdmitsAll, .ignoresMarks, .lowersMarks: !isReleased.withLock { $0 }
        }
    }

    func release() {
        isReleased.withLock { $0 = true }
        base?.release()
    }
}

/// Reports each write to all subscribers twice, and no deletion.
private final class Bell: Sendable {
    /// Opened by the first deletion after which a subscriber waits for a report.
    let deletion = Gate()
    private let subscribers = Locked<[AsyncStream<Void>.Continuation]>([])

    func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        subscribers.withLock { $0.append(continuation) }
        return stream
    }

    func ring() {
        for subscriber in subscribers.withLock(\.self) { (0..<2).forEach { _ in subscriber.yield() } }
    }

    func noteDeletion() {
        if !subscribers.withLock(\.isEmpty) { deletion.open() }
    }
}

/// A store that several processes may share, but that reports no change except those of its bell.
private struct SilentTokenStore: TokenStore {
    let base: FileTokenStore
    var bell: Bell?

    var refreshLock: (any StoreLock)? { base.refreshLock }
    func read() async -> StoreReading { await base.read() }

    func write(_ session: StoredSession) async throws {
        try await base.write(session)
        bell?.ring()
    }

    func delete() async throws {
        try await base.delete()
        bell?.noteDeletion()
    }

    func changes() -> AsyncStream<Void>? { bell?.changes() ?? AsyncStream { _ in } }

    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        try await base.update(decide)
    }
}

/// A store that breaks one promise of ``TokenStoreContract``.
final class BrokenTokenStore: TokenStore {
    enum Fault: CaseIterable {
        case forgetsWrites, writesOnlyOnce, ignoresDeletions, readsDamageAsEmpty, quotesRecords, ignoresDecisions,
            decidesOnlyOnReadable
    }

    let record = Locked<Data?>(nil)
    private let fault: Fault

    init(_ fault: Fault) { self.fault = fault }

    func read() async -> StoreReading {
        guard let bytes = record.withLock(\.self) else { return .empty }
        do {
            return .found(try StoredSession(encoded: bytes))
        } catch {
            guard fault != .readsDamageAsEmpty else { return .empty }
            let quote = fault == .quotesRecords ? String(decoding: bytes, as: UTF8.self) : "unreadable"
            return .unavailable(StorageError(error.kind, quote))
        }
    }

    func write(_ session: StoredSession) async throws {
        guard fault != .forgetsWrites else { return }
        let bytes = try session.encoded()
        record.withLock { if fault != .writesOnlyOnce || $0 == nil { $0 = bytes } }
    }

    func delete() async throws {
        if fault != .ignoresDeletions { record.withLock { $0 = nil } }
    }

    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        let reading = await read()
        if fault == .decidesOnlyOnReadable, case .unavailable = reading { return reading }
        switch decide(fault == .ignoresDecisions ? .empty : reading) {
        case .keep: break
        case .write(let session): try await write(session)
        case .delete, .end: try await delete()
        case .mark: break
        }
        return reading
    }
}
