import Foundation
import Martlet
import MartletTesting
import Testing

@testable import MartletAdoption

@Suite("Sessions of other libraries in a store", .timeLimit(.minutes(10))) struct FormerLibraryTests {
    @Test("the record of each library begins a session with its tokens and its user", arguments: Library.allCases)
    func adopted(library: Library) async throws {
        let data = try Records.data(library.fullest)
        let record = try library.read(data)
        let store: AnyTokenStore = .inMemory
        let isRead = try await store.adopt(
            FormerTokens(named: "record", writtenBy: library.former, read: { data }), deletingThem: true)
        #expect(isRead)
        guard case .found(let session) = await store.read() else {
            Issue.record("nothing was adopted")
            return
        }
        #expect(session.tokens.accessToken == record.tokens.accessToken)
        #expect(session.tokens.refreshToken == record.tokens.refreshToken)
        #expect(session.account == SessionAccount(userID: record.userID))
    }

    @Test("a record of another library is refused, stays, and begins no session") func foreign() async throws {
        let data = try Records.data(Library.auth0.fullest)
        let store: AnyTokenStore = .inMemory
        let former = FormerTokens(
            named: "record", writtenBy: .supabase, read: { data }, delete: { Issue.record("the record was deleted") })
        await #expect(throws: AdoptionError.self) { try await store.adopt(former, deletingThem: true) }
        #expect(await store.read() == .empty)
    }
}
