@testable import Martlet
@testable import MartletStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A hash of a world. Two worlds count as the same if they differ only in names: sessions, tokens, rotations and the
/// IDs of jobs and callers are numbered in the order of their appearance, and times count from now.
struct Digest {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325
    private var now: Duration
    private var wallClock: Date
    private var ids: [Int: Int] = [:]
    private var sessions: [SessionID: Int] = [:]
    /// For each session of the server, its name and the number of the first token encountered.
    private var families: [Int: (name: Int, base: Int)] = [:]
    private var order: [Int] = []
    private var rotations: [SessionID: Int] = [:]
    /// The positions that others are compared with.
    private let positions: [SessionPosition]

    /// The engine's IDs start here, so that they differ from all other numbers.
    static let firstID = 1_000_000
    /// Instants at this distance or beyond count as equally far away. No choice advances time that far except to the
    /// instant itself.
    private static let horizon = 1_000_000
    /// Past instants at this distance or beyond, in milliseconds, are equivalent: no window reaches further back.
    private static let past = -95_000

    init(now: Duration, wallClock: Date, positions: [SessionPosition]) {
        self.positions = positions
        self.now = now
        self.wallClock = wallClock
    }

    mutating func add(_ number: Int) {
        value ^= UInt64(truncatingIfNeeded: number)
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        value ^= value >> 31
    }

    mutating func add(_ text: String) {
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        add(text.utf8.count)
    }

    mutating func add(instant: Duration) {
        let (seconds, attoseconds) = (instant - now).components
        let milliseconds = Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
        add(milliseconds > Self.horizon ? Self.horizon : max(milliseconds, Self.past))
    }

    mutating func add(_ session: SessionID) {
        let name = sessions[session] ?? sessions.count
        sessions[session] = name
        add(name)
    }

    mutating func add(_ token: TokenName?) {
        guard let token else { return add(-1) }
        if families[token.family] == nil {
            families[token.family] = (families.count, token.number)
            order.append(token.family)
        }
        guard let (name, base) = families[token.family] else { return }
        add(name)
        add(token.number - base)
    }

    mutating func add(_ stamp: SessionStamp) {
        add(stamp.session)
        let base = rotations[stamp.session] ?? stamp.rotation
        rotations[stamp.session] = base
        add(stamp.rotation - base)
    }

    mutating func add(_ record: StoredSession) {
        add(record.stamp)
        add(TokenName(record.tokens.accessToken))
        add(TokenName(record.tokens.refreshToken))
        add(record.lifetime.map { Int($0.components.seconds) } ?? 0)
        add(record.estimatedExpiry.map { Int(max(-1, min($0.timeIntervalSince(wallClock), 1000)) * 10) } ?? 0)
        if let journal = record.unresolvedJournal {
            add(1)
            add(instant: now + .seconds(journal.startedAt.timeIntervalSince(wallClock)))
        } else {
            add(0)
        }
    }

    mutating func add(_ reading: StoreReading) {
        switch reading {
        case .found(let record): add(record)
        case .empty: add(-2)
        case .ended(let mark): add(mark)
        case .unavailable(let error): add(error)
        }
    }

    mutating func add(_ mark: EndMark) {
        add(mark.position)
        add(mark.expiry.map { "\($0)" } ?? "-")
        add(mark.isEstimate ? 1 : 0)
        if let floor = mark.floor { add(floor) }
    }

    /// Adds a position by its rank among those of the store and of the session. Nothing else about it matters.
    mutating func add(_ position: SessionPosition) {
        for other in positions { add(position < other ? 1 : position == other ? 2 : 3) }
    }

    mutating func add(_ error: StorageError) {
        add(error.kind.hashValueForDigest)
    }

    /// Adds what an operation would do with the record that is stored now, with an empty store and with a damaged one.
    mutating func add(_ operation: SearchDisk.Operation, of disk: SearchDisk) {
        switch operation {
        case .read: add(1)
        case .update(let decide, _):
            for reading in [disk.reading, .empty, .unavailable(SearchDisk.damaged)] {
                switch decide(reading) {
                case .keep: add(2)
                case .write(let record): add(record)
                case .delete: add(3)
                case .end(let mark):
                    add(4)
                    add(mark)
                case .mark(let mark):
                    add(5)
                    add(mark)
                }
            }
        }
    }

    /// Adds the known facts about the sessions that appear in the world.
    mutating func addFamilies(of world: World) {
        var index = 0
        while index < order.count {
            let family = order[index]
            // The order of the sign-ins.
            add(order.filter { $0 < family }.count)
            index += 1
            guard let base = families[family]?.base else { continue }
            let (server, rules) = (world.server[family], world.rules[family])
            add(server.current - base)
            add(server.end.map { $0 == .withdrawn ? 1 : $0 == .reuse ? 2 : 3 } ?? 0)
            add(instant: server.replacedAt ?? now - .seconds(1000))
            for numbers in [rules.stored, rules.knownSpent, rules.rejected, rules.unjournaled] {
                // Tokens older than those that appear no longer matter.
                add(numbers.reduce(0) { bits, number in bits | 1 << max(min(number - base + 8, 40), 0) } & ~0b11_1111)
            }
            let flags = [
                rules.isInDoubt, rules.isRefused, rules.isEndedByUser, rules.isEndedElsewhere, rules.isOver,
                rules.hasStarted, rules.hasExpired, rules.hasHiddenReuse,
            ]
            for time in rules.earlyRefreshes where time + world.setting.policy.refreshWindow > now {
                add(instant: time)
            }
            add(flags.reduce(0) { $0 << 1 | ($1 ? 1 : 0) })
        }
    }
}

// MARK: - The engine's values

extension Digest {
    /// Adds a value of the engine by reflection.
    mutating func add(part value: Any, _ label: String? = nil) {
        switch value {
        case let mark as EndMark: add(mark)
        case let position as SessionPosition: add(position)
        case let number as Int: add(number, labeled: label)
        case let truth as Bool: add(truth ? 1 : 0)
        case let instant as Duration: add(instant: Self.isDeadline(label) ? max(instant, now) : instant)
        case let record as StoredSession: add(record)
        case let session as SessionID: add(session)
        case let stamp as SessionStamp: add(stamp)
        case let error as StorageError: add(error)
        case let error as RefreshError:
            add("\(error.kind)")
            add(error.retryAfter == nil ? 0 : 1)
        case is RefreshJournal: add(1)
        case let token as Secret: add(TokenName(token))
        case let text as String: add(text)
        case is SessionPolicy: break
        default: add(partsOf: value)
        }
    }

    /// Whether an instant makes no difference once it has passed.
    private static func isDeadline(_ label: String?) -> Bool {
        ["until", "refreshAt", "expiresAt", "halfwayAt"].contains(label)
    }

    private mutating func add(partsOf value: Any) {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .set?:
            // The order of a set has no meaning. Its only sets are those of callers.
            add(mirror.children.count)
        case .enum? where mirror.children.isEmpty: add("\(value)")
        default:
            add(mirror.children.count)
            for (label, child) in mirror.children {
                if mirror.displayStyle == .enum, let label { add(label) }
                add(part: child, label)
            }
        }
    }

    private mutating func add(_ number: Int, labeled label: String?) {
        // The engine's counters make no difference.
        if label == "lastID" || label == "epoch" { return }
        guard number >= Self.firstID else { return add(number) }
        let name = ids[number] ?? ids.count
        ids[number] = name
        add(name)
    }
}

extension StorageError.Kind {
    fileprivate var hashValueForDigest: Int {
        switch self {
        case .locked: 11
        case .unreachable: 12
        case .corrupt: 13
        case .tooNew: 14
        case .unsafePermissions: 15
        case .foreign: 16
        }
    }
}

extension TokenManager {
    var machine: SessionStateMachine { inspect(\.machine) }

    /// Makes the IDs of jobs and callers differ from all other numbers.
    func numberIDs(from first: Int) { transition { machine in machine.numberIDs(from: first) } }
}

extension World {
    /// The digest of the world's visible state.
    var digest: Digest {
        let machine = life.tokens.machine
        let positions = [machine.currentRecord?.position, disk.record?.position, disk.mark?.position].compactMap(\.self)
        var digest = Digest(now: clock.uptime, wallClock: clock.wallClock, positions: positions)
        digest.add(part: machine)
        digest.add(disk.reading)
        digest.add(disk.record == nil ? 0 : 1)
        switch disk.holder {
        case nil: digest.add(0)
        case .process: digest.add(1)
        case .other: digest.add(2)
        }
        digest.add(disk.lockWaiters.count)
        digest.add((disk.isLockBroken ? 1 : 0) + (disk.hasUnreadChange ? 2 : 0) + (disk.changes == nil ? 4 : 0))
        digest.add(
            (rules.hasStoreFailed ? 1 : 0) + (rules.hasSignOutTrouble ? 2 : 0) + (rules.hasReportedFailure ? 4 : 0)
                + (disk.hasLockFailed ? 8 : 0) + (rules.hasUserActed ? 16 : 0))
        digest.add(disk.operations.count)
        for operation in disk.operations { digest.add(operation, of: disk) }
        for exchange in server.exchanges {
            digest.add(exchange.token)
            digest.add(exchange.isAbandoned ? 1 : 2)
        }
        digest.add(-3)
        // If nothing waits, the events on the way to rest show what the sleeping tasks do next.
        if isBusy {
            for deadline in clock.deadlines.sorted() { digest.add(instant: deadline) }
        }
        digest.add(instant: max(backoffEnd, clock.uptime))
        digest.add(server.families.count)
        for which in Choice.Held.allCases { digest.add(life.held(which)?.name) }
        digest.add(life.probe.map { machine.mayProbe($0.token.stamp, by: $0.id, at: clock.uptime) ? 1 : 2 } ?? 0)
        digest.add((rules.current == nil ? 0 : 1) + (rules.startingFamily == nil ? 0 : 2))
        for caller in life.waiting.sorted(by: { ($0.kind.rawValue, $0.id) < ($1.kind.rawValue, $1.id) }) {
            digest.add(caller.kind.rawValue)
            digest.add(caller.replaced?.name)
        }
        digest.addFamilies(of: self)
        return digest
    }
}
