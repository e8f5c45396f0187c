import MartletAdoption
import MartletTesting

@testable import Martlet

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The tokens that another library has left on the device, and the way the app adopts them.
struct FormerScript: Sendable {
    /// The expiry of the access token according to the library.
    enum Expiry: Sendable { case stated, past, unknown }

    var expiry: Expiry
    /// Whether the tokens are deleted after the adoption.
    var isRemoved: Bool

    init(_ dice: inout SeededGenerator) {
        expiry = dice.pick([.stated, .past, .past, .unknown])
        isRemoved = dice.isTrue(inPercent: 60)
    }
}

/// The place of a former library's tokens, with the store's notes that they were adopted and deleted. All of this is on
/// the device: all processes share it, and it outlives each process.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class FormerPlace: @unchecked Sendable {
    /// The session of the tokens.
    let family: Int
    private var tokens: Tokens?
    private var notes: Set<String> = []
    private static let name = "former"
    private unowned let world: World
    private let dice: SharedDice

    init(_ plan: FormerScript, _ world: World) {
        let (family, issued) = world.server.issue()
        self.family = family
        self.world = world
        dice = SharedDice(seed: world.seed ^ 0xF0_12E5)
        let now = world.time.wallClock
        var tokens = Tokens(accessToken: issued.accessToken, refreshToken: issued.refreshToken)
        if let lifetime = world.script.lifetime {
            switch plan.expiry {
            case .stated: tokens.expiresAt = now.addingTimeInterval(Double(lifetime))
            case .past: tokens.expiresAt = now.addingTimeInterval(-60)
            case .unknown: break
            }
        }
        self.tokens = tokens
    }

    /// Adopts the tokens, as an app does at launch. If that fails, the app continues without them.
    func takeOver(into disk: SimulatedTokenStore, by life: Life, _ power: ProcessLife, isRemoved: Bool) async {
        let call = world.history.nextCall()
        world.begin(call, of: life, caller: 0, .adoption(family: family), .unknown)
        let former = FormerTokens(
            named: Self.name, read: { try await self.access(power) { self.tokens } },
            account: { [family] _ in SessionAccount(userID: "\(family)") },
            delete: { try await self.access(power) { self.remove(life) } })
        let store = AnyTokenStore(AdoptingStore(base: disk, place: self, life: life, power: power))
        let reply: Reply
        do {
            let isAdopted = try await store.adopt(former, deletingThem: isRemoved)
            reply = isAdopted ? .signedIn(family: family) : .done
        } catch {
            reply = .refused(.unavailable(error as? StorageError ?? StorageError(.unreachable, "\(error)")))
        }
        world.end(call, of: life, power, reply)
    }

    private func remove(_ life: Life) {
        if tokens != nil { world.history.add(.removesFormer(life)) }
        tokens = nil
    }

    /// Reads or changes the data on the device. The process may be killed before or after that.
    private func access<Value>(_ power: ProcessLife, _ body: () -> Value) async throws(StorageError) -> Value {
        power.touch()
        await world.server.wait(for: world.isCalm ? .zero : dice.pick([.zero, .zero, .milliseconds(20), .seconds(1)]))
        let fails = !world.isCalm && dice.isTrue(inPercent: world.script.diskFailurePercent)
        guard power.isOn, !(fails && dice.isTrue(inPercent: 70)) else { throw StorageError(.locked, "locked") }
        let value = body()
        power.touch()
        // An operation may be performed and still be reported as failed.
        guard power.isOn, !fails else { throw StorageError(.unreachable, "broken down") }
        return value
    }

    fileprivate func hasRecorded(_ note: String, _ power: ProcessLife) async throws(StorageError) -> Bool {
        try await access(power) { notes.contains(note) }
    }

    fileprivate func record(_ note: String, _ life: Life, _ power: ProcessLife) async throws(StorageError) {
        try await access(power) {
            notes.insert(note)
            if note == Self.name { world.history.add(.notesAdoption(life)) }
        }
    }
}

/// The store of a process, with the note that former tokens were adopted.
private struct AdoptingStore: AdoptionRecording {
    let base: SimulatedTokenStore
    let place: FormerPlace
    let life: Life
    let power: ProcessLife

    var refreshLock: (any StoreLock)? { base.refreshLock }

    func read() async -> StoreReading { await base.read() }

    func write(_ session: StoredSession) async throws { try await base.write(session) }

    func delete() async throws { try await base.delete() }

    @discardableResult
    func update(_ decide: @escaping @Sendable (StoreReading) -> StoreUpdate) async throws -> StoreReading {
        try await base.update(decide)
    }

    func hasRecorded(_ note: String) async throws(StorageError) -> Bool { try await place.hasRecorded(note, power) }

    func recordAdoption(of note: String) async throws(StorageError) { try await place.record(note, life, power) }
}
