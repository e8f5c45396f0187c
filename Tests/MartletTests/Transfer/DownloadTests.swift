import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("A download") struct DownloadTests {
    private let content: Data
    private let server: DownloadServer

    init() {
        var generator = SeededGenerator(seed: 5)
        content = generator.bytes(10_500)
        server = DownloadServer(content)
    }

    @Test("becomes a file with all its bytes, and nothing else is left in the folder") func whole() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let answer = try await client(server.transport).download(Get("/film", .none), to: path)
            #expect(answer.value == DownloadedFile(path: path, size: 10_500))
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("goes on where the connection broke, as often as it takes") func resuming() async throws {
        try await TemporaryFolder.with { folder in
            server.change { $0.breaks = [4000, 0, 2500] }
            let transport = server.transport
            let path = folder.path + "/film.bin"
            let answer = try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(
                transport.requests.map { $0.headers[.range] } == [nil, "bytes=4000-", "bytes=4000-", "bytes=6500-"])
            #expect(transport.requests.dropFirst().allSatisfy { $0.headers[.ifRange] == "\"one\"" })
            #expect(answer.attempts == 4)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("begins anew when the file has changed meanwhile") func changed() async throws {
        try await TemporaryFolder.with { folder in
            var generator = SeededGenerator(seed: 6)
            let newer = generator.bytes(9000)
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                if request.number == 2 {
                    server.change { state in
                        state.content = newer
                        state.headers[.eTag] = "\"two\""
                    }
                }
                return server.answer(request)
            }
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == newer)
        }
    }

    @Test(
        "is asked for whole again where nothing says for sure that it is the same file",
        arguments: [
            [.acceptRanges: "bytes"],
            [.acceptRanges: "bytes", .eTag: "W/\"one\""],
            [.acceptRanges: "none", .eTag: "\"one\""],
            [
                .acceptRanges: "bytes", .lastModified: "Sat, 21 Nov 2026 12:00:00 GMT",
                .date: "Sat, 21 Nov 2026 12:00:00 GMT",
            ],
        ] as [HTTPFields])
    func notResumable(headers: HTTPFields) async throws {
        try await TemporaryFolder.with { folder in
            server.change { state in
                state.headers = headers
                state.breaks = [4000]
            }
            let transport = server.transport
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(transport.requests.map { $0.headers[.range] } == [nil, nil])
        }
    }

    @Test("goes by the date of the last change where that is old enough") func lastModified() async throws {
        try await TemporaryFolder.with { folder in
            let date = "Sat, 21 Nov 2026 11:00:00 GMT"
            server.change { state in
                state.headers = [
                    .acceptRanges: "bytes", .lastModified: date, .date: "Sat, 21 Nov 2026 12:00:00 GMT",
                ]
                state.breaks = [4000]
            }
            let transport = server.transport
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(transport.requests.last?.headers[.ifRange] == date)
        }
    }

    @Test(
        "begins anew where the server goes on elsewhere than it was asked to",
        arguments: ["bytes 3000-10499/10500", "bytes 4000-10499/99999", "lines 4-9/10", nil])
    func wrongRange(range: String?) async throws {
        try await TemporaryFolder.with { folder in
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                guard request.number == 2 else { return server.answer(request) }
                var headers: HTTPFields = [.eTag: "\"one\""]
                headers[.contentRange] = range
                return StubTransport.Answer(206, headers: headers, body: Data("something else".utf8))
            }
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(transport.requests.map { $0.headers[.range] } == [nil, "bytes=4000-", nil])
        }
    }

    @Test(
        "begins anew where a server that does not heed If-Range goes on with another file, whether it says so or not",
        arguments: ["\"two\"", nil])
    func ignoredCondition(tag: String?) async throws {
        try await TemporaryFolder.with { folder in
            var generator = SeededGenerator(seed: 8)
            let newer = generator.bytes(10_500)
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                guard request.number == 2 else { return server.answer(request) }
                server.change { state in
                    state.content = newer
                    state.headers[.eTag] = "\"two\""
                }
                var headers: HTTPFields = [.contentRange: "bytes 4000-10499/10500"]
                headers[.eTag] = tag
                return StubTransport.Answer(206, headers: headers, body: newer.dropFirst(4000))
            }
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == newer)
        }
    }

    @Test("is not disturbed by an attempt that was given up and goes on all the same") func straggler() async throws {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            let straggler = Gate()
            let waits = Locked(true)
            server.beforePiece { position in
                guard position == 5000, waits.withLock({ $0 }) else {
                    // The first attempt is over, and its rest comes now, before the last piece of the second.
                    if position == 10_000 {
                        straggler.open()
                        for _ in 0..<200 { await Task.yield() }
                    }
                    return
                }
                waits.withLock { $0 = false }
                await time.waitForSleepers(1)
                time.advance(by: .seconds(31))
                await straggler.pass()
            }
            let path = folder.path + "/film.bin"
            let client = persistentClient(server.transport) { $0.time = time }
            let answer = try await client.download(Get("/film", .none), to: path)
            #expect(answer.attempts == 2)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("takes no part that nobody asked for, and no answer without content") func notWhole() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("film.bin", Data("older".utf8))
            let part = StubTransport { _ in
                StubTransport.Answer(206, headers: [.contentRange: "bytes 0-2/1000"], body: Data("abc".utf8))
            }
            let failure = await error { try await client(part).download(Get("/film", .none), to: path) }
            guard case .invalidResponse = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            let nothing = StubTransport { _ in .status(204) }
            let second = await error { try await client(nothing).download(Get("/film", .none), to: path) }
            guard case .downloadFailed(_, .noContent) = second else {
                Issue.record("\(String(describing: second))")
                return
            }
            #expect(FileManager.default.contents(atPath: path) == Data("older".utf8))
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("of a part that the endpoint itself asks for is that part") func ownRange() async throws {
        try await TemporaryFolder.with { folder in
            let transport = server.transport
            let path = folder.path + "/part"
            try await client(transport).download(
                Call<Empty>(.get, "/film", headers: [.range: "bytes=10000-"], authentication: .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content.dropFirst(10_000))
        }
    }

    @Test("a connection that breaks after the last byte has done all it was for") func brokenAtTheEnd() async throws {
        try await TemporaryFolder.with { folder in
            server.change { $0.breaks = [10_500] }
            let path = folder.path + "/film.bin"
            let answer = try await client(server.transport).download(Get("/film", .none), to: path)
            #expect(answer.attempts == 1)
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("begins anew after a 416, even for an endpoint that accepts all") func unsatisfiableButAccepted() async throws
    {
        try await TemporaryFolder.with { folder in
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                request.number == 2 ? .status(416) : server.answer(request)
            }
            let path = folder.path + "/film.bin"
            try await persistentClient(transport).download(
                Call<Empty>(.get, "/film", authentication: .none, acceptableStatuses: .any), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("begins anew after a 416") func unsatisfiable() async throws {
        try await TemporaryFolder.with { folder in
            let server = server
            server.change { $0.breaks = [4000] }
            let transport = StubTransport { request in
                request.number == 2 ? .status(416, headers: [.contentRange: "bytes */17"]) : server.answer(request)
            }
            let path = folder.path + "/film.bin"
            // The same attempts are enough: nothing failed but our own question.
            try await persistentClient(transport, attempts: 2).download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("C51: a 401 on the way is met by a refresh, and the rest comes with the new token") func refusedMidway()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let server = server
            let app = try await App.signedIn { $0.retry = RetryPolicy(firstDelay: .zero) }
            let ranges = Locked<[String?]>([])
            server.change { $0.breaks = [4000] }
            app.backend.beforeCall { request in
                let isValid = app.backend.state.withLock { $0.validAccess.contains(request.bearer ?? "") }
                guard isValid else { return nil }
                ranges.withLock { $0.append(request.headers[.range]) }
                // The token dies while the first part comes.
                app.backend.invalidateAccessTokens()
                return server.answer(request)
            }
            let path = folder.path + "/film.bin"
            try await app.client.download(Get("/film"), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(ranges.withLock { $0 } == [nil, "bytes=4000-"])
            #expect(app.backend.refreshCalls == 1)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("C51: a refused download is refreshed and replayed, and one that fails for good leaves nothing behind")
    func refused() async throws {
        try await TemporaryFolder.with { folder in
            let app = try await App.signedIn()
            app.backend.invalidateAccessTokens()
            let path = folder.path + "/me.json"
            try await app.client.download(Get("/me"), to: path)
            #expect(app.backend.refreshCalls == 1)
            #expect(FileManager.default.contents(atPath: path) == Data(#"{"path":"/me","token":"seen"}"#.utf8))

            app.backend.invalidateAccessTokens()
            app.backend.revokeSession()
            let failure = await error { try await app.client.download(Get("/me"), to: folder.path + "/other") }
            guard case .sessionExpired = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(folder.names == ["me.json"])
        }
    }

    @Test("that fails leaves the file that was there, and nothing else") func failing() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("film.bin", Data("older".utf8))
            server.change { $0.breaks = [4000, 1, 1, 1] }
            let failure = await error {
                try await persistentClient(server.transport).download(Get("/film", .none), to: path)
            }
            guard case .connectionLost = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(FileManager.default.contents(atPath: path) == Data("older".utf8))
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("that ends early is not taken for whole") func short() async throws {
        try await TemporaryFolder.with { folder in
            server.change { $0.headers[.contentLength] = "20000" }
            let transport = StubTransport { [server] _ in
                StubTransport.Answer(
                    200, headers: [.contentLength: "20000"], body: server.state.withLock { $0.content })
            }
            let failure = await error {
                try await client(transport) { $0.retry = .never }.download(
                    Get("/film", .none), to: folder.path + "/film")
            }
            guard case .connectionLost = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(folder.names == [])
        }
    }

    @Test("is not made of an answer without one, even for an endpoint that accepts it", arguments: [205, 304, 302])
    func notModified(status: Int) async throws {
        struct Film: APIEndpoint {
            let path = "/film"
            let authentication = AuthenticationRequirement.none
            let acceptableStatuses = StatusCodes.successfulOrRedirect
        }
        try await TemporaryFolder.with { folder in
            let path = try folder.file("film.bin", Data("older".utf8))
            let transport = StubTransport { _ in .status(status) }
            let failure = await error { try await client(transport).download(Film(), to: path) }
            #expect(failure != nil)
            #expect(status == 205 || failure?.answer?.status == status)
            #expect(FileManager.default.contents(atPath: path) == Data("older".utf8))
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("that is cancelled at any moment is there as a whole, or not at all", arguments: [false, true])
    func cancelledAnywhere(keepsPartial: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            var keeping = DownloadOptions()
            keeping.keepsPartial = keepsPartial
            let options = keeping
            let call = Locked<Task<Bool, Never>?>(nil)
            var outcomes: Set<Bool> = []
            // At each piece of a body that breaks once, and from then on ever later after the last one.
            for moment in 0..<60 {
                let calls = Locked(0)
                server.change { $0.breaks = [4000] }
                server.beforePiece { _ in
                    let number = calls.withLock { calls in
                        calls += 1
                        return calls
                    }
                    if number == min(moment, 24) {
                        let task = call.withLock { $0 }
                        if moment <= 24 { task?.cancel() } else { Task { task?.cancel() } }
                    }
                }
                let started = Gate()
                let task = Task { [server] in
                    await started.pass()
                    return
                        await error {
                            try await persistentClient(server.transport).download(
                                Get("/film", .none), to: path, options: options)
                        } == nil
                }
                call.withLock { $0 = task }
                if moment == 0 { task.cancel() }
                started.open()
                let isThere = await task.value
                outcomes.insert(isThere)
                let hidden = folder.names.filter { $0 != "film.bin" }
                #expect(folder.names.contains("film.bin") == isThere, "moment \(moment)")
                if isThere { #expect(FileManager.default.contents(atPath: path) == content, "moment \(moment)") }
                // What is kept is a part and what is known of it, never one without the other.
                #expect(hidden.isEmpty || keepsPartial && !isThere && hidden.count == 2, "\(moment): \(hidden)")
                try? FileManager.default.removeItem(atPath: path)
            }
            #expect(outcomes == [true, false])
        }
    }

    @Test("that is cancelled leaves nothing behind") func cancelled() async throws {
        try await TemporaryFolder.with { folder in
            let reached = Gate()
            server.beforePiece { position in
                if position >= 5000 {
                    await reached.pass()
                    try await Gate().passUnlessCancelled()
                }
            }
            let call = Task { [server] in
                await error {
                    try await client(server.transport).download(Get("/film", .none), to: folder.path + "/film")
                }
            }
            await reached.waitForArrivals()
            call.cancel()
            reached.open()
            #expect(await call.value?.isCancelled == true)
            #expect(folder.names == [])
        }
    }

    @Test("may be told not to take another file's place, and then asks for nothing") func noReplacing() async throws {
        try await TemporaryFolder.with { folder in
            let path = try folder.file("film.bin", Data("older".utf8))
            var options = DownloadOptions()
            options.replacesExisting = false
            let transport = server.transport
            let failure = await error {
                try await client(transport).download(Get("/film", .none), to: path, options: options)
            }
            guard case .downloadFailed(_, .file(let problem)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(problem.kind == .exists)
            #expect(transport.requests.isEmpty)
            #expect(FileManager.default.contents(atPath: path) == Data("older".utf8))
        }
    }

    @Test("does not overwrite a file that came meanwhile where it may not") func noReplacingLate() async throws {
        try await TemporaryFolder.with { folder in
            var options = DownloadOptions()
            options.replacesExisting = false
            server.beforePiece { position in
                if position == 5000 { try folder.file("film.bin", Data("newer".utf8)) }
            }
            let path = folder.path + "/film.bin"
            let failure = await error {
                try await client(server.transport).download(Get("/film", .none), to: path, options: options)
            }
            guard case .downloadFailed(_, .file(let problem)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(problem.kind == .exists)
            #expect(FileManager.default.contents(atPath: path) == Data("newer".utf8))
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("to a folder that is not there fails before anything is asked of the server") func noFolder() async throws {
        try await TemporaryFolder.with { folder in
            let transport = server.transport
            let failure = await error {
                try await client(transport).download(Get("/film", .none), to: folder.path + "/none/film.bin")
            }
            guard case .downloadFailed(_, .file(let problem)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(problem.kind == .missing)
            #expect(problem.path == folder.path + "/none")
            #expect(transport.requests.isEmpty)
        }
    }

    @Test("onto a folder fails and says so") func ontoFolder() async throws {
        try await TemporaryFolder.with { folder in
            try FileManager.default.createDirectory(atPath: folder.path + "/film", withIntermediateDirectories: false)
            let failure = await error {
                try await client(server.transport).download(Get("/film", .none), to: folder.path + "/film")
            }
            guard case .downloadFailed(_, .file(let problem)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(problem.kind == .exists)
            #expect(folder.names == ["film"])
        }
    }

    @Test("of no bytes is an empty file") func empty() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/empty"
            let answer = try await client(StubTransport { _ in .status(200) }).download(Get("/film", .none), to: path)
            #expect(answer.value.size == 0)
            #expect(FileManager.default.contents(atPath: path) == Data())
        }
    }

    @Test("two to one place do not disturb each other") func together() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            let client = client(server.transport)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { try await client.download(Get("/film", .none), to: path) } }
                try await group.waitForAll()
            }
            #expect(FileManager.default.contents(atPath: path) == content)
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("is not cut off by the timeout while it gets on, and is when it rests") func idle() async throws {
        try await TemporaryFolder.with { folder in
            let time = ManualTimeSource()
            server.beforePiece { _ in time.advance(by: .seconds(20)) }
            let path = folder.path + "/film.bin"
            let client = client(server.transport) { config in
                config.time = time
                config.retry = .never
            }
            // 11 pieces with 20 s before each, and 30 s of patience.
            try await client.download(Get("/film", .none), to: path)
            #expect(FileManager.default.contents(atPath: path) == content)

            server.beforePiece { position in
                guard position == 5000 else { return }
                await time.waitForSleepers(1)
                time.advance(by: .seconds(31))
                try await Gate().passUnlessCancelled()
            }
            let failure = await error { try await client.download(Get("/film", .none), to: path + "2") }
            guard case .timedOut = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(folder.names == ["film.bin"])
        }
    }

    @Test("tells how far it has got: from where it goes on, with every attempt") func monitored() async throws {
        try await TemporaryFolder.with { folder in
            server.change { $0.breaks = [4000] }
            let monitor = TransferMonitor(interval: .zero)
            let events = monitor.events
            try await persistentClient(server.transport).download(
                Get("/film", .none), to: folder.path + "/film.bin", monitor: monitor)
            var attempts: [Int] = []
            for await event in events {
                if case .attempt(let number) = event { attempts.append(number) }
            }
            #expect(attempts == [1, 2])
            #expect(monitor.received == TransferCount(completed: 10_500, total: 10_500))
        }
    }

    @Test("asks for the file as it is, not compressed") func identity() async throws {
        try await TemporaryFolder.with { folder in
            let transport = server.transport
            try await client(transport).download(Get("/film", .none), to: folder.path + "/film.bin")
            #expect(transport.requests.first?.headers[.acceptEncoding] == "identity")
        }
    }
}

extension TemporaryFolder {
    /// What is in the folder, hidden or not.
    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? ["the folder cannot be read"]
    }
}
