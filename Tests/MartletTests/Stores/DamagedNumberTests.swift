import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Absurd numbers in a record or from a server", .timeLimit(.minutes(10))) struct DamagedNumberTests {
    @Test("the record of a damaged rotation is refreshed", arguments: [Int.max, .min, -1]) func rotation(_ number: Int)
        async throws
    {
        let time = ManualTimeSource()
        let record = StoredSession(storing: .fresh(1), rotation: number, at: time.wallClock)
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory(holding: record),
            refresher: .custom { _, _ in .fresh(2) }, transport: StubTransport(), time: time)
        #expect(try await tokens.refresh().accessToken == Tokens.fresh(2).accessToken)
    }

    @Test("tokens with an infinite date of expiry are saved", arguments: [Double.infinity, -.infinity, .nan, 1e308])
    func expiry(seconds: Double) async throws {
        try await TemporaryFolder.with { folder in
            let store: AnyTokenStore = .file(path: folder.path + "/session")
            let time = ManualTimeSource()
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: store, refresher: .json(path: "/refresh"),
                transport: StubTransport(), time: time)
            let date = Date(timeIntervalSince1970: seconds)
            let session = try await tokens.signIn(with: Tokens(accessToken: "a", refreshToken: "r", expiresAt: date))
            #expect(session.isSaved)
            guard case .found(let record) = await store.read() else {
                Issue.record("nothing is stored")
                return
            }
            #expect(record.tokens.expiresAt == nil)
        }
    }
}
