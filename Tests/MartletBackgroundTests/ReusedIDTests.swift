import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletBackground

@Suite("An ID that is used again", .timeLimit(.minutes(10))) struct ReusedIDTests {
    @Test(
        "no secret in the value of a harmless field reaches the disk",
        arguments: [
            "https://cdn.example.com/x?access_token=hunter2", "Bearer hunter2hunter2hunter2",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJBIn0.hunter2hunter2hunter2",
        ])
    func headerValue(value: String) async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(await world.signedIn())
            let call = Call<NoContent>(
                .put, "/films/7", headers: [(HTTPField.Name("X-Source") ?? .server): value], body: .text("x"))
            _ = try? await transfers.upload(call)
            for name in world.names {
                let text = world.content("list/" + name) ?? ""
                #expect(!text.contains("hunter2"), "\(name): \(text)")
            }
        }
    }

    @Test("the next user's transfer starts, although an ended user's transfer has its ID")
    func idOfEndedUser() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            let put = Call<NoContent>.put("/films/7", .text("the wing"))
            let id = UUID()
            try await transfers.upload(put, id: id)
            await transfers.resume()
            let gate = Gate()
            transfers.holdSettlements(until: Task { await gate.pass() })
            await tokens.signOut()
            try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: "bob"))
            // Begins while the settlement that deletes Ada's transfer has not run.
            try await transfers.upload(put, id: id)
            gate.open()
            await world.run(transfers)
            let sent = world.daemon.state.withLock { $0.requests.map(\.token) }
            #expect(sent.contains("Bearer access-70"), "\(sent)")
            #expect(try await transfers.transfers.map(\.stage) == [.finished(status: 200)])
        }
    }

    @Test("the end of a removed transfer's task is not the end of a new one with its ID") func removedAndStartedAgain()
        async throws
    {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(await world.signedIn("ada"))
            let put = Call<NoContent>.put("/films/7", .text("the wing"))
            let id = try await transfers.upload(put)
            await transfers.remove(id)
            try await transfers.upload(put, id: id)
            // The system reports the cancelled task only now.
            await world.daemon.deliver()
            await world.run(transfers)
            #expect(try await transfers.transfers.map(\.stage) == [.finished(status: 200)])
        }
    }

    @Test("a signed-out user's file does not go to the next user's transfer with the same ID")
    func fileOfEndedUser() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn("ada")
            let transfers = try await world.launch(tokens)
            let id = UUID()
            let film = Call<NoContent>.get("/me/film")
            try await transfers.download(film, to: world.path + "/film", id: id)
            // Ada's file has arrived at the system, which has not told the app yet.
            await world.daemon.perform { request, _ in .init(status: 200, body: Data("ada's film".utf8)) }
            await tokens.signOut()
            await transfers.resume()
            #expect(try await transfers.transfers.isEmpty)
            try await tokens.signIn(with: .fresh(70), account: SessionAccount(userID: "bob"))
            try await transfers.download(film, to: world.path + "/film", id: id)
            await world.daemon.deliver()
            await transfers.resume()
            #expect(world.content("film") == nil, "\(world.content("film") ?? "")")
            await world.run(transfers)
            #expect(world.content("film") == "film")
        }
    }
}
