internal import Foundation
internal import Martlet
internal import Testing

@testable import MartletUI

@Suite("The texts of errors") struct ErrorTextTests {
    private struct Catalog: Decodable {
        struct Entry: Decodable {
            struct Localization: Decodable {
                struct Unit: Decodable { let value: String }
                let stringUnit: Unit
            }
            let localizations: [String: Localization]
        }
        let strings: [String: Entry]
    }

    @Test("the library and the string catalog have the same texts for the same errors", arguments: UserText.allCases)
    func same(text: UserText) throws {
        let parts = #filePath.split(separator: "/").dropLast(3)
        let path = "/" + parts.joined(separator: "/") + "/Sources/MartletUI/Resources/Localizable.xcstrings"
        let catalog = try JSONDecoder().decode(Catalog.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        let english = UserText.Language.$override.withValue(.english) { text.text }
        let korean = UserText.Language.$override.withValue(.korean) { text.text }
        let entry = try #require(catalog.strings[english], "\(english)")
        #expect(entry.localizations["en"]?.stringUnit.value == english)
        #expect(entry.localizations["ko"]?.stringUnit.value == korean)
    }
}
