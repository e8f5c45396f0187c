import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Two users on one device", .timeLimit(.minutes(10))) struct TwoUsersTests {
    /// A random life of one device: calls whose responses come at once, late or never, sign-ins, sign-outs, expiries,
    /// emptied jars and caches, a server that fails, restarts, some of them while the store cannot be read, and
    /// downloads that break off or are still under way when the user changes. The server marks each response with the
    /// number of its request, in the body and in a cookie, and each byte of a film.
    private struct Device: ~Copyable {
        /// The sign-in state between two changes of it.
        struct Owner: Hashable {
            let number: Int
            /// The owners whose cookies it may send: its own, and those that it has taken over.
            var cookies: Set<Int>
        }

        /// A call, and the response that it got.
        final class Call: Sendable {
            let owner: Owner
            let mark = Locked<Int?>(nil)
            let isDone = Locked(false)

            init(owner: Owner) {
                self.owner = owner
            }
        }

        /// A download that is under way.
        struct Film {
            let person: String
            /// Whether it ends with the session.
            let isBound: Bool
            /// Holds the response after its first piece.
            let gate: Gate
            /// The number of bytes that an earlier download had kept; `nil` if this one fails.
            let download: Task<Int64?, Never>
        }

        /// The requests that the server has got, by their numbers.
        final class Server: Sendable {
            let cookies = Locked<[Int: Int]>([:])
            let gates = Locked<[Int: Gate]>([:])
            let holds = Locked(false)
            let isDown = Locked(false)
            /// The number of requests for the film, how many bytes the next response has, and the gate that holds it.
            let films = Locked((requests: 0, length: 3000, gate: Gate?.none))

            func respond(to request: StubTransport.Request) async -> StubTransport.Response {
                if request.path == "/auth/refresh" { return .status(401) }
                if request.path == "/film" { return film(from: request.headers[.range]) }
                let number = cookies.withLock { cookies in
                    let number = cookies.count + 1
                    let cookie = request.headers[.cookie].flatMap { Int($0.dropFirst("mark=".count)) }
                    cookies[number] = cookie ?? 0
                    return number
                }
                if holds.withLock({ $0 }) {
                    let gate = Gate()
                    gates.withLock { $0[number] = gate }
                    await gate.pass()
                }
                if isDown.withLock({ $0 }) { return .status(503) }
                var headers: HTTPFields = [.cacheControl: "max-age=60, stale-if-error=600"]
                // The cache answers only requests with the same cookies.
                if number % 5 == 1 { headers[.setCookie] = "mark=\(number); Path=/" }
                return StubTransport.Response(200, headers: headers, body: Data("\(number)".utf8))
            }

            private func film(from range: String?) -> StubTransport.Response {
                let (number, length, gate) = films.withLock { films in
                    films.requests += 1
                    defer { films.gate = nil }
                    return (films.requests, films.length, films.gate)
                }
                let start = range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
                var headers: HTTPFields = [.acceptRanges: "bytes", .eTag: "\"one\"", .contentLength: "\(3000 - start)"]
                if range != nil { headers[.contentRange] = "bytes \(start)-2999/3000" }
                let stream = ByteStream {
                    var position = start
                    return {
                        guard position < 3000 else { return nil }
                        guard position < length else { throw TransportError.connectionLost("reset by peer") }
                        if position > start { try await gate?.passUnlessCancelled() }
                        defer { position += 500 }
                        return Data(repeating: UInt8(truncatingIfNeeded: number), count: min(500, 3000 - position))
                    }
                }
                return StubTransport.Response(range == nil ? 200 : 206, headers: headers, stream: stream)
            }
        }

        let hasManager: Bool
        let time = ManualTimeSource()
        let store = FailingTokenStore()
        let server = Server()
        var dice: SeededGenerator
        var tokens: TokenManager?
        var client: NetworkClient
        var jar = CookieJar()
        var cache = HTTPCache()
        var owner = Owner(number: 0, cookies: [0])
        var lastOwner = 0
        var isSignedIn = false
        var users = 0
        /// The account that is signed in, or the key that a client without a manager sends.
        var person = "no account"
        /// Without a manager, the owners of the other keys since the jar and the cache were emptied.
        var formerOwners: [String: Int] = [:]
        /// The person that each request for the film was made for.
        var viewers: [UInt8: String] = [:]
        let folder: String
        var film: Film?
        var resumed = 0
        /// The number of downloads that were under way when another person followed.
        var crossed = 0
        var leaks: [String] = []
        /// The owner of each request.
        var owners: [Int: Owner] = [:]
        var calls: [(call: Call, task: Task<Void, Never>)] = []
        var answeredFromCache = 0
        /// The number of restarts during which the store could not be read.
        var unread = 0
        var joined = 0

        init(seed: UInt64, hasManager: Bool, folder: String) {
            self.hasManager = hasManager
            self.folder = folder
            dice = SeededGenerator(seed: seed)
            (tokens, client) = Self.start(hasManager, server, store, time, jar, cache, person)
        }

        private static func start(
            _ hasManager: Bool, _ server: Server, _ store: FailingTokenStore, _ time: ManualTimeSource,
            _ jar: CookieJar, _ cache: HTTPCache, _ person: String
        ) -> (TokenManager?, NetworkClient) {
            let transport = StubTransport { await server.respond(to: $0) }
            let settings = config {
                $0.cookies = jar
                $0.cache = cache
                $0.coalescesIdenticalCalls = true
                $0.retry = .never
                $0.timeout = .seconds(1 << 30)
                $0.time = time
            }
            guard hasManager else {
                var settings = settings
                if let key = HTTPField.Name("X-Api-Key") { settings.headers[key] = person }
                return (nil, NetworkClient(baseURL: "https://api.example.com", config: settings, transport: transport))
            }
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
                transport: transport, connectivity: nil, time: time)
            return (tokens, NetworkClient(tokens: tokens, config: settings))
        }

        mutating func step() async throws {
            switch dice.number(below: 60) {
            case 0...31: await call()
            case 32...34: await download()
            case 35...49: await release()
            case 50: time.advance(by: .seconds(61))
            case 51...53: try await signIn()
            case 54: await expire()
            case 55: await signOut()
            case 56, 57: removeAll()
            case 58: server.isDown.withLock { $0.toggle() }
            default: if hasManager, dice.isTrue(inPercent: 60) { await restartUnread() } else { await restart() }
            }
        }

        /// Starts another owner. Nothing from before is for it.
        private mutating func change(takesOver former: Owner? = nil) {
            lastOwner += 1
            owner = Owner(number: lastOwner, cookies: (former?.cookies ?? []).union([lastOwner]))
        }

        /// - Parameter needsNoSession: Whether to choose a call that needs no session.
        private mutating func call(needsNoSession: Bool = false) async {
            let (path, isOpen) = ("/\(dice.number(below: 3))", needsNoSession || dice.isTrue(inPercent: 30))
            server.holds.withLock { $0 = dice.isTrue(inPercent: 60) }
            let (requests, joins) = (server.cookies.withLock { $0.count }, client.pipeline.joined?.joins)
            let call = Call(owner: owner)
            let task = Task { [client] in
                let text = try? await client.text(Visit(path, .get, isOpen ? .none : .ifSignedIn))
                call.mark.withLock { $0 = text.flatMap { Int($0) } }
                call.isDone.withLock { $0 = true }
            }
            calls.append((call, task))
            while true {
                let isDone = call.isDone.withLock { $0 }
                let request = server.cookies.withLock { $0.count }
                if request > requests {
                    owners[request] = owner
                    // The response must not arrive during a later step, unless it is held. If the request is that of an
                    // earlier call, this one may have joined a call whose response is held.
                    while !server.holds.withLock({ $0 }), !call.isDone.withLock({ $0 }),
                        client.pipeline.joined?.joins == joins
                    {
                        await Task.yield()
                    }
                    return
                }
                if isDone {
                    answeredFromCache += 1
                    return
                }
                if client.pipeline.joined?.joins != joins {
                    joined += 1
                    return
                }
                await Task.yield()
            }
        }

        private mutating func release() async {
            if film != nil, dice.isTrue(inPercent: 20) { return await finishFilm() }
            let gate = server.gates.withLock { gates -> Gate? in
                guard let number = gates.keys.sorted().randomElement(using: &dice) else { return nil }
                return gates.removeValue(forKey: number)
            }
            gate?.open()
            for _ in 0..<50 { await Task.yield() }
        }

        /// Downloads the film. One download at a time may wait for a later step.
        private mutating func download() async {
            var options = DownloadOptions()
            options.keepsPartial = true
            let (path, isOpen) = ("\(folder)/film", dice.isTrue(inPercent: 30))
            let (gate, isDone) = (Gate(), Locked(false))
            let waits = film == nil && dice.isTrue(inPercent: 40)
            if !waits { gate.open() }
            server.films.withLock { ($0.length, $0.gate) = (500 * (1 + dice.number(below: 8)), gate) }
            let first = server.films.withLock { $0.requests } + 1
            let task = Task { [client, options] in
                let response = try? await client.download(
                    Get("/film", isOpen ? .none : .ifSignedIn), to: path, options: options)
                isDone.withLock { $0 = true }
                return response?.value.resumedBytes
            }
            while !isDone.withLock({ $0 }), !waits || gate.arrivals == 0 { await Task.yield() }
            for number in first...max(first, server.films.withLock { $0.requests }) {
                viewers[UInt8(truncatingIfNeeded: number)] = person
            }
            let started = Film(person: person, isBound: isSignedIn && !isOpen, gate: gate, download: task)
            if isDone.withLock({ $0 }) { await end(started) } else { film = started }
        }

        private mutating func finishFilm() async {
            guard let film else { return }
            self.film = nil
            film.gate.open()
            await end(film)
        }

        /// Waits for the end of a download, and finds the bytes of another person in its file.
        private mutating func end(_ film: Film) async {
            guard let resumedBytes = await film.download.value else { return }
            if resumedBytes > 0 { resumed += 1 }
            let content = FileManager.default.contents(atPath: "\(folder)/film") ?? Data()
            let owners = Set(content.map { viewers[$0] })
            if owners != [film.person] { leaks.append("\(film.person) got the film of \(owners)") }
        }

        /// Waits for the end of a download whose session has ended. Its bytes stay for its person.
        private mutating func leaveFilm(to next: String) async {
            guard let film else { return }
            if film.person != next { crossed += 1 }
            guard film.isBound else { return }
            self.film = nil
            if await film.download.value != nil { leaks.append("a film of \(film.person) has outlived its session") }
        }

        private mutating func signIn() async throws {
            users += 1
            let name = ["ada", "bob"][dice.number(below: 2)]
            guard let tokens else {
                guard name != person else { return }
                // The jar stays as it is. A response that is stored for a key is for that key only, even when the key
                // comes back.
                formerOwners[person] = owner.number
                await leaveFilm(to: name)
                person = name
                (_, client) = Self.start(false, server, store, time, jar, cache, person)
                let cookies = owner.cookies
                if let former = formerOwners[name] { owner = Owner(number: former, cookies: []) } else { change() }
                owner.cookies.formUnion(cookies)
                return
            }
            try await tokens.signIn(
                with: Tokens(
                    accessToken: Secret("access-\(users)"), refreshToken: Secret("refresh-\(users)"),
                    lifetime: .seconds(1 << 30)),
                account: SessionAccount(userID: name))
            await leaveFilm(to: name)
            person = name
            change(takesOver: isSignedIn ? nil : owner)
            isSignedIn = true
        }

        private mutating func signOut() async {
            guard let tokens else { return removeAll() }
            await tokens.signOut()
            await leaveFilm(to: "no account")
            (isSignedIn, person) = (false, "no account")
            change()
        }

        private mutating func expire() async {
            guard let tokens, isSignedIn else { return }
            _ = try? await tokens.refresh()
            await leaveFilm(to: "no account")
            (isSignedIn, person) = (false, "no account")
            change()
        }

        private mutating func removeAll() {
            let part = dice.number(below: 3)
            if part != 1 { jar.removeAll() }
            if part != 2 { cache.removeAll() }
            formerOwners.removeAll()
            // The jar keeps its cookies if only the cache is emptied.
            change(takesOver: part == 1 ? owner : nil)
        }

        /// Starts the app again. Nothing in memory is left, except the responses that still arrive for earlier calls.
        private mutating func restart() async {
            film?.download.cancel()
            await finishFilm()
            (jar, cache) = (CookieJar(), HTTPCache())
            (tokens, client) = Self.start(hasManager, server, store, time, jar, cache, person)
            await tokens?.restore()
            formerOwners.removeAll()
            change()
        }

        /// Starts the app again while its store cannot be read, for example before the device is first unlocked. The
        /// calls of that time belong to the user who turns out to be signed in.
        private mutating func restartUnread() async {
            store.isLocked = true
            await restart()
            for _ in 0...dice.number(below: 3) { await call(needsNoSession: true) }
            store.isLocked = false
            unread += 1
            if isSignedIn, dice.isTrue(inPercent: 30) {
                // The session ends before any of its calls.
                await tokens?.restore()
                return await expire()
            }
            await tokens?.restore()
            change(takesOver: owner)
        }

        /// Lets all responses arrive, and finds the leaks from one owner to another.
        mutating func finish() async -> [String] {
            await finishFilm()
            server.holds.withLock { $0 = false }
            // A call that has waited for another one's response may send its own request only now.
            for (call, _) in calls {
                while !call.isDone.withLock({ $0 }) {
                    for gate in server.gates.withLock({ $0.values }) { gate.open() }
                    await Task.yield()
                }
            }
            for (number, cookie) in server.cookies.withLock({ $0 }) where cookie != 0 {
                guard let owner = owners[number], let source = owners[cookie] else { continue }
                if !owner.cookies.contains(source.number) {
                    leaks.append("request \(number) of owner \(owner.number) sent a cookie of \(source.number)")
                }
            }
            for (call, _) in calls {
                guard let mark = call.mark.withLock({ $0 }), let source = owners[mark] else { continue }
                if source.number != call.owner.number {
                    leaks.append("a call of owner \(call.owner.number) got the response to \(source.number)")
                }
            }
            return leaks
        }
    }

    @Test(
        "C93, C94: ten thousand random steps leave nothing of one user to the other, with a manager and without",
        arguments: [true, false])
    func randomSteps(hasManager: Bool) async throws {
        var reached = (sent: 0, answered: 0, joined: 0, resumed: 0, crossed: 0, unread: 0)
        for seed in 1...20 as ClosedRange<UInt64> {
            try await TemporaryFolder.with { folder in
                var device = Device(seed: seed, hasManager: hasManager, folder: folder.path)
                for _ in 0..<500 { try await device.step() }
                let leaks = await device.finish()
                #expect(leaks.isEmpty, "seed \(seed): \(leaks.prefix(3))")
                reached.sent += device.owners.count
                reached.answered += device.answeredFromCache
                reached.joined += device.joined
                reached.resumed += device.resumed
                reached.crossed += device.crossed
                reached.unread += device.unread
            }
        }
        // The steps must reach the cases that they are meant for.
        #expect(reached.sent > 500 && reached.answered > 100, "\(reached)")
        #expect(reached.joined > 20 && reached.resumed > 20 && reached.crossed > 20, "\(reached)")
        #expect(reached.unread > 20 || !hasManager, "\(reached)")
    }
}
