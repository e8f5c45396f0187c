import HTTPTypes
import Martlet
import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A step of a caller with one of the accounts that its app is signed in to at the same time.
enum AccountStep: Hashable, Sendable {
    case signIn(Int)
    case call(Int)
    case makeCurrent(Int)
    /// Asks which account is current.
    case current
    case signOut(Int)

    static func random(_ dice: inout SeededGenerator) -> AccountStep {
        let account = 1 + dice.number(below: 2)
        switch dice.number(below: 10) {
        case 0, 1: return .signIn(account)
        case 2, 3, 4, 5: return .call(account)
        case 6: return .makeCurrent(account)
        case 7, 8: return .current
        default: return .signOut(account)
        }
    }

    var account: Int? {
        switch self {
        case .signIn(let account), .call(let account), .makeCurrent(let account), .signOut(let account): account
        case .current: nil
        }
    }
}

/// The accounts of one process. They have their own sessions, tokens and connections.
struct SeveralAccounts: Sendable {
    private let accounts: Accounts
    private let server: AccountServer
    private let life: Life
    private let config: NetworkConfig

    init(_ life: Life, _ world: World, _ power: ProcessLife, _ clock: ProcessClock) {
        let server = AccountServer(world, life, power)
        self.server = server
        self.life = life
        var config = SimulatedProcess.config
        config.retry = RetryPolicy(random: { [dice = world.jitter] range in dice.number(in: range) })
        self.config = config
        accounts = Accounts(store: world.accountStore(of: life.process)) { account, store in
            TokenManager(
                baseURL: SimulatedProcess.baseURL, store: store,
                refresher: .custom { tokens, _ in
                    try await server.refresh(tokens, of: Int(account) ?? 0)
                }, transport: server, connectivity: nil, time: clock, random: { $0.lowerBound })
        }
    }

    /// Carries out a step of a caller.
    func perform(_ step: AccountStep, _ call: Int) async -> Reply {
        do {
            switch step {
            case .signIn(let number):
                let user = SessionAccount(userID: "\(number)")
                try await tokens(of: number).signIn(with: server.issue(to: number, for: call), account: user)
            case .call(let number):
                let client = NetworkClient(tokens: tokens(of: number), config: config)
                let content = try await client.data(for: FuzzEndpoint(call: call, plan: RequestPlan())).value
                return .accountContent(Int(String(decoding: content, as: UTF8.self)) ?? 0)
            case .makeCurrent(let number): try await accounts.makeCurrent("\(number)")
            case .current:
                try await accounts.restore()
                return .current(accounts.current.flatMap { Int($0) })
            case .signOut(let number): try await accounts.signOut("\(number)")
            }
            return .done
        } catch {
            return (error as? NetworkError).map { .failed($0) } ?? .cancelled
        }
    }

    private func tokens(of account: Int) -> TokenManager { accounts.tokens(for: "\(account)") }
}

/// A server with one session for each account. It accepts the newest access token, and every refresh token of the
/// newest sign-in.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class AccountServer: Transport, @unchecked Sendable {
    private let world: World
    private let life: Life
    private let power: ProcessLife

    init(_ world: World, _ life: Life, _ power: ProcessLife) {
        (self.world, self.life, self.power) = (world, life, power)
    }

    /// Each process has accounts of its own.
    private func key(_ account: Int) -> [Int] { [life.process, account] }

    func issue(to account: Int, for call: Int) -> Tokens {
        let number = (world.accountTokens[key(account)]?.newest ?? 0) + 1
        world.accountTokens[key(account)] = (number, number)
        world.history.add(.accountTokens(call: call, TokenName(family: account, number: number)))
        return world.server.tokens(TokenName(family: account, number: number))
    }

    func refresh(_ tokens: Tokens, of account: Int) async throws -> Tokens {
        guard power.isOn, let token = TokenName(of: tokens) else { throw PowerCut() }
        world.history.add(.accountRequest(life, call: 0, account: account, token))
        await world.server.wait(for: world.server.delay())
        guard power.isOn else { throw PowerCut() }
        if world.server.failsNow() { throw TransportError.connectionLost("reset by peer") }
        guard let tokens = world.accountTokens[key(token.family)], token.number >= tokens.first else {
            throw RefreshRejectedError(code: "invalid_grant")
        }
        world.accountTokens[key(token.family)] = (tokens.first, tokens.newest + 1)
        return world.server.tokens(TokenName(family: token.family, number: tokens.newest + 1))
    }

    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        guard power.isOn else { throw PowerCut() }
        let token = request.headerFields[.authorization].flatMap { TokenName($0.dropFirst("Bearer ".count)) }
        let call = request.path.flatMap { Int($0.dropFirst()) } ?? 0
        world.history.add(.accountRequest(life, call: call, account: nil, token))
        await world.server.wait(for: world.server.delay())
        guard power.isOn else { throw PowerCut() }
        if world.server.failsNow() { throw TransportError.connectionLost("reset by peer") }
        guard let token, world.accountTokens[key(token.family)]?.newest == token.number else {
            return (head: HTTPResponse(status: .unauthorized), body: ByteStream(Data()))
        }
        return (head: HTTPResponse(status: .ok), body: ByteStream(Data("\(token.family)".utf8)))
    }
}
