import ReferenceBackend
import Testing

@testable import MartletCommand

@Suite("The guide for curl") struct CurlGuideTests {
    @Test("Every dialect is told how to renew, at the place where the server has it", arguments: Dialect.allCases)
    func refresh(dialect: Dialect) {
        let guide = CurlGuide(baseURL: "http://localhost:1", dialect: dialect, showsControls: false)
        let path =
            switch dialect {
            case .oauth2: "/oauth/token"
            case .reissue: "/auth/reissue"
            case .envelope, .header, .legacy419, .cookie: "/auth/refresh"
            }
        #expect(guide.steps.count == 3)
        #expect(guide.steps[2].commands.allSatisfy { $0.contains("http://localhost:1\(path) ") || $0.hasSuffix(path) })
    }

    @Test("The controls are shown only where they are served") func controls() {
        let guide = CurlGuide(baseURL: "http://localhost:1", dialect: .envelope, showsControls: true)
        let commands = guide.steps.map(\.commands).joined()
        #expect(commands.contains { $0.contains("/_control/") })
    }
}
