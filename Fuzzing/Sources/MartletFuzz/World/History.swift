import Martlet
import MartletTesting

/// A token of the simulated server. Its family is the session on the server, that is, all tokens that come from one
/// sign-in; its number counts the refreshes since.
struct TokenName: Hashable, Sendable {
    var family: Int
    var number: Int

    var access: Secret { Secret("a\(family).\(number)") }
    var refresh: Secret { Secret("r\(family).\(number)") }
    var next: TokenName { TokenName(family: family, number: number + 1) }

    init(family: Int, number: Int) {
        self.family = family
        self.number = number
    }

    init?(_ text: some StringProtocol) {
        let digits = text.utf8.dropFirst()
        var (family, number, hasDot) = (0, 0, false)
        for digit in digits {
            if digit == UInt8(ascii: ".") {
                hasDot = true
            } else if hasDot {
                number = number * 10 + Int(digit) - 48
            } else {
                family = family * 10 + Int(digit) - 48
            }
        }
        guard hasDot else { return nil }
        self.init(family: family, number: number)
    }

    init?(of tokens: Tokens) {
        self.init(tokens.accessToken.reveal())
    }
}

/// One lifetime of a simulated process, from its start to its death.
struct Life: Hashable, Sendable {
    var process: Int
    var number: Int

    /// The name of the process on the simulated disk.
    var name: String { "\(process).\(number)" }

    init(process: Int, number: Int) {
        self.process = process
        self.number = number
    }

    init(named name: String) {
        let token = TokenName("-" + name) ?? TokenName(family: 0, number: 0)
        self.init(process: token.family, number: token.number)
    }
}

/// The request of a caller.
enum CallKind: Hashable, Sendable {
    case token
    case renewal
    case request(RequestPlan)
    case signIn(family: Int)
    /// The app adopts the tokens of a former library before its manager starts.
    case adoption(family: Int)
    /// A sign-in whose tokens come from the server.
    case login
    case signOut
    /// A resource that the client may keep.
    case shared(Resource)
    /// A call of the client without a manager.
    case plain(Resource, PlainOwner)
    /// A download of the film.
    case download(AuthenticationRequirement)
    /// A step with one of several accounts.
    case account(AccountStep)
}

/// The owner of a call without a manager: the credential that the app adds, and the number of times the app had emptied
/// the cookie jar and the cache.
struct PlainOwner: Hashable, Sendable {
    var credential: Int
    var generation: Int

    /// `p1.0`, the form of a token.
    var text: String { "p\(credential).\(generation)" }

    init(credential: Int, generation: Int) {
        (self.credential, self.generation) = (credential, generation)
    }

    init?(_ text: some StringProtocol) {
        guard let token = TokenName(text) else { return nil }
        self.init(credential: token.family, generation: token.number)
    }
}

/// The session that a process reported when a call began.
enum Situation: Hashable, Sendable {
    /// The store had not been read.
    case unknown
    case signedOut
    case expired
    case session(Int)
}

/// The reply to a caller.
enum Reply: Sendable {
    case token(TokenName)
    case done
    case signedIn(family: Int)
    /// The user that the server made the response for; 0 without a token.
    case content(family: Int)
    case plainContent(PlainOwner)
    /// A downloaded film: the users that the server made its bytes for, its length, and how many bytes of it were kept
    /// by an earlier call.
    case film(families: Set<Int>, size: Int, resumed: Int)
    /// The account for which the server made the response.
    case accountContent(Int)
    case current(Int?)
    case refused(SessionError)
    case failed(NetworkError)
    /// The caller was cancelled, without an error of Martlet's that says so.
    case cancelled
}

/// A request to the API, as the server saw it.
struct Exchange: Sendable {
    let life: Life
    let call: Int
    let token: TokenName?
    /// Whether it went to another origin.
    let isElsewhere: Bool
    /// The user of the cookie that it carried; 0 for one that the server set without knowing a user.
    var cookie: Int?
    /// The status of the response, and when it arrived; `nil` if it did not.
    var status: Int?
    var answeredAt: Duration?
}

/// The reason why the server rejects a refresh token permanently.
enum Rejection: Hashable, Sendable {
    /// The token was replaced before, so another party may have it.
    case spent
    /// The client has revoked the session's tokens after a sign-out.
    case signedOut
    /// The server has ended the session.
    case withdrawn
}

/// An entry of the history.
enum Occurrence: Sendable {
    case starts(Life)
    case asks(Life, call: Int, caller: Int, CallKind, Situation)
    case returns(Life, call: Int, Reply)
    case cancels(Life, call: Int)
    case disk(Life, SimulatedDisk.Event)
    case event(Life, SessionEvent)
    /// A refresh token is sent. If the refresher made a call first, the engine had decided to send it at an earlier
    /// position.
    case sends(Life, send: Int, TokenName, decidedAt: Int)
    /// The server replaces the token.
    case commits(send: Int, TokenName)
    /// The server returns the successor again, within the grace period.
    case repeats(send: Int, TokenName)
    /// The server rejects the token.
    case refuses(send: Int, Rejection)
    /// The server or the network fails.
    case breaks(send: Int, String, retryAfter: Duration?, isUnsent: Bool = false)
    /// The response, or the error of the network, arrives.
    case delivers(send: Int)
    /// The process stops waiting for the response.
    case abandons(send: Int)
    case request(Exchange)
    /// The server creates a session for a sign-in.
    case issues(call: Int, family: Int)
    /// The response to a sign-in arrives.
    case arrives(call: Int)
    /// The server sends a piece of a stream.
    case streams(call: Int, piece: Int)
    /// The caller gets a piece of a stream.
    case receives(Life, call: Int, piece: Int)
    case revokes(Life, family: Int)
    /// A revocation does not reach the server.
    case missesRevocation(Life, family: Int)
    /// The server rejects the session's current access token from now on.
    case withdraws(family: Int)
    /// The server ends the session.
    case forgets(family: Int)
    /// The client without a manager sends a request. The generation is the current one.
    case plainRequest(Life, cookie: Int?, generation: Int)
    /// The app empties the jar and the cache of the client without a manager.
    case empties(Life, generation: Int)
    /// A request of one of several accounts, or a refresh, which names its account.
    case accountRequest(Life, call: Int, account: Int?, TokenName?)
    /// A sign-in to one of several accounts gets its first token, whose family is the account.
    case accountTokens(call: Int, TokenName)
    /// The former tokens are deleted.
    case removesFormer(Life)
    /// The store notes that the former tokens were adopted.
    case notesAdoption(Life)
    case connects(Bool)
    case jumps(Duration)
    case setsWallClock(Double)
    /// All faults end.
    case repairs
    /// The final state of a process.
    case settles(Life, SessionState, Reply, stored: StoredSession?)
}

/// Everything that happened in one schedule, in order.
///
/// `@unchecked Sendable`: a schedule runs on one thread, because its scheduler executes every job of the process.
final class History: @unchecked Sendable {
    /// An event and the uptime at which it happened.
    struct Entry {
        let at: Duration
        let what: Occurrence
    }

    let time: ManualTimeSource
    private(set) var entries: [Entry] = []
    /// The family of each session.
    private(set) var families: [SessionID: Int] = [:]
    private var calls = 0
    private var sends = 0
    private var pieces = 0
    private var shared = 0

    init(time: ManualTimeSource) {
        self.time = time
        entries.reserveCapacity(256)
    }

    func add(_ what: Occurrence) {
        entries.append(Entry(at: time.uptime, what: what))
    }

    func respond(_ status: Int, at index: Int) {
        guard case .request(var exchange) = entries[index].what else { return }
        (exchange.status, exchange.answeredAt) = (status, time.uptime)
        entries[index] = Entry(at: entries[index].at, what: .request(exchange))
    }

    func add(_ life: Life, _ event: SimulatedDisk.Event) {
        switch event {
        case .wrote(let session), .read(.found(let session)), .failed(_, _, .write(let session)): learn(session)
        default: break
        }
        add(.disk(life, event))
    }

    func learn(_ session: StoredSession) {
        if let token = TokenName(of: session.tokens) { families[session.id] = token.family }
    }

    func learn(_ state: SessionState) {
        if case .signedIn(let session) = state, let family = session.account.userID.flatMap({ Int($0) }) {
            families[session.id] = family
        }
    }

    func nextCall() -> Int {
        calls += 1
        return calls
    }

    func nextSend() -> Int {
        sends += 1
        return sends
    }

    /// The number of a request that several calls may share. It is negative, because it is not the number of a call.
    func nextShared() -> Int {
        shared -= 1
        return shared
    }

    func nextPiece() -> Int {
        pieces += 1
        return pieces
    }
}
