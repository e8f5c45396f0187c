import ReferenceBackend
import Testing

@testable import MartletCommand

@Suite("Curl guide", .timeLimit(.minutes(10))) struct CurlGuideTests {
    @Test("The refresh command of each dialect uses the path of its endpoint", arguments: Dialect.allCases)
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

    @Test("The controls are shown if they are served") func controls() {
        let guide = CurlGuide(baseURL: "http://localhost:1", dialect: .envelope, showsControls: true)
        let commands = guide.steps.map(\.commands).joined()
        #expect(commands.contains { $0.contains("/_control/") })
    }
}
