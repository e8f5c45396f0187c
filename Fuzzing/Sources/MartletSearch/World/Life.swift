import HTTPTypes
import MartletTesting

@testable import Martlet

/// One life of the process under test: a real token manager and its callers.
///
/// `@unchecked Sendable`: a search runs on one thread.
final class Life: @unchecked Sendable {
    /// A caller that waits, or has just got its reply.
    struct Caller {
        let id: Int
        let kind: Choice.Ask.Kind
        /// The session of the user when the call was made; `nil` if it was not known or there was none.
        let family: Int?
        var replaced: Token?
        var task: Task<Void, Never>?
    }

    /// A reply, and the time at which it arrived.
    struct Returned {
        let caller: Caller
        let reply: Reply
        let time: Duration
    }

    /// A token and its stamp.
    struct Token: Hashable {
        let stamp: SessionStamp
        let name: TokenName
    }

    /// The result that a caller gets.
    enum Reply {
        case token(Token)
        /// A rejected token, for the caller with this ID to go out with.
        case probe(Token, by: Int)
        case done
        case failure(SessionError)
        case signedIn(SignedInSession)
    }

    let power = Power()
    let tokens: TokenManager
    private(set) var waiting: [Caller] = []
    /// The replies and events since the last choice, in the order of their arrival.
    var replies: [Returned] = []
    var events: [(event: SessionEvent, time: Duration)] = []
    /// The tokens that callers have received, without repetitions, newest last.
    var held: [Token] = []
    /// The probe under way; `nil` if there is none, or its refresh is over.
    var probe: (token: Token, id: Int)?
    private let clock: SearchClock
    private var lastID = 0

    private static let baseURL: BaseURL = "https://api.example.com"

    init(_ ports: Ports) {
        clock = ports.clock
        tokens = TokenManager(
            baseURL: Self.baseURL, store: SearchStore(disk: ports.disk, power: power),
            refresher: SearchRefresher(ports: ports, power: power),
            revoker: .custom { [power] tokens, _ in if power.isOn { ports.world?.revoked(tokens) } },
            policy: ports.server.setting.policy, transport: NoNetwork(), connectivity: nil, time: ports.clock,
            random: { $0.upperBound })
        tokens.numberIDs(from: Digest.firstID)
        let events = tokens.events
        Task { [weak self] in
            for await event in events {
                guard let self, power.isOn else { return }
                self.events.append((event, ports.clock.uptime))
            }
        }
    }

    func call(
        _ kind: Choice.Ask.Kind, of family: Int?, replacing replaced: Token? = nil,
        _ perform: @escaping @Sendable (TokenManager) async -> Reply
    ) {
        lastID += 1
        let id = lastID
        var caller = Caller(id: id, kind: kind, family: family, replaced: replaced)
        caller.task = Task { [tokens] in
            let reply = await perform(tokens)
            self.returned(id, reply)
        }
        waiting.append(caller)
    }

    private func returned(_ id: Int, _ reply: Reply) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        replies.append(Returned(caller: waiting.remove(at: index), reply: reply, time: clock.uptime))
        if case .token(let token) = reply, power.isOn {
            held.removeAll { $0 == token }
            held.append(token)
        }
    }

    /// A token that callers hold.
    func held(_ which: Choice.Held) -> Token? {
        guard let newest = held.last else { return nil }
        switch which {
        case .newest: return newest
        case .older: return held.dropLast().last { $0.stamp.session == newest.stamp.session }
        case .ofEndedSession: return held.last { $0.stamp.session != newest.stamp.session }
        }
    }

    private struct NoNetwork: Transport {
        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            throw CancellationError()
        }
    }
}

/// The environment of the process under test: its clock, its disk and its server.
///
/// `@unchecked Sendable`: a search runs on one thread.
final class Ports: @unchecked Sendable {
    let clock = SearchClock()
    let disk: SearchDisk
    let server: SearchServer
    /// Receives what the process sends.
    weak var world: World?

    init(_ setting: Setting) {
        disk = SearchDisk(isShared: setting.isShared)
        server = SearchServer(setting, clock: clock)
    }
}

/// Sends refresh tokens to the server of a world. The response arrives when the search says so, even after the process
/// has stopped waiting for it.
struct SearchRefresher: TokenRefresher {
    let ports: Ports
    let power: Power

    func refresh(_ tokens: Tokens, over client: TokenEndpointClient) async throws -> Tokens {
        guard power.isOn, let token = TokenName(tokens.refreshToken) else { throw CancellationError() }
        ports.world?.willSend(token)
        let server = ports.server
        let id = server.nextID
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { server.park(token, $0) }
        } onCancel: {
            server.abandon(id)
        }.get()
    }
}

// MARK: - Calls of the engine

extension Life {
    func ask(_ ask: Choice.Ask, of family: Int?) {
        switch ask {
        case .token: call(.token, of: family) { Reply(await $0.credential(for: $0.currentOwner)) }
        case .lastingToken:
            call(.lastingToken, of: family) {
                Reply(await $0.credential(lasting: .seconds(3200), for: $0.currentOwner))
            }
        case .probing:
            call(.probing, of: family) { Reply(await $0.credential(for: $0.currentOwner, .mayProbe)) }
        case .forced:
            call(.forced, of: family) { tokens in
                do throws(SessionError) {
                    try await tokens.refresh()
                    return .done
                } catch {
                    return .failure(error)
                }
            }
        case .replacement(let which):
            guard let token = held(which) else { return }
            call(.replacement, of: token.name.family, replacing: token) {
                Reply(await $0.credential(replacing: token.stamp))
            }
        }
    }

    func reportRejection() {
        if let token = held(.newest) { _ = tokens.reportRejection(of: token.stamp) }
    }

    func acceptProbe() {
        if let probe { tokens.reportAcceptance(of: probe.token.stamp, .probe(probe.id)) }
        probe = nil
    }

    func signIn(with issued: Tokens, family: Int) {
        call(.signIn, of: family) { tokens in
            do throws(SessionError) {
                return .signedIn(try await tokens.signIn(with: issued, account: SessionAccount(userID: "\(family)")))
            } catch {
                return .failure(error)
            }
        }
    }

    func signOut(of family: Int?) {
        call(.signOut, of: family) { tokens in
            await tokens.signOut()
            return .done
        }
    }
}

extension Life.Reply {
    fileprivate init(_ result: Result<Credential, SessionError>) {
        switch result {
        case .success(let credential):
            guard let name = TokenName(credential.accessToken) else {
                self = .done
                return
            }
            let token = Life.Token(stamp: credential.stamp, name: name)
            self = credential.prober.map { .probe(token, by: $0) } ?? .token(token)
        case .failure(let error): self = .failure(error)
        }
    }

    var words: String {
        switch self {
        case .token(let token): "gets token \(token.name.text)"
        case .probe(let token, _): "probes token \(token.name.text)"
        case .done: "is done"
        case .failure(let error): "fails: \(error)"
        case .signedIn(let session):
            "is signed in as \(session.account.userID ?? "?")\(session.isSaved ? "" : ", not saved")"
        }
    }
}
