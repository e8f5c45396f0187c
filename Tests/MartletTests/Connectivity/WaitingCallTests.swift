import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Calls that wait for a network", .timeLimit(.minutes(10))) struct WaitingCallTests {
    /// A client whose device may have no network, and a monitor that may know it.
    private final class Rig: Sendable {
        let time = ManualTimeSource()
        let network: ManualConnectivityMonitor
        let transport: StubTransport
        let client: NetworkClient
        let isOffline = Locked(true)
        let observer = Observer()

        init(
            connectivityTimeout: Duration? = .seconds(60), seemsConnected: Bool = false,
            interceptors: [any RequestInterceptor] = [], monitor: (any ConnectivityMonitor)? = nil
        ) {
            let isOffline = isOffline
            network = ManualConnectivityMonitor(isConnected: seemsConnected)
            transport = StubTransport { request in
                isOffline.withLock { $0 } ? .failure(.offline) : .json("{\"number\": \(request.number)}")
            }
            var config = NetworkConfig()
            config.connectivityTimeout = connectivityTimeout
            config.connectivity = monitor ?? network
            config.retry = .never
            config.time = time
            // The task that enforces it sleeps through the whole test.
            config.timeout = .seconds(10_000)
            config.observers = [observer]
            config.interceptors = interceptors
            client = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        }

        func call(_ call: Call<Answer> = .get("/me")) -> Task<Result<Answer, NetworkError>, Never> {
            Task { [client] in
                do throws(NetworkError) {
                    return .success(try await client.send(call))
                } catch {
                    return .failure(error)
                }
            }
        }

        func connect() {
            isOffline.withLock { $0 = false }
            network.setConnected(true)
        }
    }

    private struct Answer: Decodable, Sendable {
        var number: Int
    }

    /// A monitor that reports nothing and ends at once.
    private struct EndedMonitor: ConnectivityMonitor {
        var updates: AsyncStream<Bool> { AsyncStream { $0.finish() } }
    }

    private final class Observer: NetworkObserver {
        let waits = Locked(0)

        func observe(_ event: CallEvent) {
            if case .waitingForConnectivity = event { waits.withLock { $0 += 1 } }
        }
    }

    @Test("a call without a network is sent when the network returns") func returned() async throws {
        let rig = Rig()
        let call = rig.call()
        await rig.network.waitForSubscribers()
        #expect(rig.transport.requests.count == 1)
        rig.connect()
        #expect(try await call.value.get().number == 2)
        #expect(rig.observer.waits.withLock { $0 } == 1)
        #expect(rig.time.uptime == .zero)
    }

    @Test("a call that was redirected is not sent again as if nothing had been sent", arguments: [303, 307])
    func redirected(status: Int) async throws {
        let (time, network) = (ManualTimeSource(), ManualConnectivityMonitor(isConnected: true))
        let transport = StubTransport { request in
            guard request.path == "/orders" else {
                network.setConnected(false)
                throw TransportError.offline
            }
            return .status(status, headers: [.location: "https://cdn.example.net/7"])
        }
        let client = client(transport) { config in
            config.connectivityTimeout = .seconds(60)
            config.connectivity = network
            config.time = time
        }
        let failure = await error { try await client.send(Call<NoContent>.post("/orders", .json(["id": 7]))) }
        guard case .connectionLost = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(transport.requests.map(\.path) == ["/orders", "/7"])
    }

    @Test("a redirected GET waits for the network like any other") func redirectedGet() async throws {
        let (time, network) = (ManualTimeSource(), ManualConnectivityMonitor(isConnected: true))
        let transport = StubTransport { request in
            if request.path == "/a" { return .status(302, headers: [.location: "https://cdn.example.net/7"]) }
            if request.number == 2 {
                network.setConnected(false)
                throw TransportError.offline
            }
            return .status(204)
        }
        let client = client(transport) { config in
            config.connectivityTimeout = .seconds(60)
            config.connectivity = network
            config.time = time
            config.retry = .never
        }
        let call = Task { try await client.send(Call<NoContent>.get("/a")) }
        await network.waitForSubscribers()
        network.setConnected(true)
        _ = try await call.value
        #expect(transport.requests.map(\.path) == ["/a", "/7", "/a", "/7"])
    }

    @Test(
        "by default a call does not wait",
        arguments: [(nil, nil), (nil, .zero), (.seconds(60), .zero)] as [(Duration?, Duration?)])
    func notWaiting(client: Duration?, call: Duration?) async {
        let rig = Rig(connectivityTimeout: client)
        var get = Call<Answer>.get("/me")
        get.connectivityTimeout = call
        let result = await rig.call(get).value
        #expect(throws: NetworkError.self) { try result.get() }
        #expect(rig.transport.requests.count == 1)
        #expect(rig.observer.waits.withLock { $0 } == 0)
    }

    @Test("a single call may ask to wait") func oneCall() async throws {
        let rig = Rig(connectivityTimeout: nil)
        let call = rig.call(
            Call(.post, "/messages", body: .json(["text": "hello"]), connectivityTimeout: .seconds(600)))
        await rig.network.waitForSubscribers()
        rig.connect()
        #expect(try await call.value.get().number == 2)
        #expect(rig.transport.requests.map(\.text) == [#"{"text":"hello"}"#, #"{"text":"hello"}"#])
    }

    @Test("a call that has waited long enough fails because there is no network") func timedOut() async {
        let retries = Locked(0)
        let rig = Rig(
            interceptors: [
                ClosureInterceptor(onRetry: { _, _, _ in
                    retries.withLock { $0 += 1 }
                    return .noOpinion
                })
            ])
        let call = rig.call()
        await rig.network.waitForSubscribers()
        await rig.time.waitForSleepers()
        rig.time.advance(by: .seconds(60))
        guard case .failure(.offline) = await call.value else {
            Issue.record("the call did not fail as offline")
            return
        }
        #expect(rig.transport.requests.count == 1)
        #expect(retries.withLock { $0 } == 0)
    }

    @Test("all waits of a call together last no longer than its limit") func oneLimit() async {
        let rig = Rig()
        let call = rig.call()
        await rig.network.waitForSubscribers()
        await rig.time.waitForSleepers()
        rig.time.advance(by: .seconds(40))
        // The network seems to return, and nothing reaches the server.
        rig.network.setConnected(true)
        while rig.transport.requests.count < 2 { await Task.yield() }
        rig.network.setConnected(false)
        while rig.observer.waits.withLock({ $0 }) < 2 { await Task.yield() }
        rig.time.advance(by: .seconds(20))
        guard case .failure(.offline) = await call.value else {
            Issue.record("the call did not fail as offline")
            return
        }
        #expect(rig.time.uptime == .seconds(60))
    }

    @Test("if the device seems to have a network, the pauses before the next requests double")
    func seemsConnected() async throws {
        let rig = Rig(seemsConnected: true)
        let call = rig.call()
        for (count, pause) in [1, 2, 4, 8].enumerated() {
            // The limits of attempts and of waiting, and the pause.
            await rig.time.waitForSleepers(3)
            #expect(rig.transport.requests.count == count + 1)
            if pause == 8 { rig.isOffline.withLock { $0 = false } }
            rig.time.advance(by: .seconds(pause))
        }
        #expect(try await call.value.get().number == 5)
        #expect(rig.time.uptime == .seconds(15))
    }

    @Test("a network that goes and returns ends the pause of a device that seemed to have one")
    func returnedDuringPause() async throws {
        let rig = Rig(seemsConnected: true)
        let call = rig.call()
        await rig.time.waitForSleepers(3)
        rig.network.setConnected(false)
        rig.connect()
        #expect(try await call.value.get().number == 2)
        #expect(rig.time.uptime == .zero)
    }

    @Test("the pauses before the next requests grow to half a minute") func longestPause() async throws {
        let rig = Rig(connectivityTimeout: .seconds(600), seemsConnected: true)
        let call = rig.call()
        let pauses = [1, 2, 4, 8, 16, 30, 30]
        for (index, pause) in pauses.enumerated() {
            await rig.time.waitForSleepers(3)
            #expect(rig.transport.requests.count == index + 1)
            if index == pauses.count - 1 { rig.isOffline.withLock { $0 = false } }
            rig.time.advance(by: .seconds(pause) - .milliseconds(1))
            #expect(rig.time.sleeperCount == 3)
            rig.time.advance(by: .milliseconds(1))
        }
        #expect(try await call.value.get().number == pauses.count + 1)
    }

    @Test("a call pauses before the next request, although the monitor has ended") func endedMonitor() async throws {
        let rig = Rig(monitor: EndedMonitor())
        let call = rig.call()
        for (index, pause) in [1, 2, 4].enumerated() {
            // Without a pause there are more requests.
            while rig.time.sleeperCount < 3, rig.transport.requests.count <= index + 1 { await Task.yield() }
            #expect(rig.transport.requests.count == index + 1)
            if pause == 4 { rig.isOffline.withLock { $0 = false } }
            rig.time.advance(by: .seconds(pause))
        }
        #expect(try await call.value.get().number == 4)
    }

    @Test("a cancelled call stops waiting") func cancelled() async {
        let rig = Rig()
        let call = rig.call()
        await rig.network.waitForSubscribers()
        call.cancel()
        guard case .failure(.cancelled) = await call.value else {
            Issue.record("the call was not cancelled")
            return
        }
    }

    @Test("1,000 calls wait for one network") func many() async throws {
        let rig = Rig()
        let calls = (0..<1000).map { _ in rig.call() }
        await rig.network.waitForSubscribers(1000)
        rig.connect()
        for call in calls { _ = try await call.value.get() }
        #expect(rig.transport.requests.count == 2000)
    }

    @Test("a call whose session ends while it waits is not sent") func sessionEnded() async throws {
        let isOffline = Locked(false)
        let network = ManualConnectivityMonitor(isConnected: false)
        let transport = StubTransport { _ in isOffline.withLock { $0 } ? .failure(.offline) : .json("{\"number\": 1}") }
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, connectivity: network, time: time)
        try await tokens.signIn(with: Tokens(accessToken: "access-1", lifetime: .seconds(3600)))
        var config = NetworkConfig()
        config.connectivityTimeout = .seconds(60)
        config.connectivity = network
        let client = NetworkClient(tokens: tokens, config: config)
        isOffline.withLock { $0 = true }
        let call = Task { try await client.send(Call<Answer>.get("/me")) }
        await network.waitForSubscribers()
        await tokens.signOut()
        try await tokens.signIn(with: Tokens(accessToken: "access-2", lifetime: .seconds(3600)))
        isOffline.withLock { $0 = false }
        network.setConnected(true)
        let result = await call.result
        guard case .failure(let error as NetworkError) = result, case .sessionChanged = error else {
            Issue.record("\(result)")
            return
        }
        #expect(transport.requests.map(\.bearer) == ["access-1"])
    }

    @Test("a call whose token has expired fails without a network because of the refresh, and is offline")
    func expired() async throws {
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: StubTransport { _ in .failure(.offline) }, connectivity: nil, time: time)
        try await tokens.signIn(
            with: Tokens(accessToken: "access-1", refreshToken: "refresh-1", lifetime: .seconds(60)))
        time.advance(by: .seconds(120))
        let failure = await error { _ = try await NetworkClient(tokens: tokens).send(Call<Answer>.get("/me")) }
        guard case .refreshFailed = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(failure?.isOffline == true)
        #expect(tokens.isSignedIn)
    }

    @Test("a call whose token cannot be refreshed without a network waits too") func refreshing() async throws {
        let isOffline = Locked(false)
        let network = ManualConnectivityMonitor(isConnected: false)
        let transport = StubTransport { request in
            if isOffline.withLock({ $0 }) { return .failure(.offline) }
            if request.path == "/auth/refresh" { return .tokens(Tokens(accessToken: "access-2")) }
            return .json("{\"number\": 1}")
        }
        let time = ManualTimeSource()
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, connectivity: network, time: time)
        try await tokens.signIn(
            with: Tokens(accessToken: "access-1", refreshToken: "refresh-1", lifetime: .seconds(60)))
        time.advance(by: .seconds(120))
        var config = NetworkConfig()
        config.connectivityTimeout = .seconds(600)
        config.connectivity = network
        let client = NetworkClient(tokens: tokens, config: config)
        isOffline.withLock { $0 = true }
        let call = Task { try await client.send(Call<Answer>.get("/me")) }
        // The call and the manager.
        await network.waitForSubscribers(2)
        isOffline.withLock { $0 = false }
        network.setConnected(true)
        // If the call comes before the manager, it waits for a pause.
        _ = try await time.advance(by: .milliseconds(100)) { try await call.value }
        #expect(transport.requests(to: "/me").map(\.bearer) == ["access-2"])
        #expect(tokens.isSignedIn)
    }
}
