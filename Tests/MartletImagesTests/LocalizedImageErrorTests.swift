internal import Foundation
internal import Testing

@testable import Martlet
@testable import MartletImages

@Suite("Errors of pictures for people", .timeLimit(.minutes(10))) struct LocalizedImageErrorTests {
    private static let size = PixelSize(width: 4321, height: 1234)
    private static let every: [ImageError] = [
        .notAnImage, .unsupported(.heic, advice: "Install libheif."), .damaged(.png, reason: "CRC error"),
        .tooManyPixels(size, maximum: 1000), .tooLong(size, maximum: 1000), .tooManyBytes(maximum: 4321),
        .file(path: "/home/ada/me.png", reason: "/home/ada/me.png: errno 13"), .cannotFit(maximumBytes: 4321),
        .failed(reason: "errno 12"), .cancelled,
    ]

    @Test("every error has a text for users, without a path, a number or advice for developers", arguments: every)
    func texts(error: ImageError) {
        for language in [UserText.Language.english, .korean] {
            UserText.Language.$override.withValue(language) {
                let text = error.localizedDescription
                #expect(!text.isEmpty && text == error.errorDescription)
                #expect(!text.contains("/") && !text.contains { $0.isNumber })
                #expect(!["libheif", "CRC", "errno", "maximum", "Martlet"].contains { text.contains($0) })
            }
        }
    }

    @Test("a text is in the user's language, English or Korean") func languages() {
        UserText.Language.$override.withValue(.english) {
            #expect(ImageError.notAnImage.localizedDescription == "This file is not a picture. Choose another one.")
        }
        UserText.Language.$override.withValue(.korean) {
            #expect(ImageError.notAnImage.localizedDescription == "사진 파일이 아닙니다. 다른 파일을 선택해 주세요.")
        }
    }

    @Test("pictures that are too large in any way have one text, and all other errors one each") func distinct() {
        for language in [UserText.Language.english, .korean] {
            let texts = UserText.Language.$override.withValue(language) { Self.every.map(\.localizedDescription) }
            #expect(Set(texts).count == Self.every.count - 2)
        }
    }
}
