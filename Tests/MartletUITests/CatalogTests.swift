import Foundation
import Testing

@testable import MartletUI

@Suite("The string catalog") struct CatalogTests {
    private struct Catalog: Decodable {
        struct Entry: Decodable {
            struct Localization: Decodable {
                struct Unit: Decodable {
                    let state: String
                    let value: String
                }
                let stringUnit: Unit
            }
            let localizations: [String: Localization]
        }
        let sourceLanguage: String
        let strings: [String: Entry]
    }

    private static let sources = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/") + "/Sources/MartletUI"
    }()

    private let catalog: Catalog

    init() throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: Self.sources + "/Resources/Localizable.xcstrings"))
        catalog = try JSONDecoder().decode(Catalog.self, from: bytes)
    }

    @Test("the catalog has exactly the texts of the code") func complete() {
        #expect(Set(catalog.strings.keys) == Set(Wording.allCases.map(\.rawValue)))
        #expect(catalog.sourceLanguage == "en")
    }

    @Test("each text is translated into English and Korean with the same placeholders", arguments: Wording.allCases)
    func translated(text: Wording) throws {
        let entry = try #require(catalog.strings[text.rawValue])
        #expect(Set(entry.localizations.keys) == ["en", "ko"])
        for (language, localization) in entry.localizations {
            #expect(localization.stringUnit.state == "translated", "\(language)")
            #expect(!localization.stringUnit.value.isEmpty, "\(language)")
            #expect(placeholders(localization.stringUnit.value) == placeholders(text.rawValue), "\(language)")
        }
        #expect(entry.localizations["en"]?.stringUnit.value == text.rawValue)
        #expect(entry.localizations["ko"]?.stringUnit.value != text.rawValue)
    }

    @Test("every text is used") func used() throws {
        let files = try #require(FileManager.default.enumerator(atPath: Self.sources))
        var code = ""
        for case let path as String in files where path.hasSuffix(".swift") && !path.hasSuffix("Wording.swift") {
            code += try String(contentsOfFile: Self.sources + "/" + path, encoding: .utf8)
        }
        let words = Set(code.split { !$0.isLetter && $0 != "." }.map(String.init))
        for text in Wording.allCases {
            let uses = ["Wording.\(text)", "Wording.\(text).text", "\(text).text"]
            #expect(!words.isDisjoint(with: uses), "\(text)")
        }
    }

    @Test("placeholders are filled in any order") func fills() {
        #expect(
            Wording.fill("%2$@ of %1$@ (%3$@), 100 %%, 5 % and %x %", with: ["a", "b"])
                == "b of a (%3$@), 100 %, 5 % and %x %")
        #expect(Wording.fill("", with: []) == "")
        #expect(Wording.fill("%1$@%1$@", with: ["%1$@"]) == "%1$@%1$@")
    }

    private func placeholders(_ text: String) -> [String] {
        text.matches(of: /%(%|[0-9]+\$@)/).map { String($0.output.0) }.sorted()
    }
}
