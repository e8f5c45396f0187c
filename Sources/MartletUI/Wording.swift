internal import Martlet

/// Text on the screens. The messages of errors are in Martlet itself.
///
/// The text is in code. A string catalog would need a resource bundle, and SwiftPM's generated accessor traps if that
/// bundle is missing.
struct Wording: Sendable {
    let english: String
    let korean: String

    private init(_ english: String, _ korean: String) {
        self.english = english
        self.korean = korean
    }

    /// The message in the user's language.
    var text: String {
        switch UserText.Language.current {
        case .english: english
        case .korean: korean
        }
    }
}

// A guest's login.
extension Wording {
    static let name = Wording("Name", "이름")
    static let nameHint = Wording("The name that other people see", "다른 사람에게 보이는 이름")
    static let nameMissing = Wording("Enter a name.", "이름을 입력해 주세요.")
    static func nameTooLong(_ limit: Int) -> Wording {
        Wording("The name can have at most \(limit) characters.", "이름은 최대 \(limit)자까지 쓸 수 있습니다.")
    }
    static let picture = Wording("Picture", "사진")
    static let choosePicture = Wording("Choose Picture", "사진 선택")
    static let changePicture = Wording("Change Picture", "사진 변경")
    static let removePicture = Wording("Remove Picture", "사진 삭제")
    static let pictureChosen = Wording("Selected picture", "선택한 사진")
    static let unusablePicture = Wording(
        "This picture cannot be used. Choose another one.", "이 사진은 사용할 수 없습니다. 다른 사진을 선택해 주세요.")
    static let continueAsGuest = Wording("Continue as Guest", "게스트로 계속하기")
    static let cancel = Wording("Cancel", "취소")
}

// An upload.
extension Wording {
    static let uploading = Wording("Upload", "업로드")
    static let preparing = Wording("Preparing…", "준비 중…")
    static let sending = Wording("Sending…", "보내는 중…")
    static func sending(percent: Int) -> Wording {
        Wording("Sending: \(percent)%", "보내는 중: \(percent)%")
    }
    static func sendingAgain(percent: Int) -> Wording {
        Wording("Sending again: \(percent)%", "다시 보내는 중: \(percent)%")
    }
    static let almostDone = Wording("Almost done…", "거의 끝났습니다…")
}

// The screens of `SignedInGate`.
extension Wording {
    static let loading = Wording("Loading…", "불러오는 중…")
    static let signInAgainTitle = Wording("Sign In Again", "다시 로그인")
    static let signOut = Wording("Sign Out", "로그아웃")
    static let unavailableTitle = Wording("Sign-In Unavailable", "로그인 정보를 읽을 수 없음")
    static let tryAgain = Wording("Try Again", "다시 시도")
}
