import Foundation

@testable import Martlet

/// The state machine of a session together with a model of all that it deals with: the store, the server, other processes,
/// those who wait, and the orders that are under way. The search walks from world to world.
///
/// Time is relative: now is always zero, and what lies ahead comes nearer with each tick.
struct World: Hashable {
    typealias Machine = SessionStateMachine

    var machine: Machine
    /// Who waits for an answer of the machine.
    var waiters: [Waiter] = []
    /// Who has been told to ask again, and will.
    var woken: [Ask] = []
    /// What the store has been asked to do, in order.
    var lane: [StoreTask] = []
    /// The refreshes of this process that are under way, forgotten ones included.
    var refreshes: [Refresh] = []
    /// Tokens on their way from the server, for a refresh that has been given up.
    var late: LateAnswer?
    /// How many waits before another try to write are under way.
    var saveRetries = 0
    /// The waits before another try to delete.
    var deleteRetries: [Machine.OrderID] = []
    /// What the store holds.
    var stored: StoredSession?
    /// Another process has changed the record, and this one has not looked yet.
    var hasNews = false
    /// This process has looked in vain, and will look again.
    var awaitsLook = false
    /// What is really so of each session: the first is session 1.
    var sessions: [Ledger] = []
    /// Whoever is told to ask again does so at once, a free lock is taken at once, and a change is noticed at once: fewer
    /// worlds, so that a search gets deeper.
    let isPrompt: Bool

    init(grace: Bool, sharesStore: Bool, isPrompt: Bool = false) {
        self.isPrompt = isPrompt
        var policy = SessionPolicy()
        policy.leewayFraction = 1
        policy.maximumLeeway = .seconds(3600)
        policy.minimumInterval = .zero
        policy.refreshBudget = 2
        policy.refreshWindow = Time.tick
        policy.firstCoolDown = Time.tick
        policy.maximumCoolDown = Time.tick
        policy.rotationGrace = grace ? Time.tick : .zero
        machine = Machine(policy: policy, sharesStore: sharesStore)
    }

    func hash(into hasher: inout Hasher) {
        // Only what tells worlds apart soonest; equality looks at everything.
        hasher.combine(machine.lastID)
        hasher.combine(lane.count)
        hasher.combine(refreshes.count)
        hasher.combine(waiters.count)
        hasher.combine(woken.count)
        hasher.combine(saveRetries)
        hasher.combine(deleteRetries.count)
        hasher.combine(hasNews)
        hasher.combine(awaitsLook)
        hasher.combine(late != nil)
        for waiter in waiters { hasher.combine(waiter.ask) }
        for task in lane { hasher.combine(task.tag) }
        for refresh in refreshes { hasher.combine(refresh.tag) }
        for session in sessions { hasher.combine(session) }
        hasher.combine(stored?.bundle.refreshToken)
        hasher.combine(stored?.journal == nil)
        hasher.combine(stored?.freshUntil)
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
            hasher.combine(session.life?.expiresAt)
            hasher.combine(session.isRejected)
            hasher.combine(session.isSaved)
            hasher.combine(session.isStored)
            hasher.combine(session.coolDown?.until)
            hasher.combine(session.recentRefreshes)
            hasher.combine(session.record.journal == nil)
        }
        hasher.combine(machine.deletion?.id)
    }
}

// MARK: - Parts

extension World {
    struct Waiter: Hashable {
        var id: Machine.WaiterID
        var ask: Ask
    }

    /// What somebody wants to know.
    enum Ask: Hashable {
        case token
        /// For something that takes as long as a token lives.
        case lastingToken
        case tokenInPlaceOf(SessionStamp)
        /// Another process has renewed this session's token meanwhile.
        case tokenOf(SessionID)
        case forcedRefresh
        case signIn(SessionID)
        case signOut
    }

    enum StoreTask: Hashable {
        case load
        case look(isStale: Bool)
        /// Notes in the record what is about to be sent, for the refresh of this order.
        case note(Machine.OrderID)
        case save(Machine.SaveOrder)
        case condemn(Machine.RefreshOrder)
        case delete(Machine.Deletion)
        case clearJournal(StoredSession)
        /// The refresh of this order waits until all before it is done.
        case flush(Machine.OrderID)
    }

    struct Refresh: Hashable {
        enum Stage: Hashable {
            case waitsForLock
            case noting
            case sending
            /// Its outcome is being written; the order is the one to go on with.
            case finishing(Machine.RefreshOrder?)
        }

        var order: Machine.RefreshOrder
        var stage: Stage

        var holdsLock: Bool { stage != .waitsForLock }
        var isFinishing: Bool { if case .finishing = stage { true } else { false } }
    }

    struct LateAnswer: Hashable {
        var order: Machine.RefreshOrder
        var bundle: TokenBundle
    }

    /// What is so of one session, whatever the machine knows of it.
    struct Ledger: Hashable {
        /// The server goes on with it.
        var isAlive = true
        /// Another process signed out of it, or somebody else in.
        var isLeftElsewhere = false
        /// It has ended for this process, and nothing may bring it back.
        var isOver = false
        /// All refresh tokens that the server gave for it.
        var tokens: [Token] = [Token()]
    }

    struct Token: Hashable {
        enum Fate: Hashable {
            case unspent
            /// Spent, and still taken within the grace.
            case replaceable
            case spent
        }

        var fate = Fate.unspent
        /// This process has seen a successor.
        var isKnownSpent = false
        /// What became of it, or of the one before it, is not known.
        var isInDoubt = false
        /// It was sent, and no answer came.
        var mayHaveBeenSent = false
    }
}

extension World.StoreTask {
    fileprivate var tag: Int {
        switch self {
        case .load: 1
        case .look(let isStale): isStale ? 2 : 3
        case .note: 4
        case .save: 5
        case .condemn: 6
        case .delete: 7
        case .clearJournal: 8
        case .flush: 9
        }
    }
}

extension World.Refresh {
    fileprivate var tag: Int {
        switch stage {
        case .waitsForLock: order.replays
        case .noting: 10 + order.replays
        case .sending: 20 + order.replays
        case .finishing: 30 + order.replays
        }
    }
}

// MARK: - Looking

extension World {
    /// Whoever is signed in, announced or not.
    var current: SessionID? {
        guard case .signedIn(let session) = machine.state else { return nil }
        return session.record.id
    }

    /// Those whom the machine knows to wait.
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

    /// What is so of the refresh token of a bundle.
    subscript(bundle: TokenBundle) -> Token {
        get { sessions[Names.session(of: bundle) - 1].tokens[Names.serial(of: bundle)] }
        set { sessions[Names.session(of: bundle) - 1].tokens[Names.serial(of: bundle)] = newValue }
    }
}

/// The names of sessions and tokens say what they belong to, so that tests can tell.
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

    /// No search gets as far as a tenth session or token.
    private static func digit(at place: Int, of name: String) -> Int {
        let text = name.utf8
        return Int(text[text.index(text.startIndex, offsetBy: place)]) - 48
    }
}
