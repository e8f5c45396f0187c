import Foundation

@testable import Martlet

/// The session's state machine together with a model of its environment: the store, the server, other processes,
/// waiting callers and jobs in progress. The search walks from world to world.
///
/// Time is relative: now is always zero, and future instants move closer with each tick.
struct World: Hashable {
    typealias Machine = SessionStateMachine

    var machine: Machine
    /// Callers that wait for a reply of the machine.
    var waiters: [Waiter] = []
    /// Requests of callers that were told to ask again.
    var woken: [Ask] = []
    /// The pending tasks of the store, first to last.
    var storeTasks: [StoreTask] = []
    /// The refreshes of this process in progress, including discarded ones.
    var refreshes: [Refresh] = []
    /// Tokens on their way from the server for an abandoned refresh.
    var late: LateResponse?
    /// The number of running delays before another write.
    var saveRetries = 0
    /// The running delays before another deletion, by the deletion's ID.
    var deleteRetries: [Machine.JobID] = []
    /// The stored record.
    var stored: StoredSession?
    /// Whether another process has changed the record and this one has not read it yet.
    var hasNews = false
    /// Whether this process failed to read the record and will try again.
    var awaitsSnapshot = false
    /// The true state of each session. The first one is session 1.
    var sessions: [Ledger] = []
    /// Whether callers ask again at once, a free lock is taken at once, and a change is noticed at once. This leaves
    /// fewer worlds, so that a search reaches a greater depth.
    let isPrompt: Bool

    init(grace: Bool, sharesStore: Bool, isPrompt: Bool = false) {
        self.isPrompt = isPrompt
        var policy = SessionPolicy()
        policy.leewayFraction = 1
        policy.maximumLeeway = .seconds(3600)
        policy.refreshBudget = 2
        policy.refreshWindow = Time.tick
        policy.firstBackoff = Time.tick
        policy.maximumBackoff = Time.tick
        policy.rotationGrace = grace ? Time.tick : .zero
        machine = Machine(policy: policy, sharesStore: sharesStore, readsByItself: false)
    }

    func hash(into hasher: inout Hasher) {
        // Hashes only what distinguishes worlds best; equality compares everything.
        hasher.combine(machine.lastID)
        hasher.combine(storeTasks.count)
        hasher.combine(refreshes.count)
        hasher.combine(waiters.count)
        hasher.combine(woken.count)
        hasher.combine(saveRetries)
        hasher.combine(deleteRetries.count)
        hasher.combine(hasNews)
        hasher.combine(awaitsSnapshot)
        hasher.combine(late != nil)
        for waiter in waiters { hasher.combine(waiter.ask) }
        for task in storeTasks { hasher.combine(task.tag) }
        for refresh in refreshes { hasher.combine(refresh.tag) }
        for session in sessions { hasher.combine(session) }
        hasher.combine(stored?.bundle.refreshToken)
        hasher.combine(stored?.journal == nil)
        hasher.combine(stored?.estimatedExpiry)
        switch machine.state {
        case .notLoaded: hasher.combine(1)
        case .loading: hasher.combine(2)
        case .unavailable: hasher.combine(3)
        case .signedOut: hasher.combine(4)
        case .expired(let reason, let id):
            hasher.combine(id)
            hasher.combine(reason == .rotationLost)
        case .signedIn(let session):
            hasher.combine(session.record.bundle.refreshToken)
            hasher.combine(session.deadlines?.expiresAt)
            hasher.combine(session.isRejected)
            hasher.combine(session.saveFailure == nil)
            hasher.combine(session.hasBeenStored)
            hasher.combine(session.replaceable)
            hasher.combine(session.backoff?.until)
            hasher.combine(session.wastefulRefreshes)
            hasher.combine(session.record.journal == nil)
        }
        hasher.combine(machine.deletion?.id)
    }
}

// MARK: - Parts

extension World {
    /// A suspended caller.
    struct Waiter: Hashable {
        var id: Machine.WaiterID
        var ask: Ask
    }

    /// A caller's request.
    enum Ask: Hashable {
        case token
        /// A token for an operation that takes as long as a token lives.
        case lastingToken
        case tokenInPlaceOf(SessionStamp)
        /// A token of a session that another process has refreshed meanwhile.
        case tokenOf(SessionID)
        case forcedRefresh
        case signIn(SessionID)
        case signOut
    }

    /// An operation in the store queue.
    enum StoreTask: Hashable {
        case load
        /// Reads the record because another process may have changed it. Outdated if the epoch has changed since.
        case snapshot(isOutdated: Bool)
        /// Writes the journal for the refresh with this job.
        case writeJournal(Machine.JobID)
        case save(Machine.SaveJob)
        case confirmExpiry(Machine.RefreshJob)
        case delete(Machine.Deletion)
        case clearJournal(StoredSession)
        /// Marks that the refresh with this job waits until all earlier tasks are done.
        case flush(Machine.JobID)
    }

    /// A refresh in progress.
    struct Refresh: Hashable {
        /// The step that the refresh has reached.
        enum Stage: Hashable {
            case waitsForLock
            case writingJournal
            case sending
            /// Its outcome is being stored. The job, if any, is the one to continue with.
            case finishing(Machine.RefreshJob?)
        }

        var job: Machine.RefreshJob
        var stage: Stage

        var holdsLock: Bool { stage != .waitsForLock }
        var isFinishing: Bool { if case .finishing = stage { true } else { false } }
    }

    /// The response to a refresh that timed out.
    struct LateResponse: Hashable {
        var job: Machine.RefreshJob
        var bundle: TokenBundle
    }

    /// The true state of one session, whatever the machine knows.
    struct Ledger: Hashable {
        /// Whether the server still accepts it.
        var isAlive = true
        /// Whether another process has signed out of it or signed another user in.
        var isLeftElsewhere = false
        /// Whether it has ended for this process, so that nothing may restore it.
        var isOver = false
        /// All refresh tokens the server issued for it.
        var tokens: [Token] = [Token()]
    }

    /// The true state of one refresh token.
    struct Token: Hashable {
        /// Whether the server has replaced the token.
        enum Fate: Hashable {
            case unspent
            /// Replaced, and still accepted within the grace period.
            case replaceable
            /// Replaced, and no longer accepted.
            case spent
        }

        var fate = Fate.unspent
        /// Whether this process has seen a successor.
        var isKnownSpent = false
        /// Whether its fate, or its predecessor's, is unknown.
        var isInDoubt = false
        /// Whether it was sent without a response.
        var mayHaveBeenSentBefore = false
    }
}

extension World.StoreTask {
    fileprivate var tag: Int {
        switch self {
        case .load: 1
        case .snapshot(let isOutdated): isOutdated ? 2 : 3
        case .writeJournal: 4
        case .save: 5
        case .confirmExpiry: 6
        case .delete: 7
        case .clearJournal: 8
        case .flush: 9
        }
    }
}

extension World.Refresh {
    fileprivate var tag: Int {
        switch stage {
        case .waitsForLock: job.replays
        case .writingJournal: 10 + job.replays
        case .sending: 20 + job.replays
        case .finishing: 30 + job.replays
        }
    }
}

// MARK: - Queries

extension World {
    /// The current session, announced or not.
    var current: SessionID? {
        guard case .signedIn(let session) = machine.state else { return nil }
        return session.record.id
    }

    /// The waiters known to the machine.
    var knownWaiters: Set<Machine.WaiterID> {
        switch machine.state {
        case .loading(let waiters): waiters
        case .signedIn(let session): session.waiters
        case .notLoaded, .unavailable, .signedOut, .expired: []
        }
    }

    var isLoaded: Bool {
        switch machine.state {
        case .notLoaded, .loading, .unavailable: false
        case .signedIn, .signedOut, .expired: true
        }
    }

    var isLockFree: Bool {
        !machine.sharesStore || !refreshes.contains(where: \.holdsLock)
    }

    subscript(session: SessionID) -> Ledger {
        get { sessions[Names.number(of: session) - 1] }
        set { sessions[Names.number(of: session) - 1] = newValue }
    }

    /// The true state of a bundle's refresh token.
    subscript(bundle: TokenBundle) -> Token {
        get { sessions[Names.session(of: bundle) - 1].tokens[Names.serial(of: bundle)] }
        set { sessions[Names.session(of: bundle) - 1].tokens[Names.serial(of: bundle)] = newValue }
    }
}

/// Names of sessions and tokens that encode what they belong to.
enum Names {
    static func session(_ number: Int) -> SessionID { SessionID(rawValue: "s\(number)") }

    static func bundle(session: Int, serial: Int) -> TokenBundle {
        TokenBundle(accessToken: Secret("a\(session).\(serial)"), refreshToken: Secret("r\(session).\(serial)"))
    }

    static func number(of session: SessionID) -> Int { digit(at: 1, of: session.rawValue) }
    static func session(of bundle: TokenBundle) -> Int { session(of: bundle.refreshToken ?? bundle.accessToken) }
    static func session(of token: Secret) -> Int { digit(at: 1, of: token.reveal()) }
    static func serial(of bundle: TokenBundle) -> Int {
        digit(at: 3, of: (bundle.refreshToken ?? bundle.accessToken).reveal())
    }

    /// No search creates a tenth session or token.
    private static func digit(at offset: Int, of name: String) -> Int {
        let text = name.utf8
        return Int(text[text.index(text.startIndex, offsetBy: offset)]) - 48
    }
}
