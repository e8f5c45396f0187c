import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// A session is in its store and nowhere else, and nobody but its user can read it there.
@Suite("Secrets at rest") struct SecretsAtRestTests {
    /// Where tokens may be found as plain text, below the folder that a store was given.
    private static let plainFiles: [StoreKind: [String]] = [
        .file: ["/session.json"], .platform: ["/secrets/session.value"],
    ]

    @Test("are in the store's own file, if in any, from the sign-in to the sign-out", arguments: StoreKind.allCases)
    func life(kind: StoreKind) async throws {
        try await TemporaryFolder.with { folder in
            let backend = SimulatedBackend()
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: kind.contract(in: folder.path).open(),
                refresher: .json(path: "/auth/refresh"), transport: backend.transport, time: ManualTimeSource())
            let events = Locked("")
            let listener = Task { [stream = tokens.events] in
                for await event in stream { events.withLock { $0 += "\(event) \(String(reflecting: event))" } }
            }
            try await tokens.signIn(with: backend.issue())
            expectSecrecy(kind, folder.path)
            try await tokens.refresh()
            try await tokens.refresh()
            expectSecrecy(kind, folder.path)
            await tokens.signOut()
            #expect(FilesAtRest(below: folder.path).paths(holding: "-3").isEmpty, "nothing is left of the tokens")
            listener.cancel()
            await listener.value
            #expect(!events.withLock { $0 }.contains("refresh-"))
            kind.removeTraces(of: folder.path)
        }
    }

    private func expectSecrecy(_ kind: StoreKind, _ folder: String) {
        let files = FilesAtRest(below: folder)
        for token in ["access-", "refresh-"] {
            #expect(files.paths(holding: token) == (Self.plainFiles[kind] ?? []).map { folder + $0 })
        }
        #expect(files.openToOthers.isEmpty)
        #if os(Linux)
            for name in ["cmdline", "environ", "comm"] {
                let said = FileManager.default.contents(atPath: "/proc/self/\(name)") ?? Data()
                #expect(said.firstRange(of: Data("refresh-1".utf8)) == nil)
            }
        #endif
    }
}
