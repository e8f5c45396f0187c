import HTTPTypes
import Martlet
import MartletGuests
@testable import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The clock of one process. All processes share the time, but in a dead process, a sleep throws `CancellationError`.
struct ProcessClock: TimeSource {
    let time: ManualTimeSource
    let power: ProcessLife

    var uptime: Duration { time.uptime }
    var wallClock: Date { time.wallClock }

    func sleep(until deadline: Duration) async throws {
        try await time.sleep(until: deadline)
        if !power.isOn { throw CancellationError() }
    }
}

/// The start of a process, before the app has created anything.
struct ProcessLaunch {
    let life: Life
    let power: ProcessLife
    let disk: SimulatedTokenStore

    init(_ life: Life, _ world: World, touches: Int?) {
        let disk = world.disk.open(
            life.name, isShared: world.script.isShared, keepsMark: world.script.keepsMark)
        self.life = life
        self.disk = disk
        power = ProcessLife(touches: touches)
        power.whenOff { disk.kill() }
        world.add(power, of: life)
        world.history.add(.starts(life))
    }
}

/// A process in one of its lifetimes: a token manager, a client and their callers.
struct SimulatedProcess: Sendable {
    let life: Life
    let power: ProcessLife
    let tokens: TokenManager
    let client: NetworkClient
    private let signer: RequestSigner
    private let plain: PlainClient?
    private let accounts: SeveralAccounts?
    private let world: World

    static let baseURL: BaseURL = "https://api.example.com"
    /// Shared, because creating the decoders takes a long time, and they do not matter here.
    static let config = NetworkConfig()

    init(_ launch: ProcessLaunch, _ world: World) {
        let (life, power) = (launch.life, launch.power)
        let store: any TokenStore =
            world.script.newsDelay.map { LateStore(base: launch.disk, delay: $0, time: world.time) } ?? launch.disk
        let server = world.server
        let habits = world.script.habits
        let app = App()
        let random: @Sendable (ClosedRange<Double>) -> Double = { [dice = world.jitter] range in dice.number(in: range)
        }
        let clock = ProcessClock(time: world.time, power: power)
        self.life = life
        self.power = power
        self.world = world
        tokens = TokenManager(
            baseURL: Self.baseURL, store: store,
            refresher: SimulatedServer.Refresher(server: server, life: life, power: power, world: world, app: app),
            revoker: server.revoker(life, power), policy: world.script.policy,
            transport: SimulatedServer.Network(server: server, life: life, power: power),
            connectivity: world.connectivity, time: clock, random: random)
        var config = Self.config(of: world, clock, random)
        let interceptor = world.script.interceptor == .none ? nil : FuzzInterceptor(world, life, clock)
        accounts = habits.kinds.contains(.accounts) ? SeveralAccounts(life, world, power, clock) : nil
        plain = habits.kinds.contains(.plain) ? PlainClient(life, world, power, config) : nil
        config.interceptors = interceptor.map { [$0] } ?? []
        if habits.keepsResponses { config.keepResponses() }
        if habits.registersGuests {
            config.automaticSignIn = { client in try await Self.register(client, life, power, world) }
        }
        client = NetworkClient(tokens: tokens, config: config)
        interceptor?.client = client
        app.client = client
        signer = RequestSigner(tokens: tokens)
        let events = tokens.events
        let history = world.history
        Task { for await event in events where power.isOn { history.add(.event(life, event)) } }
    }

    private static func config(
        of world: World, _ clock: ProcessClock, _ random: @escaping @Sendable (ClosedRange<Double>) -> Double
    ) -> NetworkConfig {
        var config = config
        config.retry = RetryPolicy(random: random)
        config.maximumConcurrentRequests = world.script.slots
        config.connectivity = world.connectivity
        config.connectivityTimeout = world.script.habits.connectivityTimeout
        config.time = clock
        return config
    }

    /// Runs the steps of one caller until they are done or the process is dead.
    func run(_ steps: [Script.Step], caller: Int) async {
        for step in steps {
            if step.wait > .zero { try? await world.time.sleep(until: world.time.uptime + step.wait) }
            guard power.isOn else { return }
            await run(step, caller: caller)
        }
    }

    /// Makes a request that never returns if no request slot is free.
    func useSlot() async {
        await perform(.request(RequestPlan(authentication: .none)), world.history.nextCall(), caller: 0)
    }

    private func run(_ step: Script.Step, caller: Int) async {
        let call = world.history.nextCall()
        guard let patience = step.cancelledAfter else { return await perform(step.what, call, caller: caller) }
        let work = Task { await self.perform(step.what, call, caller: caller) }
        let canceller = Task { [world] in
            await SeededScheduler.pause()
            if patience > .zero, (try? await world.time.sleep(until: world.time.uptime + patience)) == nil { return }
            if power.isOn { world.history.add(.cancels(life, call: call)) }
            work.cancel()
        }
        await work.value
        canceller.cancel()
    }

    private func perform(_ what: Script.Step.What, _ call: Int, caller: Int) async {
        let reply: Reply
        switch what {
        case .token:
            begin(call, caller, .token)
            reply = await token()
        case .renewal:
            begin(call, caller, .renewal)
            reply = await renew()
        case .request(let plan): reply = await request(call, caller, plan)
        case .signIn: reply = await signIn(call, caller)
        case .login: reply = await logIn(call, caller)
        case .signOut:
            begin(call, caller, .signOut)
            await tokens.signOut()
            reply = .done
        case .upgrade: reply = await upgrade(call, caller)
        case .signed(let requirement, let isPicky):
            reply = await sendSigned(call, caller, requirement, isPicky: isPicky)
        case .repeated(let requirement, let isPicky):
            reply = await sendRepeatedly(call, caller, requirement, isPicky: isPicky)
        case .shared(let resource): reply = await read(resource, call, caller)
        case .plain(let resource, let credential):
            guard let plain else { return }
            reply = await read(resource, with: credential, of: plain, call, caller)
        case .account(let step):
            guard let accounts else { return }
            begin(call, caller, .account(step))
            reply = await accounts.perform(step, call)
        case .download(let requirement):
            begin(call, caller, .download(requirement))
            reply = await download(requirement, world.downloads)
        case .empty:
            guard let plain else { return }
            plain.empty()
            return world.history.add(.empties(life, generation: plain.generation))
        }
        world.end(call, of: life, power, reply)
    }

    private func renew() async -> Reply {
        do throws(SessionError) {
            let token = try await tokens.refresh().accessToken
            return TokenName(token.reveal()).map { .token($0) } ?? .done
        } catch {
            return .refused(error)
        }
    }

    private func request(_ call: Int, _ caller: Int, _ plan: RequestPlan) async -> Reply {
        begin(call, caller, .request(plan))
        do {
            try await send(call, plan)
            return .done
        } catch {
            return (error as? NetworkError).map { .failed($0) } ?? .done
        }
    }

    /// Signs in with tokens that the app has obtained itself.
    private func signIn(_ call: Int, _ caller: Int) async -> Reply {
        let issued = world.server.issue()
        begin(call, caller, .signIn(family: issued.family))
        do throws(SessionError) {
            try await tokens.signIn(with: issued.tokens, account: SessionAccount(userID: "\(issued.family)"))
            return .signedIn(family: issued.family)
        } catch {
            return .refused(error)
        }
    }

    /// Signs in at the server.
    private func logIn(_ call: Int, _ caller: Int) async -> Reply {
        begin(call, caller, .login)
        let plan = RequestPlan(kind: .login, authentication: .none, isPost: true)
        world.server.expect(call, plan)
        do throws(NetworkError) {
            let family = try await client.signIn(FuzzEndpoint(call: call, plan: plan), as: Int.self) {
                SessionAccount(userID: "\($0)")
            }
            return .signedIn(family: family)
        } catch {
            return .failed(error)
        }
    }

    private func read(_ resource: Resource, _ call: Int, _ caller: Int) async -> Reply {
        begin(call, caller, .shared(resource))
        do throws(NetworkError) {
            let content = try await client.data(for: SharedEndpoint(resource: resource)).value
            return .content(family: Int(String(decoding: content, as: UTF8.self)) ?? 0)
        } catch {
            return .failed(error)
        }
    }

    /// Reads a resource with the client without a manager.
    private func read(
        _ resource: Resource, with credential: Int, of plain: PlainClient, _ call: Int, _ caller: Int
    ) async -> Reply {
        begin(call, caller, .plain(resource, PlainOwner(credential: credential, generation: plain.generation)))
        do {
            return try await plain.get(resource, credential: credential).map { .plainContent($0) } ?? .done
        } catch {
            return (error as? NetworkError).map { .failed($0) } ?? .done
        }
    }

    private func send(_ call: Int, _ plan: RequestPlan) async throws {
        let endpoint = FuzzEndpoint(call: call, plan: plan)
        switch plan.kind {
        case .plain, .login, .guest, .inner, .refresher, .signed, .repeated, .shared, .film:
            _ = try await client.data(for: endpoint)
        case .stream:
            for try await piece in try await client.stream(endpoint).value {
                receive(String(decoding: piece, as: UTF8.self), call)
            }
        case .events:
            for try await event in client.serverSentEvents(from: endpoint) { receive(event.data, call) }
        }
    }

    /// Sends a request with another client, like an app that keeps its own HTTP client.
    private func sendSigned(
        _ call: Int, _ caller: Int, _ requirement: AuthenticationRequirement, isPicky: Bool
    ) async -> Reply {
        begin(call, caller, .request(RequestPlan(kind: .signed, authentication: requirement, isPicky: isPicky)))
        let network = SimulatedServer.Network(server: world.server, life: life, power: power)
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/\(call)")
        do {
            try await tokens.sign(&request, requirement)
            let (head, _) = try await network.send(request, body: nil)
            if try await tokens.recover(from: head, to: &request) { _ = try await network.send(request, body: nil) }
            return .done
        } catch {
            return (error as? SessionError).map { .refused($0) } ?? .done
        }
    }

    /// Sends a request with a client that repeats it on its own, as Alamofire does. The client signs each attempt, and
    /// asks the signer about each error.
    private func sendRepeatedly(
        _ call: Int, _ caller: Int, _ requirement: AuthenticationRequirement, isPicky: Bool
    ) async -> Reply {
        begin(call, caller, .request(RequestPlan(kind: .repeated, authentication: requirement, isPicky: isPicky)))
        let network = SimulatedServer.Network(server: world.server, life: life, power: power)
        let request = RepeatedRequest(call)
        do {
            try await request.send(requirement, over: network, signer) { [world] in
                await world.server.wait(for: world.repetitionDelay())
            }
            return .done
        } catch {
            return (error as? SessionError).map { .refused($0) } ?? .done
        }
    }

    /// Registers a guest, as `automaticSignIn` does.
    private static func register(
        _ client: NetworkClient, _ life: Life, _ power: ProcessLife, _ world: World
    ) async throws {
        let call = world.history.nextCall()
        world.begin(call, of: life, caller: 0, .login, situation(of: client.tokens, world))
        // The app may need time first, for example for a device attestation.
        await world.server.wait(for: world.repetitionDelay())
        world.server.expect(call, RequestPlan(kind: .guest, authentication: .none, isPost: true))
        do throws(NetworkError) {
            let guest = try await GuestAuthService(client, path: "/\(call)").register(name: "Guest")
            world.end(call, of: life, power, .signedIn(family: Int(guest.id) ?? 0))
        } catch {
            world.end(call, of: life, power, .failed(error))
            throw error
        }
    }

    /// Upgrades the guest to an account.
    private func upgrade(_ call: Int, _ caller: Int) async -> Reply {
        begin(call, caller, .login)
        let plan = RequestPlan(kind: .login, authentication: .required, isPost: true)
        world.server.expect(call, plan)
        do throws(NetworkError) {
            let family = try await GuestAuthService(client).upgrade(as: Int.self) { _ in
                FuzzEndpoint(call: call, plan: plan)
            } account: {
                SessionAccount(userID: "\($0)")
            }
            return .signedIn(family: family)
        } catch {
            return .failed(error)
        }
    }

    private func receive(_ piece: String, _ call: Int) {
        if power.isOn { world.history.add(.receives(life, call: call, piece: Int(piece) ?? 0)) }
    }

    func token() async -> Reply {
        do throws(SessionError) {
            let token = try await tokens.validTokens().accessToken
            return TokenName(token.reveal()).map { .token($0) } ?? .done
        } catch {
            return .refused(error)
        }
    }

    private func begin(_ call: Int, _ caller: Int, _ kind: CallKind) {
        world.begin(call, of: life, caller: caller, kind, Self.situation(of: tokens, world))
    }

    /// The state of its session that the process reports.
    static func situation(of tokens: TokenManager?, _ world: World) -> Situation {
        guard let state = tokens?.state else { return .unknown }
        world.history.learn(state)
        switch state {
        case .loading, .unavailable, .unreadable: return .unknown
        case .signedOut: return .signedOut
        case .expired: return .expired
        case .signedIn(let session): return world.history.families[session.id].map { .session($0) } ?? .unknown
        }
    }
}

/// The client of a process, for its refresher.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class App: @unchecked Sendable {
    weak var client: NetworkClient?
}

/// A shared random number generator, for jitter and disk faults.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class SharedDice: @unchecked Sendable {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// A number above the lower bound, so that a backoff is never zero by chance.
    func number(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * Double(1 + generator.number(below: 1023)) / 1023
    }

    func isTrue(inPercent percent: Int) -> Bool { generator.isTrue(inPercent: percent) }
    func pick<Element>(_ choices: [Element]) -> Element { generator.pick(choices) }
}

extension NetworkConfig {
    fileprivate mutating func keepResponses() {
        cookies = CookieJar()
        cache = HTTPCache()
        coalescesIdenticalCalls = true
    }
}

extension Script {
    fileprivate var policy: SessionPolicy {
        var policy = SessionPolicy()
        policy.rotationGrace = grace
        policy.lockLease = lease
        policy.requiresSavedTokens = requiresSavedTokens
        return policy
    }
}
