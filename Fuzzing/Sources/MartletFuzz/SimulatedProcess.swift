import Martlet
import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The clock of one process. All processes share the time, but a dead process is not woken.
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

/// A process in one of its lifetimes: a token manager, a client and their callers.
struct SimulatedProcess: Sendable {
    let life: Life
    let power: ProcessLife
    let tokens: TokenManager
    private let world: World

    private static let baseURL: BaseURL = "https://api.example.com"
    /// Shared, because creating the decoders takes long and they do not matter here.
    private static let config = NetworkConfig()

    init(_ life: Life, _ world: World, touches: Int?) {
        let power = ProcessLife(touches: touches)
        let store = world.disk.open(life.name, isShared: world.script.isShared)
        power.whenOff { store.kill() }
        var policy = SessionPolicy()
        policy.rotationGrace = world.script.grace
        let server = world.server
        let random: @Sendable (ClosedRange<Double>) -> Double = { [dice = world.jitter] range in dice.number(in: range)
        }
        self.life = life
        self.power = power
        self.world = world
        world.add(power, of: life)
        tokens = TokenManager(
            baseURL: Self.baseURL, store: store,
            refresher: SimulatedServer.Refresher(server: server, life: life, power: power),
            revoker: server.revoker(power), policy: policy,
            transport: SimulatedServer.Network(server: server, life: life, power: power),
            time: ProcessClock(time: world.time, power: power), random: random)
        world.history.add(.starts(life))
        let events = tokens.events
        let history = world.history
        Task { for await event in events where power.isOn { history.add(.event(life, event)) } }
    }

    /// Runs the steps of one caller until they are done or the process is dead.
    func run(_ steps: [Script.Step], caller: Int) async {
        for step in steps {
            if step.wait > .zero { try? await world.time.sleep(until: world.time.uptime + step.wait) }
            guard power.isOn else { return }
            await run(step, caller: caller)
        }
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
        let history = world.history
        let issued = what == .signIn ? world.server.issue() : nil
        let kind: CallKind =
            switch what {
            case .token: .token
            case .renewal: .renewal
            case .request: .request
            case .signIn: .signIn(family: issued?.family ?? 0)
            case .signOut: .signOut
            }
        history.add(.asks(life, call: call, caller: caller, kind, held: heldFamily))
        let reply: Reply
        switch what {
        case .token: reply = await token()
        case .renewal:
            do throws(SessionError) {
                try await tokens.refresh()
                reply = .done
            } catch {
                reply = .refused(error)
            }
        case .request:
            do throws(NetworkError) {
                var config = Self.config
                config.retry = RetryPolicy(random: { [dice = world.jitter] in dice.number(in: $0) })
                let client = NetworkClient(tokens: tokens, config: config)
                _ = try await client.data(for: FuzzRequest(path: "/\(call)", isLong: call % 4 == 0))
                reply = .done
            } catch {
                reply = .failed(error)
            }
        case .signIn:
            guard let issued else { return }
            do throws(SessionError) {
                let account = SessionAccount(userID: "\(issued.family)")
                try await tokens.signIn(with: issued.bundle, account: account)
                reply = .signedIn(family: issued.family)
            } catch {
                reply = .refused(error)
            }
        case .signOut:
            await tokens.signOut()
            reply = .done
        }
        if power.isOn { history.add(.returns(life, call: call, reply)) }
    }

    func token() async -> Reply {
        do throws(SessionError) {
            let token = try await tokens.validToken()
            return TokenName(token.reveal()).map { .token($0) } ?? .done
        } catch {
            return .refused(error)
        }
    }

    /// The family of the session that the process reports.
    private var heldFamily: Int? {
        let state = tokens.state
        world.history.learn(state)
        guard case .signedIn(let session) = state else { return nil }
        return world.history.families[session.id]
    }
}

private struct FuzzRequest: APIEndpoint {
    var path: String
    /// Whether the request has a streamed body of unknown length.
    var isLong: Bool
    var authentication: AuthenticationRequirement { .required }
    var body: RequestBody? {
        isLong ? .stream(length: nil, contentType: nil) { ByteStream(Data("long".utf8)) } : nil
    }
}

/// A shared random number generator, for jitter and disk faults.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class SharedDice: @unchecked Sendable {
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    func number(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * Double(generator.number(below: 1024)) / 1023
    }

    func isTrue(inPercent percent: Int) -> Bool { generator.isTrue(inPercent: percent) }
    func pick<Element>(_ choices: [Element]) -> Element { generator.pick(choices) }
}
