import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

/// Two users take turns on one device. Their calls, late responses, sign-ins, sign-outs, restarts and emptied caches come in
/// random order.
@Suite("Conformance: what two users leave on one device", .timeLimit(.minutes(10)))
struct SharedDeviceConformanceTests {
    @Test("C93: in 2,500 random steps, no user gets what the other has left", arguments: 1...4)
    func users(seed: Int) async throws {
        try await TemporaryFolder.with { folder in
            let device = SignedInDevice(folder, seed: UInt64(seed))
            for _ in 0..<2500 { try await device.step() }
            try await device.server.finish()
            device.server.tally.check()
        }
    }

    @Test("C93: in 2,500 random steps without a manager, nothing is left after removeAll()", arguments: 1...4)
    func emptied(seed: Int) async throws {
        try await TemporaryFolder.with { folder in
            let device = PlainDevice(folder, seed: UInt64(seed))
            for _ in 0..<2500 { try await device.step() }
            try await device.server.finish()
            device.server.tally.check()
        }
    }
}

/// How often the random steps have reached what the test is about.
private struct Tally {
    var calls = 0
    var requests = 0
    var cookies = 0
    var joins = 0
    var late = 0
    var resumed = 0

    func check() {
        #expect(calls > 500 && requests > 100 && requests < calls)
        #expect(cookies > 50 && joins > 20 && late > 50 && resumed > 10, "\(self)")
    }
}

/// Responds at once, or when the test lets it.
private final class SlowServer: Sendable {
    private struct State {
        var tally = Tally()
        var held: [CheckedContinuation<Void, Never>] = []
        var running: [Task<Void, any Error>] = []
        var holdsNext = false
        var breaksNext = false
    }

    private let state = Locked(State())
    let films = "/film"

    var tally: Tally { state.withLock { $0.tally } }

    func count(_ change: (inout Tally) -> Void) { state.withLock { change(&$0.tally) } }

    /// Waits if the test wants a late response.
    func receive(_ request: StubTransport.Request) async {
        let isHeld = state.withLock { state in
            state.tally.requests += 1
            if request.headers[.cookie] != nil { state.tally.cookies += 1 }
            defer { if request.path != films { state.holdsNext = false } }
            return state.holdsNext && request.path != films
        }
        guard isHeld else { return }
        await withCheckedContinuation { continuation in state.withLock { $0.held.append(continuation) } }
    }

    /// A film that consists of one letter, with a validator that does not depend on the letter.
    func film(_ letter: Character, _ request: StubTransport.Request) -> StubTransport.Response {
        let film = DownloadServer(Data(String(repeating: letter, count: 3000).utf8))
        if state.withLock({ $0.breaksNext }) { film.change { $0.breaks = [1000] } }
        return film.respond(request)
    }

    /// Begins a call, and returns when its owner is known.
    /// - Parameter isLate: Whether its response waits for ``release(_:)``.
    func begin(isLate: Bool, _ call: @escaping @Sendable (_ visit: ObservedVisit) async throws -> Void, _ visit: Visit)
        async
    {
        let hasBegun = Locked(false)
        let task = Task {
            defer { hasBegun.withLock { $0 = true } }
            try await call(ObservedVisit(visit: visit, hasBegun: hasBegun))
        }
        state.withLock { state in
            state.tally.calls += 1
            state.holdsNext = isLate
            state.running.append(task)
        }
        while !hasBegun.withLock({ $0 }) { await Task.yield() }
    }

    /// Lets one late response go, and gives it time to arrive.
    func release(_ random: inout SeededGenerator) async {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.held.isEmpty else { return nil }
            state.tally.late += 1
            return state.held.remove(at: random.number(below: state.held.count))
        }
        next?.resume()
        for _ in 0..<20 { await Task.yield() }
    }

    func finish() async throws {
        var random = SeededGenerator(seed: 0)
        let running = state.withLock { $0.running }
        let isDone = Locked(false)
        async let end: Void = {
            defer { isDone.withLock { $0 = true } }
            for call in running { try await call.value }
        }()
        while !isDone.withLock({ $0 }) { await release(&random) }
        try await end
    }

    /// Downloads the film, perhaps in two calls, and checks it.
    func download(with client: NetworkClient, to path: String, breaks: Bool, _ visit: Visit, letters: String)
        async throws
    {
        state.withLock { $0.breaksNext = breaks }
        var options = DownloadOptions()
        options.keepsPartial = true
        count { $0.calls += 1 }
        do {
            let file = try await client.download(visit, to: path, options: options).value
            if file.resumedBytes > 0 { count { $0.resumed += 1 } }
            let content = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
            #expect(content.count == 3000)
            #expect(
                letters.contains { content == String(repeating: $0, count: 3000) }, "\(Set(content)), not \(letters)")
        } catch {
            if !breaks { throw error }
        }
    }
}

/// Tells when the owner of its call is known: the client asks for the path after that.
private struct ObservedVisit: APIEndpoint {
    let visit: Visit
    let hasBegun: Locked<Bool>

    var path: Path {
        hasBegun.withLock { $0 = true }
        return visit.path
    }

    var authentication: AuthenticationRequirement { visit.authentication }
}

/// A device on which two users sign in and out. The server knows the user from the token, and without one from the cookie.
private final class SignedInDevice {
    private struct Process {
        let tokens: TokenManager
        let client: NetworkClient
        let jar: CookieJar
        let cache: HTTPCache
    }

    let server = SlowServer()
    private let folder: TemporaryFolder
    private let store: any TokenStore = .inMemory
    private let time = ManualTimeSource()
    private var random: SeededGenerator
    private var app: Process
    private var user: String?
    private var signIns = 0

    init(_ folder: TemporaryFolder, seed: UInt64) {
        self.folder = folder
        random = SeededGenerator(seed: seed)
        app = Self.launch(server, store, time)
    }

    /// A launch of the app. Of what the former one had, only the files and the store are left.
    private static func launch(_ server: SlowServer, _ store: any TokenStore, _ time: ManualTimeSource) -> Process {
        let transport = StubTransport { request in
            let user = request.headers[.authorization]?.dropFirst("Bearer ".count).prefix { $0 != "." }
            let cookieUser = request.headers[.cookie]?.dropFirst("sid=".count).prefix { $0 != "." }
            if let user, let cookieUser { #expect(user == cookieUser, "\(user)'s request has \(cookieUser)'s cookie") }
            await server.receive(request)
            if request.path == server.films { return server.film(user?.first ?? "-", request) }
            var headers: HTTPFields = [.cacheControl: "max-age=60"]
            if let user { headers[.setCookie] = "sid=\(user).\(request.number); Path=/" }
            return StubTransport.Response(200, headers: headers, body: Data((user ?? cookieUser ?? "-").utf8))
        }
        let (jar, cache) = (CookieJar(), HTTPCache())
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
            transport: transport, time: time)
        let client = NetworkClient(
            tokens: tokens,
            config: config {
                ($0.cookies, $0.cache, $0.joinsIdenticalCalls, $0.retry) = (jar, cache, true, .never)
                ($0.timeout, $0.maximumConcurrentRequests) = (.seconds(1 << 30), 1000)
            })
        return Process(tokens: tokens, client: client, jar: jar, cache: cache)
    }

    func step() async throws {
        switch random.number(below: 100) {
        case ..<50: await call()
        case ..<72: await server.release(&random)
        case ..<84:
            guard let user else { return }
            try await server.download(
                with: app.client, to: folder.path + "/film", breaks: random.isTrue(inPercent: 50),
                Visit(server.films, .get, .required), letters: String(user.prefix(1)))
        case ..<90: try await signIn(random.isTrue(inPercent: 50) ? "ada" : "bob")
        case ..<93:
            await app.tokens.signOut()
            user = nil
        case ..<95: time.advance(by: .seconds(20))
        case ..<97: app.jar.removeAll()
        case ..<99: app.cache.removeAll()
        default: app = Self.launch(server, store, time)
        }
    }

    private func signIn(_ name: String) async throws {
        signIns += 1
        let bundle = TokenBundle(
            accessToken: Secret("\(name).\(signIns)"), refreshToken: "refresh", lifetime: .seconds(1_000_000))
        try await app.tokens.signIn(with: bundle, account: SessionAccount(userID: name))
        user = name
    }

    private func call() async {
        let requirement = [AuthenticationRequirement.ifSignedIn, .ifSignedIn, .required, .none][random.number(below: 4)]
        let (owner, client) = (user, app.client)
        let joins = client.pipeline.joined?.joins ?? 0
        let visit = Visit(["/a", "/b"][random.number(below: 2)], .get, requirement)
        await server.begin(
            isLate: random.isTrue(inPercent: 60),
            { visit in
                guard let text = try? await client.data(for: visit).value else { return }
                let sender = String(decoding: text, as: UTF8.self)
                #expect(sender == owner ?? "-" || requirement == .none && sender == "-")
            }, visit)
        server.count { $0.joins += (client.pipeline.joined?.joins ?? 0) - joins }
    }
}

/// A device without a manager, which is emptied for the next user. The server knows the user from the cookie.
private final class PlainDevice {
    let server = SlowServer()
    private let folder: TemporaryFolder
    private var random: SeededGenerator
    private let time = ManualTimeSource()
    private let (jar, cache) = (CookieJar(), HTTPCache())
    private let client: NetworkClient
    private let users = Locked((current: 0, ofRequest: [0]))

    init(_ folder: TemporaryFolder, seed: UInt64) {
        self.folder = folder
        random = SeededGenerator(seed: seed)
        let transport = StubTransport { [server, users] request in
            let cookie = request.headers[.cookie].flatMap { Int($0.dropFirst("sid=".count)) }
            let cookieUser = users.withLock { users -> Int? in
                users.ofRequest.append(users.current)
                let cookieUser = cookie.map { users.ofRequest[$0] }
                #expect(cookieUser == nil || cookieUser == users.current)
                return cookieUser
            }
            let number = request.number
            await server.receive(request)
            if request.path == server.films { return server.film(PlainDevice.letter(of: cookieUser), request) }
            var headers: HTTPFields = [.cacheControl: "max-age=60"]
            if cookie == nil { headers[.setCookie] = "sid=\(number); Path=/" }
            return StubTransport.Response(200, headers: headers, body: Data("\(number)".utf8))
        }
        client = Martlet.NetworkClient(
            baseURL: "https://api.example.com",
            config: config { [jar, cache, time] in
                ($0.cookies, $0.cache, $0.joinsIdenticalCalls, $0.retry) = (jar, cache, true, .never)
                ($0.time, $0.timeout, $0.maximumConcurrentRequests) = (time, .seconds(1 << 30), 1000)
            }, transport: transport)
    }

    private static func letter(of user: Int?) -> Character {
        user.map { Character(Unicode.Scalar(UInt8(97 + $0 % 26))) } ?? "-"
    }

    func step() async throws {
        let user = users.withLock { $0.current }
        switch random.number(below: 100) {
        case ..<55: await call(as: user)
        case ..<80: await server.release(&random)
        case ..<92:
            try await server.download(
                with: client, to: folder.path + "/film", breaks: random.isTrue(inPercent: 50), Visit(server.films),
                letters: "-\(PlainDevice.letter(of: user))")
        case ..<96:
            jar.removeAll()
            cache.removeAll()
            users.withLock { $0.current += 1 }
        default: time.advance(by: .seconds(20))
        }
    }

    private func call(as user: Int) async {
        let joins = client.pipeline.joined?.joins ?? 0
        await server.begin(
            isLate: random.isTrue(inPercent: 60),
            { [client, users] visit in
                let text = String(decoding: try await client.data(for: visit).value, as: UTF8.self)
                let sender = users.withLock { $0.ofRequest[Int(text) ?? 0] }
                #expect(sender >= user, "user \(user) gets the response to user \(sender)")
            }, Visit(["/a", "/b"][random.number(below: 2)]))
        server.count { $0.joins += (client.pipeline.joined?.joins ?? 0) - joins }
    }
}
