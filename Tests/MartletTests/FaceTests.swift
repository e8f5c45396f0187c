import Martlet
import MartletTesting
import Testing

@Suite("The face") struct FaceTests {
    @Test("A manager is made of literals and static members") func literals() async {
        let tokens = TokenManager(
            baseURL: "https://api.example.com/v1", store: .inMemory, refresher: .json(path: "/auth/refresh"))
        #expect(tokens.state == .loading)
        #expect(await tokens.restore() == .signedOut)
    }
}
