import Foundation
import Testing

@testable import MartletUI

@Suite("The texts of MartletUI")
struct TextsTests {
    @Test("are in the bundle of the module, in English and Korean")
    func languages() throws {
        #expect(Set(Bundle.module.localizations).isSuperset(of: ["en", "ko"]))
        let folder = try #require(Bundle.module.url(forResource: "ko", withExtension: "lproj"))
        let korean = try #require(Bundle(path: folder.path))
        for wording in Wording.allCases {
            #expect(korean.localizedString(forKey: wording.rawValue, value: nil, table: nil) != wording.rawValue)
        }
    }
}
