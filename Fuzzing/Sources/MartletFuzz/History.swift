import Martlet
import MartletTesting

/// A token of the simulated server: which sign-in it comes from, and how often it has been renewed since.
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

    init?(of bundle: TokenBundle) {
        self.init(bundle.accessToken.reveal())
    }
}

/// One life of a simulated process, from its start to its death.
struct Life: Hashable, Sendable {
    var process: Int
    var number: Int

    /// Its name on the disk.
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

/// What a caller wants.
enum Wish: Hashable, Sendable {
    case token
    case renewal
    case request
    case signIn(family: Int)
    case signOut
}

/// What a caller got.
enum Reply: Sendable {
    case token(TokenName)
    case done
    case signedIn(family: Int)
    case refused(SessionError)
    case failed(NetworkError)
}

/// Why the server refuses a refresh token for good.
enum Refusal: Hashable, Sendable {
    /// It was replaced before: somebody else may have it.
    case spent
    case signedOut
    case withdrawn
}

/// What happened, seen from above.
enum Happening: Sendable {
    case starts(Life)
    case asks(Life, call: Int, caller: Int, Wish, held: Int?)
    case answers(Life, call: Int, Reply)
    case cancels(Life, call: Int)
    case disk(Life, SimulatedDisk.Incident)
    case event(Life, SessionEvent)
    /// A refresh token is on its way.
    case sends(Life, send: Int, TokenName)
    case commits(send: Int, TokenName)
    case repeats(send: Int, TokenName)
    case refuses(send: Int, Refusal)
    case breaks(send: Int, String)
    case delivers(send: Int)
    case abandons(send: Int)
    case request(Life, call: Int, TokenName, isAccepted: Bool)
    case revokes(family: Int)
    case withdraws(family: Int)
    case forgets(family: Int)
    case jumps(Duration)
    case setsWallClock(Double)
    case repairs
    case rests(Life, SessionState, Reply, stored: StoredSession?)
}

/// Everything that happened in one schedule.
///
/// `@unchecked Sendable` is right because a schedule runs on one thread: its scheduler takes every job of the process.
final class History: @unchecked Sendable {
    struct Entry {
        let at: Duration
        let what: Happening
    }

    let time: ManualTimeSource
    private(set) var entries: [Entry] = []
    /// Which session is which of the server's families.
    private(set) var families: [SessionID: Int] = [:]
    private var calls = 0
    private var sends = 0

    init(time: ManualTimeSource) {
        self.time = time
        entries.reserveCapacity(256)
    }

    func add(_ what: Happening) {
        entries.append(Entry(at: time.uptime, what: what))
    }

    /// The server did not accept the token of this request.
    func refuseRequest(at index: Int) {
        guard case .request(let life, let call, let token, _) = entries[index].what else { return }
        entries[index] = Entry(at: entries[index].at, what: .request(life, call: call, token, isAccepted: false))
    }

    func add(_ life: Life, _ incident: SimulatedDisk.Incident) {
        switch incident {
        case .wrote(let session), .kept(.found(let session)), .failed(_, _, .write(let session)): learn(session)
        default: break
        }
        add(.disk(life, incident))
    }

    func learn(_ session: StoredSession) {
        if let token = TokenName(of: session.bundle) { families[session.id] = token.family }
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
}
