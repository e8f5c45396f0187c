import Foundation
import GuestKit
import Martlet
import MartletTesting
import Testing

/// The widget is another process: it has a token manager of its own for the same record.
@Suite("Headlines of the widget", .timeLimit(.minutes(10))) struct HeadlinesTests {
    private let response = #"{"success":true,"data":{"items":[{"id":"1","title":"Wrens"},{"id":"2","title":"Larks"}]}}"#

    /// Calls the closure with a container that the app and the widget share, in which a user is signed in.
    private func withContainer(
        _ body: (_ folder: String, _ store: FailingTokenStore) async throws -> Void
    ) async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("headlines-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        let store = FailingTokenStore()
        try await tokens(store).signIn(with: Tokens(accessToken: "access-1", refreshToken: "refresh-1"))
        try await body(url.path, store)
    }

    private func tokens(_ store: any TokenStore) -> TokenManager {
        Backend.tokens(server: "https://api.example.com", store: store, transport: StubTransport())
    }

    /// A launch of the widget.
    private func launch(_ folder: String, _ store: any TokenStore) -> Headlines {
        Headlines(tokens: tokens(store), folder: folder)
    }

    private func load(_ headlines: Headlines, in folder: String) async throws {
        #expect(await headlines.plan().loads)
        try Data(response.utf8).write(to: URL(filePath: folder + "/response"))
        try headlines.keep(responseAt: folder + "/response")
    }

    @Test("the widget shows the titles that were loaded last, even after a launch") func titles() async throws {
        try await withContainer { folder, store in
            let headlines = launch(folder, store)
            #expect(await headlines.plan().content == .loading)
            try await load(headlines, in: folder)
            #expect(await launch(folder, store).plan().content == .titles(["Wrens", "Larks"]))
        }
    }

    @Test("while the device is locked after its start, the widget shows what it knows, and no login") func locked()
        async throws
    {
        try await withContainer { folder, store in
            try await load(launch(folder, store), in: folder)
            store.isLocked = true
            let plan = await launch(folder, store).plan()
            #expect(plan.content == .titles(["Wrens", "Larks"]))
            #expect(!plan.loads)
            // Nothing has been loaded yet: a placeholder.
            try FileManager.default.removeItem(atPath: folder + "/headlines.json")
            #expect(await launch(folder, store).plan().content == .locked)
            store.isLocked = false
            #expect(await launch(folder, store).plan().loads)
        }
    }

    @Test("a store that cannot be read for another reason does not ask the user to unlock the device")
    func unreachable() async throws {
        try await withContainer { folder, store in
            store.fail(.read, times: nil)
            #expect(await launch(folder, store).plan().content == .loading)
        }
    }

    @Test("after a sign-out, and for the next user, the titles of the former one are gone") func users() async throws {
        try await withContainer { folder, store in
            try await load(launch(folder, store), in: folder)
            let app = tokens(store)
            await app.restore()
            await app.signOut()
            let headlines = launch(folder, store)
            #expect(await headlines.plan().content == .signedOut)
            #expect(!FileManager.default.fileExists(atPath: folder + "/headlines.json"))
            // A response that arrives after the sign-out.
            try headlines.keep(responseAt: folder + "/response")
            #expect(!FileManager.default.fileExists(atPath: folder + "/headlines.json"))
        }
        try await withContainer { folder, store in
            try await load(launch(folder, store), in: folder)
            try await tokens(store).signIn(with: Tokens(accessToken: "access-2", refreshToken: "refresh-2"))
            #expect(await launch(folder, store).plan().content == .loading)
        }
    }
}
