import Foundation
import Testing

@testable import Martlet
@testable import MartletBackground

@Suite("Errors of background transfers", .timeLimit(.minutes(10))) struct BackgroundTransferErrorTests {
    private static let secret = "q8Zk3Vt1Lx9Rb7Yw2Np5Hd6Mf4Jc0Gs8EaTi"

    @Test(
        "every error has a text for users, without a secret, a URL or a status",
        arguments: [
            .identifierInUse(secret), .unacceptableStatus(503), .connection(secret), .interrupted, .file(secret),
            .sessionEnded,
        ] as [BackgroundTransferError], [UserText.Language.english, .korean])
    func texts(error: BackgroundTransferError, language: UserText.Language) {
        UserText.Language.$override.withValue(language) {
            let text = error.localizedDescription
            #expect(!text.isEmpty && text == error.errorDescription)
            #expect(!text.contains(Self.secret) && !text.contains("://") && !text.contains("Martlet"))
            #expect(!text.contains("503"))
        }
    }
}
