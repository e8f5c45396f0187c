import Foundation
import HTTPTypes
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletBackground

@Suite("A transfer in the background whose token is rejected", .noBlockingCalls, .timeLimit(.minutes(10)))
struct BackgroundReplayTests {
    private let post = Call<NoContent>.post("/films", .text("the wing"))

    @Test("it is sent again with a new token, even after a launch", arguments: [false, true])
    func replayed(isRelaunched: Bool) async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            var transfers = try await world.launch(tokens)
            try await transfers.upload(post)
            try await transfers.download(film, to: world.path + "/film")
            world.oldestAccepted.withLock { $0 = 1 }
            await world.daemon.perform(world.server)
            if isRelaunched { transfers = try await world.launch(tokens) }
            await world.run(transfers)
            let requests = world.daemon.state.withLock { $0.requests.map(\.token).sorted() }
            #expect(requests == ["Bearer access-0", "Bearer access-0", "Bearer access-1", "Bearer access-1"])
            #expect(world.refresher.count.withLock { $0 } == 1)
            #expect(try await transfers.transfers.allSatisfy { $0.stage == .finished(status: 200) })
            #expect(world.content("film") == "film")
            // The body of the rejection is gone.
            let responses = try await transfers.transfers.map(\.response)
            #expect(Set(responses) == [Data("film".utf8), nil])
        }
    }

    @Test(
        "a server that rejects every token gets each at most once, and the transfer fails with its response",
        arguments: [401, 403])
    func stubborn(rejection: Int) async throws {
        try await TransferWorld.with(rejection: rejection) { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.upload(post)
            world.oldestAccepted.withLock { $0 = .max }
            for _ in 0..<8 {
                await world.run(transfers)
                // The refresh budget is for 30 seconds.
                world.time.advance(by: .seconds(60))
            }
            let tokens = world.daemon.state.withLock { $0.requests.map(\.token) }
            #expect(tokens.count == 1 + TransferRecord.maximumReplays && Set(tokens).count == tokens.count)
            let transfer = try #require(try await transfers.transfers.first)
            #expect(transfer.stage == .failed(.unacceptableStatus(rejection)))
            #expect(transfer.response == Data("who are you?".utf8))
        }
    }

    @Test("an interruption after the last rejection does not fail it") func interruptedAgain() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.download(film, to: world.path + "/film")
            world.oldestAccepted.withLock { $0 = TransferRecord.maximumReplays }
            while world.refresher.count.withLock({ $0 }) < TransferRecord.maximumReplays {
                await world.daemon.perform(world.server)
                await world.daemon.deliver()
                await transfers.resume()
                // The refresh budget is for 30 seconds.
                world.time.advance(by: .seconds(60))
            }
            world.daemon.end(with: -997)
            await world.run(transfers)
            #expect(try await transfers.transfers.first?.stage == .finished(status: 200))
        }
    }

    @Test(
        "with an ID in its URL that looks like a secret, it is not sent again, and fails with the response",
        arguments: [
            "507f1f77bcf86cd799439011", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "0f8fad5b-d9cb-469f-a165-70867728950e",
            "1234567890123456789", "the-lark-ascending-1914",
        ])
    func resembling(id: String) async throws {
        try await TransferWorld.with(rejection: 403) { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.download(Call<NoContent>.get("/films/\(id)"), to: world.path + "/film")
            world.oldestAccepted.withLock { $0 = 1 }
            await world.run(transfers)
            let isStored = id.contains("-") || id.count < 20
            let transfer = try #require(try await transfers.transfers.first)
            #expect(transfer.stage == (isStored ? .finished(status: 200) : .failed(.unacceptableStatus(403))))
            #expect(transfer.response == (isStored ? nil : Data("who are you?".utf8)))
        }
    }

    @Test("without a network it waits, and goes on when the network is back") func offline() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.upload(post)
            world.oldestAccepted.withLock { $0 = 1 }
            world.refresher.failure.withLock { $0 = RefreshError(.offline, description: "no network") }
            await world.run(transfers)
            #expect(try await transfers.transfers.first?.stage == .underWay)
            #expect(world.daemon.state.withLock { $0.requests.count } == 1)
            world.refresher.failure.withLock { $0 = nil }
            world.time.advance(by: .seconds(120))
            await world.run(transfers)
            #expect(try await transfers.transfers.first?.stage == .finished(status: 200))
            #expect(world.daemon.state.withLock { $0.accepted } == 1)
        }
    }

    @Test("a 401 of another origin, to which the system was redirected, does not reject the token")
    func redirected() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.upload(post)
            await world.daemon.perform { _, _ in .init(status: 401, leftOrigin: true) }
            await world.run(transfers)
            #expect(try await transfers.transfers.first?.stage == .failed(.unacceptableStatus(401)))
            #expect(world.refresher.count.withLock { $0 } == 0)
        }
    }

    @Test("a download whose body rejects the token is not published, and starts again") func rejectedInBody()
        async throws
    {
        try await TransferWorld.with { world in
            let record = StoredSession(
                storing: .fresh(0), account: SessionAccount(userID: "ada"), at: world.time.wallClock)
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory(holding: record), refresher: world.refresher,
                accessTokenRejection: AccessTokenRejectionRule { $0.body == Data("rejected".utf8) },
                transport: StubTransport(), connectivity: nil, time: world.time)
            await tokens.restore()
            let transfers = try await world.launch(tokens)
            try await transfers.download(film, to: world.path + "/film")
            await world.run(transfers) { request, _ in
                let isFirst = request.headerFields[.authorization] == "Bearer access-0"
                return .init(status: 200, body: Data((isFirst ? "rejected" : "film").utf8))
            }
            #expect(world.content("film") == "film")
            #expect(world.daemon.state.withLock { $0.requests.map(\.token) } == ["Bearer access-0", "Bearer access-1"])
        }
    }

    @Test("a 401 to the GET that follows a POST does not cause a second POST", arguments: ["POST", "PUT"])
    func performed(method: String) async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.upload(method == "POST" ? post : .put("/films/7", .text("the wing")))
            await world.daemon.perform { _, _ in .init(status: 401, hasOtherMethod: true) }
            await world.run(transfers)
            let isRepeated = method == "PUT"
            #expect(
                try await transfers.transfers.first?.stage
                    == (isRepeated ? .finished(status: 200) : .failed(.unacceptableStatus(401))))
            #expect(world.daemon.state.withLock { $0.requests.count } == (isRepeated ? 2 : 1))
        }
    }

    @Test("the completion handler runs on the main thread, after all events and once the replay has started")
    func completion() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            do {
                let transfers = try await world.launch(tokens)
                try await transfers.upload(post)
            }
            world.oldestAccepted.withLock { $0 = 1 }
            await world.daemon.perform(world.server)
            let transfers = try await world.launch(tokens, identifier: world.path)
            let isDone = Locked(false)
            let handled = Gate()
            let isOwn = await MainActor.run {
                transfers.handleEvents(for: world.path) {
                    MainActor.assertIsolated()
                    isDone.withLock { $0 = true }
                    handled.open()
                }
            }
            #expect(isOwn)
            await world.daemon.deliver()
            await transfers.resume()
            #expect(!isDone.withLock { $0 }, "the system has not said that there are no more events")
            await world.daemon.deliver(tellsEnd: true)
            await handled.pass()
            #expect(world.daemon.state.withLock { $0.jobs.values.filter(\.isResumed).count } == 1)
            // The next events have a handler of their own, and may be there before it.
            await world.daemon.deliver(tellsEnd: true)
            await transfers.handleEvents()
            let waiting = Task { await transfers.handleEvents() }
            waiting.cancel()
            await waiting.value
        }
    }

    @Test("a TRACE carries no token, and must not require one") func trace() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            let required = Call<NoContent>(.trace, "/films/7", authentication: .required)
            guard case .invalidRequest = await error({ try await transfers.download(required, to: world.path + "/a") })
            else {
                Issue.record("it has begun")
                return
            }
            let optional = Call<NoContent>(.trace, "/films/7", authentication: .ifSignedIn)
            try await transfers.download(optional, to: world.path + "/b")
            await world.run(transfers, world.openServer)
            #expect(world.daemon.state.withLock { $0.requests.map(\.token) } == ["none"])
        }
    }

    @Test("a handler for the session of another library is not kept") func foreignSession() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn(), identifier: world.path)
            let isCalled = Locked(false)
            let isOwn = await MainActor.run {
                transfers.handleEvents(for: "com.example.other") { isCalled.withLock { $0 = true } }
            }
            #expect(!isOwn)
            await world.daemon.deliver(tellsEnd: true)
            await transfers.handleEvents()
            #expect(!isCalled.withLock { $0 })
        }
    }

    @Test("if the system never says that it has delivered all events, the handler is called after 25 seconds")
    func deadline() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn(), identifier: world.path)
            let isDone = Locked(false)
            let handled = Gate()
            let isOwn = await MainActor.run {
                transfers.handleEvents(for: world.path) {
                    isDone.withLock { $0 = true }
                    handled.open()
                }
            }
            #expect(isOwn)
            await world.time.waitForSleepers()
            world.time.advance(by: .seconds(24))
            await transfers.resume()
            #expect(!isDone.withLock { $0 })
            world.time.advance(by: .seconds(1))
            await handled.pass()
        }
    }

    @Test("a report that comes after its handler has given up does not count for the next handler") func lateReport()
        async
    {
        let events = HandledEvents()
        let first = Task { await events.wait() }
        while !events.isWaiting { await Task.yield() }
        first.cancel()
        await first.value
        events.report()
        let isDone = Locked(false)
        let second = Task {
            await events.wait()
            isDone.withLock { $0 = true }
        }
        while !events.isWaiting, !isDone.withLock({ $0 }) { await Task.yield() }
        #expect(events.isWaiting)
        events.report()
        await second.value
    }

    @Test("a report that comes before its handler counts for that handler, and for no other") func earlyReport()
        async throws
    {
        let events = HandledEvents()
        events.report()
        let isDone = Locked(false)
        let first = Task {
            await events.wait()
            isDone.withLock { $0 = true }
        }
        while !events.isWaiting, !isDone.withLock({ $0 }) { await Task.yield() }
        try #require(!events.isWaiting)
        let second = Task { await events.wait() }
        while !events.isWaiting { await Task.yield() }
        events.report()
        await first.value
        await second.value
    }

    @Test("events that are delivered before the completion handler is there are handled too") func early() async throws
    {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.upload(post)
            await world.daemon.perform(world.server)
            await world.daemon.deliver(tellsEnd: true)
            await transfers.handleEvents()
            #expect(try await transfers.transfers.first?.stage == .finished(status: 200))
        }
    }
}
