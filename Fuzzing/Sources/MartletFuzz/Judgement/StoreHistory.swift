import Martlet
import MartletTesting

/// The operations of the processes on the disk and its lock, and the times of trouble.
struct StoreHistory {
    /// A read or an update of the record. A process has at most one in progress.
    struct Operation {
        let life: Life
        let isUpdate: Bool
        let requested: Int
        /// The position at which the record was written.
        var effect: Int?
        var completed: Int?
        /// The token that the record had when the operation ended.
        var found: TokenName?
        /// The token that the operation wrote, or failed to write.
        var written: TokenName?
        var writesJournal = false
        var hasFailed = false
    }

    /// The state of the lock for a process.
    enum Lock: Sendable { case none, requested, held, lost }

    /// A time in which an operation of a process failed, or blocked the following ones for too long.
    struct Trouble {
        let life: Life
        let from: Int
        let to: Int
        let operation: Operation
    }

    /// A change of the record.
    struct Change {
        let life: Life
        let position: Int
        /// The record before and after.
        let old: TokenName?
        let new: TokenName?
        /// Whether another process had taken the lock over from this one.
        let isAfterTakeover: Bool
    }

    private(set) var operations: [Operation] = []
    private(set) var troubles: [Trouble] = []
    private(set) var changes: [Change] = []
    /// The position at which each token was first stored.
    private(set) var durable: [TokenName: Int] = [:]
    private(set) var deaths: [Life: Int] = [:]
    private var losses: [(life: Life, position: Int)] = []
    private var releases: [(life: Life, position: Int)] = []
    private var locks: [Life: Lock] = [:]
    /// The processes whose last acquisition of the lock failed, until they send a token.
    private var failures: Set<Life> = []
    /// The processes whose lock another process has taken over, until they request it again.
    private var dispossessed: Set<Life> = []
    /// The processes that could not acquire the lock and continue without it. They may still hold that of an earlier
    /// refresh.
    private var lockless: Set<Life> = []
    private var current: [Life: Int] = [:]
    private var record: TokenName?
    /// The record at the beginning.
    private var first: TokenName?

    /// The state of the lock for a process that sends a token. If acquiring the lock has failed, the process continues
    /// without it, and may get a lock that it had requested earlier.
    mutating func lockForSending(by life: Life) -> Lock {
        failures.remove(life) == nil ? locks[life] ?? .none : .lost
    }

    func lastUpdate(of life: Life, before position: Int) -> Int? {
        operations.last { $0.life == life && $0.isUpdate && $0.requested < position }?.requested
    }

    mutating func begin(with record: TokenName?) { (self.record, first) = (record, record) }

    /// The record before a position.
    func record(at position: Int) -> TokenName? {
        if let change = changes.last(where: { $0.position < position }) { change.new } else { first }
    }

    mutating func add(_ event: SimulatedDisk.Event, of life: Life, at position: Int) {
        switch event {
        case .requested(.lock):
            locks[life] = .requested
            dispossessed.remove(life)
            lockless.remove(life)
        case .requested(let operation):
            current[life] = operations.count
            operations.append(Operation(life: life, isUpdate: operation == .update, requested: position))
        case .read(let reading):
            change(life) { operation in
                if case .found(let session) = reading { operation.found = TokenName(of: session.tokens) }
                if case .unavailable = reading { operation.hasFailed = true }
            }
        case .wrote(let session): wrote(session, life, position)
        case .deleted:
            if record != nil { replaceRecord(with: nil, life, position) }
        case .failed(.lock, _, _):
            failures.insert(life)
            lose(life, position)
            lockless.insert(life)
        case .failed(_, _, let update):
            change(life) { operation in
                operation.hasFailed = true
                if case .write(let session) = update {
                    operation.written = TokenName(of: session.tokens)
                    operation.writesJournal = session.hasRefreshJournal
                }
            }
        case .completed: change(life) { $0.completed = position }
        case .locked: acquire(by: life)
        case .tookOverLock(let name): takeOver(of: Life(named: name), by: life, position)
        case .unlocked:
            releases.append((life, position))
            // The process may have requested the lock again before it released it.
            if locks[life] == .held { locks[life] = Lock.none }
        case .killed: deaths[life] = position
        }
    }

    private mutating func wrote(_ session: StoredSession, _ life: Life, _ position: Int) {
        let token = TokenName(of: session.tokens)
        change(life) { operation in
            (operation.found, operation.written, operation.effect) = (token, token, position)
            operation.writesJournal = session.hasRefreshJournal
        }
        if token != record { replaceRecord(with: token, life, position) }
        if let token, durable[token] == nil { durable[token] = position }
    }

    /// A process takes over the lock of another one, or its own.
    private mutating func takeOver(of former: Life, by life: Life, _ position: Int) {
        lose(former, position)
        if !lockless.contains(former) { dispossessed.insert(former) }
        acquire(by: life)
    }

    private mutating func change(_ life: Life, _ change: (inout Operation) -> Void) {
        if let index = current[life] { change(&operations[index]) }
    }

    private mutating func replaceRecord(with new: TokenName?, _ life: Life, _ position: Int) {
        changes.append(
            Change(
                life: life, position: position, old: record, new: new, isAfterTakeover: dispossessed.contains(life)))
        record = new
    }

    private mutating func acquire(by life: Life) {
        locks[life] = .held
        // It may have requested the lock before the lock of its earlier refresh was taken over.
        dispossessed.remove(life)
    }

    private mutating func lose(_ life: Life, _ position: Int) {
        locks[life] = .lost
        losses.append((life, position))
    }

    /// Finds the operations that failed, and those that kept the disk busy for longer than the store queue waits.
    mutating func finish(_ history: History) {
        let last = history.entries.count - 1
        var busy: [Life: (from: Int, since: Duration)] = [:]
        var idle: [Life: Duration] = [:]
        for operation in operations {
            let start = history.entries[operation.requested].at
            let end = operation.completed ?? last
            var stretch = (from: operation.requested, since: start)
            if idle[operation.life] == start, let earlier = busy[operation.life] { stretch = earlier }
            busy[operation.life] = stretch
            idle[operation.life] = history.entries[end].at
            let isLong = history.entries[end].at - stretch.since >= .seconds(10)
            if operation.hasFailed || isLong {
                troubles.append(
                    Trouble(
                        life: operation.life, from: isLong ? stretch.from : operation.requested, to: end,
                        operation: operation))
            }
        }
    }
}

// MARK: - Trouble

extension StoreHistory {
    /// Whether an operation of a process had trouble at a time that overlaps an interval.
    func hasTrouble(_ life: Life, from first: Int, to last: Int) -> Bool {
        troubles.contains { $0.life == life && $0.from < last && first < $0.to }
    }

    /// Whether an operation of a process was in progress at a position, or started later but before a time.
    func isAtWork(_ life: Life, at position: Int, until last: Duration, in history: History) -> Bool {
        operations.contains {
            $0.life == life && $0.completed ?? .max > position && history.entries[$0.requested].at <= last
        }
    }

    /// Whether a process has read the record in an interval.
    func hasRead(_ life: Life, from first: Int, to last: Int) -> Bool {
        operations.contains {
            $0.life == life && $0.requested > first && $0.completed ?? .max < last && !$0.hasFailed
        }
    }

    /// Whether a process has read a record of a session, in an operation before the one in progress at a position.
    func hasFound(_ family: Int, _ life: Life, before position: Int) -> Bool {
        operations.contains { $0.life == life && $0.found?.family == family && $0.completed ?? .max < position }
    }

    /// Whether the record of a session was deleted or overwritten in an interval.
    func hasLeft(_ family: Int, from first: Int, to last: Int) -> Bool {
        changes.contains {
            $0.old?.family == family && $0.new?.family != family && (first...last).contains($0.position)
        }
    }

    /// Whether the process that sent a token had requested the lock but did not have it, or lost it before a position.
    func hasLockTrouble(_ send: Facts.Send, before position: Int) -> Bool {
        if sentWithoutLock(send) { return true }
        let end = min(
            position, releases.first { $0.life == send.life && send.position < $0.position }?.position ?? .max)
        return losses.contains { $0.life == send.life && send.position < $0.position && $0.position < end }
    }

    /// Whether a process sent a token without the lock that it had requested.
    func sentWithoutLock(_ send: Facts.Send) -> Bool {
        send.lock == .lost
    }

    /// Whether a process lost its lock between its journal of a token and its request: the new holder may have sent the
    /// token, too.
    func lostLockAfterJournal(of send: Facts.Send) -> Bool {
        let journal = operations.first {
            $0.life == send.life && $0.written == send.token && $0.writesJournal && $0.requested < send.position
        }
        guard let journal else { return false }
        return losses.contains {
            $0.life == send.life && journal.requested < $0.position && $0.position < send.position
        }
    }

    /// The operations that stored a journal of a token before a position, if the journal had not been removed by then.
    func journals(of token: TokenName, before position: Int) -> [Operation] {
        let writes = operations.filter { $0.written == token && $0.requested < position }
        return writes.filter { journal in
            journal.writesJournal
                && !writes.contains {
                    !$0.writesJournal && !$0.hasFailed
                        && $0.effect ?? $0.requested > journal.effect ?? journal.requested
                        && $0.completed ?? .max < position
                }
        }
    }
}
