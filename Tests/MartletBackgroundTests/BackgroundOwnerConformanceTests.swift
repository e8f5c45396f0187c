import Foundation
import HTTPTypes
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletBackground
@testable import MartletStorage

@Suite("Conformance: background transfers end with their owner", .noBlockingCalls, .timeLimit(.minutes(10)))
struct BackgroundOwnerConformanceTests {
    private let put = Call<NoContent>.put("/films/7", .text("the wing"))
    private let publicPut = Call<NoContent>(
        .put, "/notes/7", body: .text("the wing"), authentication: AuthenticationRequirement.none)
    private let publicFilm = Call<NoContent>(.get, "/films/7", authentication: AuthenticationRequirement.none)

    /// The way in which the user of a transfer goes.
    enum Ending: CaseIterable, Sendable {
        case signOut, otherUser

        func happen(to tokens: TokenManager) async throws {
            switch self {
            case .signOut: await tokens.signOut()
            case .otherUser: try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: "bob"))
            }
        }
    }

    /// The events that a new subscriber receives before the end of a transfer that is started now.
    private func learned(from transfers: BackgroundTransfers, in world: TransferWorld) async throws
        -> [BackgroundTransfer]
    {
        try await learned(from: transfers.events, of: transfers, in: world)
    }

    /// The events that a subscriber receives before the end of a transfer that is started now.
    private func learned(
        from events: AsyncStream<BackgroundTransfer>, of transfers: BackgroundTransfers, in world: TransferWorld
    ) async throws -> [BackgroundTransfer] {
        let last = try await transfers.upload(put)
        await world.run(transfers, world.openServer)
        var learned: [BackgroundTransfer] = []
        for await event in events {
            if event.id == last { break }
            learned.append(event)
        }
        await transfers.remove(last)
        return learned
    }

    /// Runs a body while all settlements wait.
    private func whileNothingSettles<Value>(
        _ transfers: BackgroundTransfers, _ body: () async throws -> Value
    ) async throws -> Value {
        let gate = Gate()
        await transfers.resume()
        transfers.holdSettlements(until: Task { await gate.pass() })
        defer { gate.open() }
        return try await body()
    }

    /// A body of four bytes, whose sender waits at a gate.
    private func body(behind gate: Gate) -> RequestBody {
        .stream(length: 4, contentType: nil) {
            ByteStream {
                var rest: Data? = Data("wing".utf8)
                return {
                    await gate.pass()
                    defer { rest = nil }
                    return rest
                }
            }
        }
    }

    // MARK: - The same user again

    @Test(
        "C97: a transfer whose user signs out does not come back, even if the same user signs in before it was deleted",
        arguments: [false, true], [false, true])
    func sameUserReturns(isExpired: Bool, hasResult: Bool) async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            let id = try await transfers.download(publicFilm, to: world.path + "/film")
            await transfers.resume()
            let events = transfers.events
            if isExpired {
                world.refresher.rejects.withLock { $0 = true }
                await #expect(throws: SessionError.self) { try await tokens.refresh() }
            }
            try await whileNothingSettles(transfers) {
                await tokens.signOut()
                try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: "ada"))
            }
            if hasResult { await world.daemon.perform(world.openServer) }
            await world.run(transfers, world.openServer)
            #expect(try await transfers.transfers == [])
            #expect(world.names == [] && world.content("film") == nil)
            for await event in events {
                #expect(event.id == id)
                if event.stage == .failed(.sessionEnded) { break }
            }
        }
    }

    @Test("C97: a result that waits for a subscriber is not delivered after its user has signed out and in again")
    func sameUserReturnsToResult() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            let events = transfers.events
            try await transfers.upload(put)
            await world.run(transfers)
            await tokens.signOut()
            try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: "ada"))
            #expect(try await learned(from: events, of: transfers, in: world) == [])
        }
    }

    // MARK: - Transfers that need no session

    @Test(
        "C97: a transfer that needs no session ends with the user who started it, even if its result has arrived",
        arguments: Ending.allCases, [false, true])
    func publicTransfer(ending: Ending, hasResult: Bool) async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            let ids = Set([
                try await transfers.upload(publicPut),
                try await transfers.download(publicFilm, to: world.path + "/film"),
            ])
            let events = transfers.events
            if hasResult { await world.daemon.perform(world.openServer) }
            try await ending.happen(to: tokens)
            await world.run(transfers, world.openServer)
            #expect(try await transfers.transfers == [])
            #expect(world.names == [] && world.content("film") == nil)
            let (cancelled, requests) = world.daemon.state.withLock { ($0.cancelled.map(\.id), $0.requests.count) }
            #expect(Set(cancelled) == (hasResult ? [] : ids) && requests == (hasResult ? 2 : 0))
            var ended: Set<UUID> = []
            for await event in events {
                #expect(event.stage == .failed(.sessionEnded) && event.response == nil)
                ended.insert(event.id)
                if ended == ids { break }
            }
        }
    }

    @Test(
        "C97: the result of a transfer that needs no session waits after an expiry for the same user, and for no other",
        arguments: ["ada", "bob"])
    func publicTransferAfterExpiry(nextUser: String) async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            try await transfers.download(publicFilm, to: world.path + "/film")
            world.refresher.rejects.withLock { $0 = true }
            await #expect(throws: SessionError.self) { try await tokens.refresh() }
            await world.run(transfers, world.openServer)
            #expect(world.content("film") == nil)
            #expect(try await transfers.transfers.map(\.stage) == [.waitingForSignIn])
            try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: nextUser))
            await world.run(transfers, world.openServer)
            #expect(world.content("film") == (nextUser == "ada" ? "film" : nil))
            #expect(try await transfers.transfers.map(\.stage) == (nextUser == "ada" ? [.finished(status: 200)] : []))
            #expect(world.daemon.state.withLock { $0.requests.map(\.token) } == ["none"])
        }
    }

    @Test("C97: a transfer that needs no session and is requested while its user signs out does not start")
    func signOutWhileStarting() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let (gate, transfers) = (Gate(), try await world.launch(tokens))
            let upload = Call<NoContent>(
                .put, "/notes/7", body: body(behind: gate), authentication: AuthenticationRequirement.none)
            let starting = Task { await error { try await transfers.upload(upload) } }
            await gate.waitForArrivals()
            await tokens.signOut()
            gate.open()
            guard case .sessionChanged = await starting.value else {
                Issue.record("the transfer has begun")
                return
            }
            await world.run(transfers, world.openServer)
            #expect(world.names == [] && world.daemon.state.withLock { $0.requests.isEmpty })
        }
    }

    @Test("a transfer that was started without a user goes on when one signs in, and when that one signs out")
    func startedWithoutUser() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.manager(.inMemory)
            let transfers = try await world.launch(tokens)
            let id = try await transfers.download(publicFilm, to: world.path + "/film")
            try await tokens.signIn(with: .fresh(0), account: SessionAccount(userID: "ada"))
            await transfers.resume()
            await tokens.signOut()
            await world.run(transfers, world.openServer)
            #expect(world.content("film") == "film")
            #expect(try await transfers.transfers.map(\.id) == [id])
        }
    }

    @Test("C97: a client without a manager has no users, so its transfers go on at every launch")
    func withoutManager() async throws {
        try await TransferWorld.with { world in
            do {
                let transfers = try await world.launch(nil)
                try await transfers.download(publicFilm, to: world.path + "/film")
            }
            let transfers = try await world.launch(nil)
            await world.run(transfers, world.openServer)
            #expect(world.content("film") == "film")
            #expect(try await transfers.transfers.map(\.stage) == [.finished(status: 200)])
        }
    }

    @Test(
        "C97: a transfer that was started while the store could not be read gets the user who turns out to be signed in",
        arguments: ["ada", nil])
    func startedWithUnreadStore(user: String?) async throws {
        try await TransferWorld.with { world in
            let store = FailingTokenStore()
            store.isLocked = true
            do {
                let transfers = try await world.launch(world.manager(store))
                try await transfers.download(publicFilm, to: world.path + "/film")
                await world.run(transfers, world.openServer)
                #expect(try await transfers.transfers == [] && world.content("film") == nil)
            }
            let tokens = user == nil ? await world.manager(.inMemory) : await world.signedIn(user)
            let transfers = try await world.launch(tokens)
            await world.run(transfers, world.openServer)
            #expect(world.content("film") == (user == nil ? nil : "film"))
            await tokens.signOut()
            await transfers.resume()
            #expect(world.names == [], "without a user, the one who started it may be gone")
        }
    }

    // MARK: - Events

    @Test("C97: a subscriber learns nothing of a user who had gone before, however early it subscribes")
    func laterSubscriber() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            let earlier = transfers.events
            try await transfers.upload(put)
            await world.run(transfers)
            let underWay = try await transfers.upload(put)
            // Nothing settles until the second user has subscribed.
            let later = try await whileNothingSettles(transfers) {
                try await Ending.otherUser.happen(to: tokens)
                return transfers.events
            }
            await transfers.resume()
            #expect(try await learned(from: later, of: transfers, in: world) == [])
            let seen = try await learned(from: earlier, of: transfers, in: world)
            #expect(seen.first?.id == underWay && seen.first?.stage == .failed(.sessionEnded))
        }
    }

    @Test("C97: a result that a subscriber has not taken before another user signs in is not delivered")
    func slowSubscriber() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            let events = transfers.events
            try await transfers.upload(put)
            await world.run(transfers)
            try await Ending.otherUser.happen(to: tokens)
            #expect(try await learned(from: events, of: transfers, in: world) == [])
        }
    }

    @Test("C97: after a launch as another user, neither the former user's transfers nor their ends are announced")
    func launchOfAnotherUser() async throws {
        try await TransferWorld.with { world in
            do {
                let transfers = try await world.launch(world.signedIn("ada"))
                try await transfers.upload(put)
                try await transfers.upload(publicPut)
                try await transfers.download(publicFilm, to: world.path + "/film")
            }
            await world.daemon.perform(world.openServer)
            let transfers = try await world.launch(world.signedIn("bob", number: 70))
            #expect(try await learned(from: transfers, in: world) == [])
            #expect(try await transfers.transfers == [])
            #expect(world.names == [] && world.content("film") == nil)
        }
    }

    @Test("C97: without a manager, removeAll() ends all transfers, and the next launch shows none") func removedAll()
        async throws
    {
        try await TransferWorld.with { world in
            do {
                let transfers = try await world.launch(nil)
                try await transfers.upload(Call<NoContent>.post("/films", .text("the wing")))
                await world.run(transfers)
                try await transfers.download(Call<NoContent>.get("/film"), to: world.path + "/film")
                #expect(try await transfers.transfers.count == 2)
                try await transfers.removeAll()
                #expect(try await transfers.transfers == [])
                #expect(world.names == [])
            }
            await world.daemon.perform(world.openServer)
            let transfers = try await world.launch(nil)
            #expect(try await learned(from: transfers, in: world) == [])
            #expect(world.content("film") == nil)
        }
    }

    @Test("C97: removeAll() also ends a transfer that is being started") func removedWhileStarting() async throws {
        try await TransferWorld.with { world in
            let (gate, transfers) = (Gate(), try await world.launch(nil))
            let upload = Call<NoContent>(
                .put, "/notes/7", body: body(behind: gate), authentication: AuthenticationRequirement.none)
            let starting = Task { await error { try await transfers.upload(upload) } }
            await gate.waitForArrivals()
            try await transfers.removeAll()
            gate.open()
            guard case .cancelled = await starting.value else {
                Issue.record("the transfer has begun")
                return
            }
            await world.run(transfers, world.openServer)
            #expect(try await transfers.transfers == [])
            #expect(world.names == [] && world.daemon.state.withLock { $0.requests.isEmpty })
        }
    }

    @Test("C97: a transfer that removeAll() meets before its task starts fails as cancelled") func removedBeforeStart()
        async throws
    {
        try await TransferWorld.with { world in
            let (made, removed) = (Gate(), DispatchSemaphore(value: 0))
            let steps = TransferSteps { step in
                guard case .taskMade = step else { return }
                made.open()
                removed.wait()
            }
            let transfers = try await world.launch(nil, steps: steps)
            let upload = Call<NoContent>(
                .put, "/notes/7", body: .text("the wing"), authentication: AuthenticationRequirement.none)
            let starting = Task { await error { try await transfers.upload(upload) } }
            await made.pass()
            try await transfers.removeAll()
            removed.signal()
            guard case .cancelled = await starting.value else {
                Issue.record("the transfer has begun")
                return
            }
            #expect(world.names == [] && world.daemon.state.withLock { $0.requests.isEmpty })
        }
    }

    // MARK: - Records

    #if DEBUG
        /// A disk that keeps files: it cannot delete them, or can neither delete nor open them.
        enum Stubbornness: CaseIterable, Sendable {
            case cannotDelete, cannotDeleteNorOpen

            var faults: [String: Int32] {
                switch self {
                case .cannotDelete: ["unlink": EACCES]
                case .cannotDeleteNorOpen: ["unlink": EACCES, "open": EACCES]
                }
            }
        }

        @Test(
            "C97: a transfer whose record cannot be deleted is not announced again after the app has removed it",
            arguments: Stubbornness.allCases)
        func unremovable(_ stubbornness: Stubbornness) async throws {
            try await TransferWorld.with { world in
                let transfers = try await world.launch(world.signedIn("ada", id: SessionID(rawValue: "A")))
                let id = try await transfers.upload(put)
                await world.run(transfers)
                try await SystemFaults.inject(stubbornness.faults, in: world.folder, ending: "\(id).record.json") {
                    await transfers.remove(id)
                    #expect(try await transfers.transfers == [])
                    #expect(try await learned(from: transfers, in: world) == [])
                    guard stubbornness == .cannotDelete else { return }
                    // The record is empty now, so the next launch knows nothing of it either.
                    let next = try await world.launch(world.signedIn("ada", id: SessionID(rawValue: "A")))
                    #expect(try await learned(from: next, in: world) == [])
                }
                await transfers.resume()
                #expect(stubbornness == .cannotDelete || world.names == [], "the deletion is tried again")
                _ = try await world.launch(world.signedIn("ada", id: SessionID(rawValue: "A")))
                #expect(world.names == [])
            }
        }

        @Test("a retried deletion of a removed transfer does not delete the body of a new one with its ID")
        func reusedID() async throws {
            try await TransferWorld.with { world in
                let transfers = try await world.launch(world.signedIn("ada"))
                let id = try await transfers.upload(put)
                await world.run(transfers)
                let gate = Gate()
                let faults = Stubbornness.cannotDeleteNorOpen.faults
                await SystemFaults.inject(faults, in: world.folder, ending: "\(id).record.json") {
                    await transfers.remove(id)
                }
                let upload = Call<NoContent>(.put, "/films/7", body: body(behind: gate))
                let starting = Task { try await transfers.upload(upload, id: id) }
                await gate.waitForArrivals()
                await transfers.resume()
                gate.open()
                #expect(try await starting.value == id)
                await world.run(transfers)
                #expect(try await transfers.transfers.map(\.stage) == [.finished(status: 200)])
            }
        }

        @Test("C97: a transfer whose files cannot be deleted does not come back with its user")
        func unremovableAfterSignOut() async throws {
            try await TransferWorld.with { world in
                let tokens = await world.signedIn("ada")
                let transfers = try await world.launch(tokens)
                try await transfers.upload(put)
                await world.run(transfers)
                try await transfers.upload(put)
                try await SystemFaults.inject(["unlink": EACCES], in: world.folder) {
                    await tokens.signOut()
                    await transfers.resume()
                    let sizes = world.names.map { world.content("list/\($0)")?.count }
                    #expect(!sizes.isEmpty && sizes.allSatisfy { $0 == 0 })
                    try await tokens.signIn(with: .fresh(80), account: SessionAccount(userID: "ada"))
                    #expect(try await transfers.transfers == [])
                    #expect(try await learned(from: transfers, in: world) == [])
                }
                let next = try await world.launch(world.signedIn("ada"))
                #expect(try await next.transfers == [] && world.names == [])
            }
        }
    #endif
}
