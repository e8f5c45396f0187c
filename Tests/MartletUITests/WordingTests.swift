import Foundation
import Martlet
import Testing

@testable import MartletUI

@Suite("The texts of the screens", .timeLimit(.minutes(10))) struct WordingTests {
    private static let sources =
        "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Sources"

    @Test("a text is in the user's language, English or Korean") func languages() {
        UserText.Language.$override.withValue(.english) {
            #expect(Wording.continueAsGuest.text == "Continue as Guest")
            #expect(
                UploadProgress(attempt: 2, sent: TransferCount(completed: 40, total: 100)).label == "Sending again: 40%"
            )
        }
        UserText.Language.$override.withValue(.korean) {
            #expect(Wording.continueAsGuest.text == "게스트로 계속하기")
            #expect(UploadProgress(attempt: 2, sent: TransferCount(completed: 40, total: 100)).label == "다시 보내는 중: 40%")
        }
    }

    @Test("the picker passes pictures on unconverted, because the library converts them") func picker() throws {
        let code = try String(
            contentsOfFile: Self.sources + "/MartletUI/Views/PictureField.swift", encoding: .utf8)
        let pickers = code.matches(of: /PhotosPicker\([^)]*\)/)
        #expect(!pickers.isEmpty)
        for picker in pickers { #expect(picker.output.contains("preferredItemEncoding: .current")) }
    }

    @Test("no module needs a bundle of resources, which a cross-compiled program would not find") func noBundle() throws
    {
        let files = try #require(FileManager.default.enumerator(atPath: Self.sources))
        var count = 0
        for case let path as String in files where path.hasSuffix(".swift") {
            let code = try String(contentsOfFile: Self.sources + "/" + path, encoding: .utf8)
            #expect(!code.contains("Bundle.module"), "\(path)")
            count += 1
        }
        #expect(count > 300)
    }
}
