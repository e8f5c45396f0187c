@testable import Martlet

/// A rule that must never be broken.
enum Rule: String, CaseIterable {
    case oneRefreshPerRotation = "There is one refresh for each rotation at a time."
    case spentTokensAreNotSent = "A refresh token that is known to be spent is sent only within the grace period."
    case journalsComeFirst = "A refresh token is sent only after its journal was stored, unless the store has failed."
    case locksComeFirst = "A refresh token is sent only while the process holds the lock, unless that was lost."
    case refusalsNeedTheLock = "A refusal ends a session in the store only while the process holds the lock."
    case refreshesAreBounded = "Early refreshes stay within the budget."
    case tokensOfTheOwnSession = "A caller gets only tokens of its own session."
    case noTokensOfEndedSessions = "No caller gets a token of a session that has ended before the caller gets it."
    case noExpiredTokens = "No caller gets a token that has expired."
    case newerThanRejected = "A token that replaces a rejected one is newer."
    case probesAreRare = "At most one caller a second goes out with a rejected token."
    case validTokensAreHandedOut = "A caller gets a token that is still valid at once."
    case storedBeforeVisible = "A token is stored before a caller gets it, unless the failure was reported."
    case endedSessionsStayEnded = "A session that has ended here does not return."
    case sessionsEndForAReason = "A session ends only by a user, a refusal of the server, or another process."
    case expiryIsReportedOnce = "A session expires once at most, and with its true reason."
    case tokensInUseAreNotRevoked = "Tokens of the current session are not revoked."
    case recordsAreNotLost = "A record is deleted only by what ends its session, and never replaced by an older one."
    case laterSignInsAreKept = "The record of a sign-in survives earlier sign-ins and sign-outs."
    case signOutsAreDone = "After a sign-out the record is gone, unless the failure was reported."
    case everyCallReturns = "Every call returns."
    case everyPathEnds = "Everything comes to rest."
    case stateMatchesStore = "At rest, state and store agree."

    /// The rules that the engine does not keep yet. The search prints their violations but does not fail.
    static let open: Set<Rule> = []
}

/// The part of a world's past that the rules need.
struct Rules {
    /// The part of a session's past that the rules need.
    struct Family: Hashable {
        /// The numbers of the tokens that have been stored.
        var stored: Set<Int> = []
        /// The numbers of the refresh tokens whose successor the process has seen.
        var knownSpent: Set<Int> = []
        /// The numbers of the access tokens that were reported as rejected.
        var rejected: Set<Int> = []
        /// The numbers of the refresh tokens that were sent while the store contained no journal of them.
        var unjournaled: Set<Int> = []
        /// Whether the fate of its stored refresh token is unknown.
        var isInDoubt = false
        /// Whether the server has ended it because of a spent token, and the process could not know that the token was
        /// spent: the request arrived late, was sent without a journal or without the lock, or was under way when the
        /// late response to an earlier one brought the next token.
        var hasHiddenReuse = false
        /// Whether the process has received a refusal.
        var isRefused = false
        /// Whether a user has signed in or out here since it started.
        var isEndedByUser = false
        var isEndedElsewhere = false
        /// Whether it has been the current session and is no longer.
        var isOver = false
        /// Whether its sign-in has returned.
        var hasStarted = false
        var hasExpired = false
        /// The times at which refreshes of young tokens started.
        var earlyRefreshes: [Duration] = []
        /// The sessions whose sign-ins had returned when this one began.
        var startedBefore: Set<Int> = []
    }

    let setting: Setting
    var families: [Family] = []
    /// Whether the last operation of the store failed or was late.
    var hasStoreFailed = false
    /// Whether an operation of the store failed or was late since the last sign-out began.
    var hasSignOutTrouble = false
    /// Whether a user has signed in or out in the process.
    var hasUserActed = false
    /// Whether the process has reported that it could not write or delete, and has written nothing since.
    var hasReportedFailure = false
    /// The session that the state shows.
    var current: Int?
    /// The session of a sign-in whose record is being written.
    var startingFamily: Int?
    /// The session that an overtaking event ended, before the remaining steps of the event that it overtook.
    var overtakenFamily: Int?
    /// The time of the last probe.
    var lastProbe: Duration?
    /// The time at which the last refresh ended.
    var lastRefreshEnd: Duration?
    /// Whether a caller got a token in the last choice.
    var gaveToken = false
    /// The first violation.
    var violation: (rule: Rule, words: String)?
    /// The open rules that are violated.
    var openViolations: Set<Rule> = []
    private(set) var names: [SessionID: Int] = [:]

    init(_ setting: Setting) {
        self.setting = setting
    }

    subscript(family: Int) -> Family {
        get { families[family - 1] }
        set { families[family - 1] = newValue }
    }

    /// - Parameter isEndedByUser: Whether a sign-out is in progress, which may include the new session.
    mutating func addFamily(isEndedByUser: Bool = false) {
        let started = families.indices.filter { families[$0].hasStarted }.map { $0 + 1 }
        families.append(Family(isEndedByUser: isEndedByUser, startedBefore: Set(started)))
    }

    mutating func userEndsSessions() {
        hasUserActed = true
        for index in families.indices { families[index].isEndedByUser = true }
    }

    mutating func storeEnded(hasFailed: Bool) {
        hasStoreFailed = hasFailed
        if hasFailed { hasSignOutTrouble = true }
    }

    mutating func endElsewhere() {
        for index in families.indices { families[index].isEndedElsewhere = true }
    }

    /// Learns the name of a session, and that its tokens are stored.
    mutating func learn(_ record: StoredSession) {
        guard let token = TokenName(record.tokens.accessToken) else { return }
        names[record.id] = token.family
        self[token.family].stored.insert(token.number)
    }

    mutating func learn(_ session: SignedInSession) -> Int? {
        guard let family = session.account.userID.flatMap({ Int($0) }) else { return nil }
        names[session.id] = family
        return family
    }

    /// Starts a new life, which knows only the stored record.
    mutating func restart() {
        for index in families.indices {
            families[index].knownSpent = []
            families[index].rejected = []
            families[index].isOver = false
            families[index].hasExpired = false
            families[index].earlyRefreshes = []
        }
        hasUserActed = false
        hasReportedFailure = false
        hasStoreFailed = false
        hasSignOutTrouble = false
        current = nil
        startingFamily = nil
        lastProbe = nil
    }
}
