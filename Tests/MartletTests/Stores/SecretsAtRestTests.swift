import Foundation
import MartletTesting
import Testing

@testable import Martlet

/// A session's secrets are in its store and nowhere else, readable only by the user.
@Suite("Secrets at rest", .timeLimit(.minutes(10))) struct SecretsAtRestTests {
    /// The files that may contain tokens as plain text, relative to the store's folder.
    private static let plainFiles: [StoreKind: [String]] = [
        .file: ["/session.json"], .platform: ["/secrets/session.value"],
    ]

    /// The beginnings of all secrets of the session.
    private static let secrets = ["access-", "refresh-", "identity-"]

    @Test("tokens are only in the store's own file, from the sign-in to the sign-out", arguments: StoreKind.allCases)
    func life(kind: StoreKind) async throws {
        try await TemporaryFolder.with { folder in
            let backend = SimulatedBackend()
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: kind.contract(in: folder.path).open(),
                refresher: .json(path: "/auth/refresh"), transport: backend.transport, time: ManualTimeSource())
            let events = tokens.events
            var issued = backend.issue()
            issued.additionalFields = ["id_token": "identity-1"]
            try await tokens.signIn(with: issued)
            expectSecrecy(kind, folder.path)
            try await tokens.refresh()
            try await tokens.refresh()
            expectSecrecy(kind, folder.path)
            await tokens.signOut()
            for token in Self.secrets {
                #expect(FilesAtRest(below: folder.path).paths(holding: token).isEmpty)
            }
            for await event in events {
                let text = "\(event) \(String(reflecting: event))"
                #expect(!text.contains("refresh-") && !text.contains("identity-"))
                if case .signedOut = event { break }
            }
            kind.removeTraces(of: folder.path)
        }
    }

    private func expectSecrecy(_ kind: StoreKind, _ folder: String) {
        let files = FilesAtRest(below: folder)
        for token in Self.secrets {
            #expect(files.paths(holding: token) == (Self.plainFiles[kind] ?? []).map { folder + $0 })
        }
        #expect(files.openToOthers.isEmpty)
    }

    /// The browser starts with a page of the loopback listener, whose address has no token.
    @Test("tokens are never in a process's arguments, because the library starts only a browser") func arguments()
        throws
    {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources")
        let files = FilesAtRest(below: sources.standardizedFileURL.path)
        #expect(files.paths.count > 100)
        for call in ["Process()", "posix_spawn", "fork(", "execv", "popen("] {
            let found = files.paths(holding: call).filter {
                $0.hasSuffix(".swift") && !$0.hasSuffix("/SystemBrowser.swift")
            }
            #expect(found.isEmpty, "\(call)")
        }
    }
}
