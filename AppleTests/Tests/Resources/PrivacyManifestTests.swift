import Foundation
import Testing

@testable import Martlet

@Suite("The privacy manifest", .timeLimit(.minutes(10)))
struct PrivacyManifestTests {
    @Test("is in the bundle of the module")
    func manifest() throws {
        let manifest = try #require(Bundle.module.url(forResource: "PrivacyInfo", withExtension: "xcprivacy"))
        #expect(String(decoding: try Data(contentsOf: manifest), as: UTF8.self).contains("NSPrivacyTracking"))
    }
}
