import Foundation
import HTTPTypes
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletBackground

@Suite("A transfer in the background and its user", .noBlockingCalls, .timeLimit(.minutes(10)))
struct BackgroundOwnershipTests {
    private let put = Call<NoContent>.put("/films/7", .text("the wing"))

    @Test("when the user signs out, the transfer is cancelled and deleted") func signedOut() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            let transfers = try await world.launch(tokens)
            let id = try await transfers.upload(put)
            let events = transfers.events
            await tokens.signOut()
            var stages: [BackgroundTransfer.Stage] = []
            for await event in events where event.id == id {
                stages.append(event.stage)
                if event.hasEnded { break }
            }
            #expect(stages == [.failed(.sessionEnded)])
            await transfers.resume()
            #expect(world.daemon.state.withLock { $0.cancelled.map(\.id) } == [id])
            #expect(world.names == [])
            await world.run(transfers)
            #expect(try await transfers.transfers == [])
        }
    }

    @Test("a transfer that ended while the app was closed is not given to another user", arguments: [200, 401, 500])
    func anotherUser(status: Int) async throws {
        try await TransferWorld.with { world in
            do {
                let transfers = try await world.launch(world.signedIn("ada"))
                try await transfers.upload(put)
                try await transfers.download(film, to: world.path + "/film")
            }
            await world.daemon.perform { _, _ in .init(status: status, body: Data("ada's film".utf8)) }
            let transfers = try await world.launch(world.signedIn("bob", number: 70))
            let seen = Locked<[String]>([])
            let listening = Task {
                for await event in transfers.events {
                    seen.withLock { $0.append("\(event.stage) \(event.response?.count ?? 0)") }
                }
            }
            await world.run(transfers)
            #expect(try await transfers.transfers == [])
            #expect(world.names == [] && world.content("film") == nil)
            let requests = world.daemon.state.withLock { $0.requests.map(\.token) }
            #expect(requests == ["Bearer access-0", "Bearer access-0"])
            listening.cancel()
            await listening.value
            #expect(Set(seen.withLock { $0 }).isSubset(of: ["failed(\(BackgroundTransferError.sessionEnded)) 0"]))
        }
    }

    @Test("a result that the app has not removed is deleted with its session") func unremoved() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            try await transfers.upload(put)
            await world.run(transfers)
            #expect(try await transfers.transfers.count == 1)
            try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: "bob"))
            #expect(try await transfers.transfers == [])
            await transfers.resume()
            #expect(world.names == [])
        }
    }

    @Test("a token of another user never signs it, even if that user signs in during the refresh")
    func duringRefresh() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            try await transfers.upload(put)
            world.oldestAccepted.withLock { $0 = 1 }
            await world.daemon.perform(world.server)
            world.refresher.failure.withLock { $0 = RefreshError(.offline, description: "no network") }
            await world.daemon.deliver()
            await transfers.resume()
            try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: "bob"))
            await world.run(transfers)
            #expect(world.daemon.state.withLock { $0.requests.map(\.token) } == ["Bearer access-0"])
            #expect(world.names == [])
        }
    }

    @Test("if the session has expired, it waits for the same user, and for no other", arguments: ["ada", "bob", nil])
    func expired(nextUser: String?) async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn(nextUser == nil ? nil : "ada")
            let transfers = try await world.launch(tokens)
            try await transfers.upload(put)
            try await transfers.download(film, to: world.path + "/film")
            world.oldestAccepted.withLock { $0 = 50 }
            world.refresher.rejects.withLock { $0 = true }
            await world.run(transfers)
            #expect(try await transfers.transfers.map(\.stage) == [.waitingForSignIn, .waitingForSignIn])
            let waiting = await first(transfers) { $0.stage == .waitingForSignIn }
            #expect(waiting != nil)
            try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: nextUser))
            await world.run(transfers)
            let sent = world.daemon.state.withLock { $0.requests.map(\.token).sorted() }
            if nextUser == "ada" {
                #expect(sent == ["Bearer access-0", "Bearer access-0", "Bearer access-70", "Bearer access-70"])
                #expect(try await transfers.transfers.allSatisfy { $0.stage == .finished(status: 200) })
                #expect(world.content("film") == "film")
            } else {
                #expect(sent == ["Bearer access-0", "Bearer access-0"])
                #expect(world.names == [] && world.content("film") == nil)
            }
        }
    }

    @Test("after the session has expired, a download that needs no token starts without one") func withoutToken()
        async throws
    {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            world.refresher.rejects.withLock { $0 = true }
            await #expect(throws: SessionError.self) { try await tokens.refresh() }
            let transfers = try await world.launch(tokens)
            try await transfers.download(film, to: world.path + "/film")
            let required = Call<NoContent>.get("/films/7", authentication: .required)
            #expect(await error { try await transfers.download(required, to: world.path + "/other") } != nil)
            await world.run(transfers, world.openServer)
            #expect(world.content("film") == "film")
            #expect(world.daemon.state.withLock { $0.requests.map(\.token) } == ["none"])
        }
    }

    @Test("a result that arrives after the session has expired is held for the same user", arguments: ["ada", "bob"])
    func held(nextUser: String) async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            try await transfers.download(film, to: world.path + "/film")
            world.refresher.rejects.withLock { $0 = true }
            await #expect(throws: SessionError.self) { try await tokens.refresh() }
            await world.run(transfers)
            #expect(world.content("film") == nil)
            #expect(try await transfers.transfers.map(\.stage) == [.waitingForSignIn])
            try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: nextUser))
            await world.run(transfers)
            #expect(world.content("film") == (nextUser == "ada" ? "film" : nil))
            #expect(world.names.contains { $0.hasSuffix(".download") } == false)
        }
    }

    @Test(
        "after an expiry that this process has not seen, a result waits for the same user", arguments: ["ada", "bob"])
    func expiredElsewhere(nextUser: String) async throws {
        try await TransferWorld.with { world in
            do {
                let transfers = try await world.launch(world.signedIn("ada"))
                try await transfers.upload(put)
                try await transfers.download(film, to: world.path + "/film")
                await world.run(transfers)
                #expect(try await transfers.transfers.count == 2)
            }
            // Another process has signed in other users since, and the session of the last one has expired.
            let store = AnyTokenStore.file(path: world.path + "/session.json")
            let last = StoredSession(
                storing: .fresh(9), account: SessionAccount(userID: "eve"), at: world.time.wallClock)
            try await store.update { _ in .end(EndMark(last.position, expiry: .noRefreshToken)) }
            let tokens = await world.manager(store)
            #expect(tokens.state == .expired(.noRefreshToken))
            let transfers = try await world.launch(tokens)
            await world.run(transfers)
            #expect(try await transfers.transfers.isEmpty)
            try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: nextUser))
            await world.run(transfers)
            #expect(try await transfers.transfers.count == (nextUser == "ada" ? 2 : 0))
        }
    }

    @Test(
        "a result that a subscriber has not taken yet goes with removeAll(), and not with the removal by another one",
        arguments: [false, true])
    func removedBeforeDelivery(removesAll: Bool) async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(nil)
            var events = transfers.events.makeAsyncIterator()
            let open = Call<NoContent>(
                .post, "/films", body: .text("the wing"), authentication: AuthenticationRequirement.none)
            try await transfers.upload(open)
            await world.run(transfers, world.openServer)
            let finished = try #require(try await transfers.transfers.first)
            if removesAll { try await transfers.removeAll() } else { await transfers.remove(finished.id) }
            try await transfers.upload(open)
            await world.run(transfers, world.openServer)
            let next = await events.next()
            #expect(next != nil && (next?.id == finished.id) == !removesAll)
        }
    }

    @Test("while the store cannot be read, nothing is delivered and nothing is deleted") func unreadable() async throws
    {
        try await TransferWorld.with { world in
            let record = StoredSession(
                storing: .fresh(), account: SessionAccount(userID: "ada"), at: world.time.wallClock)
            do {
                let transfers = try await world.launch(world.manager(.inMemory(holding: record)))
                try await transfers.download(film, to: world.path + "/film")
            }
            await world.daemon.perform(world.server)
            let store = FailingTokenStore()
            store.isLocked = true
            let tokens = await world.manager(store)
            do {
                let transfers = try await world.launch(tokens)
                await world.run(transfers)
                #expect(try await transfers.transfers == [])
                #expect(world.content("film") == nil && !world.names.isEmpty)
            }
            let transfers = try await world.launch(world.manager(.inMemory(holding: record)))
            await world.run(transfers)
            #expect(world.content("film") == "film")
        }
    }
}
