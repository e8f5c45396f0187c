import Foundation
import Testing

@testable import Martlet
@testable import MartletUI

@Suite("Texts for users", .timeLimit(.minutes(10)))
struct TextsTests {
    @Test("are in a language of the app, which has English only, whatever the language of the device")
    func languages() {
        #expect(Bundle.main.preferredLocalizations.first == "en")
        #expect(UserText.offline.text == UserText.offline.english)
        #expect(Wording.continueAsGuest.text == Wording.continueAsGuest.english)
    }
}
