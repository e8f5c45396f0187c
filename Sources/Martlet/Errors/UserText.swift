#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The messages that errors show to users: without URLs, status codes or advice for developers.
package enum UserText: CaseIterable, Sendable {
    case offline, cannotConnect, connectionLost, timedOut, cancelled, notSecure, notUnderstood, appFault, notSent
    /// For a request that the server may have carried out, and would carry out again.
    case connectionLostInDoubt, timedOutInDoubt, serverTroubleInDoubt
    case notFound, tooLarge, tooMany, serverTrouble, refused, notAllowed, noBrowser
    case signInRequired, sessionChanged, renewalFailed, sessionRefused, sessionRanOut, sessionInterrupted
    case notSaved, damaged, unverified, nothingThere, fileUnreadable
    case storeLocked, storeUnreachable, storeDamaged, storeForeign, storeTooNew, storeUnsafe

    /// A language that the messages are written in.
    package enum Language: Sendable {
        case english, korean

        /// Replaces the user's language, for tests.
        @TaskLocal package static var override: Language?

        /// The language of the user, or English.
        package static var current: Language {
            if let override { return override }
            #if canImport(Darwin)
                let mixes = Bundle.main.object(forInfoDictionaryKey: "CFBundleAllowMixedLocalizations") as? Bool
                return choose(
                    app: Bundle.main.preferredLocalizations, user: Locale.preferredLanguages, mixes: mixes == true)
            #else
                // FoundationEssentials has no languages. These are the POSIX variables, in order of precedence.
                let environment = ProcessInfo.processInfo.environment
                let names = ["LC_ALL", "LC_MESSAGES", "LANG"]
                return Language(tag: names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty })
            #endif
        }

        /// The language for an app: one of its own, as for all system texts, unless the app allows others
        /// (`CFBundleAllowMixedLocalizations`).
        /// - Parameters:
        ///   - app: The languages of the app that suit the user, in the order of preference.
        ///   - user: The languages of the user, in the order of preference.
        package static func choose(app: [String], user: [String], mixes: Bool) -> Language {
            Language(tag: (mixes ? user : app).first)
        }

        /// The language of a tag such as `ko-KR` or `ko_KR.UTF-8`.
        package init(tag: String?) {
            self = tag?.prefix { $0.isLetter }.lowercased() == "ko" ? .korean : .english
        }
    }

    /// The message in the user's language.
    package var text: String {
        switch Language.current {
        case .english: english
        case .korean: korean
        }
    }

    /// A message for the status code of a response to a call.
    static func status(_ status: Int, of call: CallDescription) -> UserText {
        guard call.isInDoubt(after: status) else { return .status(status) }
        return status == 504 ? timedOutInDoubt : serverTroubleInDoubt
    }

    /// A message for an HTTP status code.
    package static func status(_ status: Int) -> UserText {
        switch status {
        case 401: signInRequired
        case 403: notAllowed
        case 404, 410: notFound
        case 408, 504: timedOut
        case 413: tooLarge
        case 429: tooMany
        case 500...: serverTrouble
        default: refused
        }
    }

    private static let doubt = "Your request may have gone through: check before you try again."

    var english: String {
        switch self {
        case .offline: "You are offline. Try again when you are connected."
        case .cannotConnect: "The server cannot be reached. Check your connection and try again."
        case .connectionLost: "The connection was lost. Try again."
        case .timedOut: "The server took too long to respond. Try again."
        case .connectionLostInDoubt: "The connection was lost. \(Self.doubt)"
        case .timedOutInDoubt: "The server took too long to respond. \(Self.doubt)"
        case .serverTroubleInDoubt: "The server is having problems. \(Self.doubt)"
        case .cancelled: "The request was cancelled."
        case .notSecure: "A secure connection could not be established. Nothing was sent."
        case .notUnderstood: "The app could not read the server’s response. Try again later, or update the app."
        case .appFault: "Something went wrong in the app. Try again."
        case .notSent: "This could not be sent. Try again, or check for an update of the app."
        case .notFound: "This no longer exists."
        case .tooLarge: "This is too large for the server."
        case .tooMany: "There were too many requests. Wait a moment and try again."
        case .serverTrouble: "The server is having problems. Try again later."
        case .refused: "The server rejected the request."
        case .notAllowed: "You do not have permission to do this."
        case .noBrowser: "No browser could be opened."
        case .signInRequired: "Sign in to continue."
        case .sessionChanged: "The sign-in status has changed. Check whether this was done before you try again."
        case .renewalFailed: "Your sign-in could not be renewed. Try again in a moment."
        case .sessionRefused: "Your session is no longer valid. Sign in again to continue."
        case .sessionRanOut: "Your session has expired. Sign in again to continue."
        case .sessionInterrupted: "Your session could not be resumed after an interruption. Sign in again to continue."
        case .notSaved: "The file could not be saved."
        case .damaged: "The downloaded file was damaged and was not saved. Try again."
        case .unverified: "The downloaded file could not be verified and was not saved."
        case .nothingThere: "There is nothing to download on the server."
        case .fileUnreadable: "The file cannot be read. Choose it again, or choose another one."
        case .storeLocked: "Unlock this device to continue."
        case .storeUnreachable: "Your sign-in cannot be read or saved at the moment. Try again."
        case .storeDamaged: "Your saved sign-in is damaged. Sign in again to continue."
        case .storeForeign: "Your sign-in cannot be saved, because something else is stored there. Contact support."
        case .storeTooNew: "Your sign-in was saved by a newer version of this app. Update the app to continue."
        case .storeUnsafe: "Other users can access the files of your sign-in. Correct their permissions."
        }
    }

    var korean: String {
        switch self {
        case .offline: "오프라인 상태입니다. 네트워크에 연결된 뒤 다시 시도해 주세요."
        case .cannotConnect: "서버에 연결할 수 없습니다. 네트워크를 확인하고 다시 시도해 주세요."
        case .connectionLost: "연결이 끊어졌습니다. 다시 시도해 주세요."
        case .timedOut: "서버의 응답이 너무 늦습니다. 다시 시도해 주세요."
        case .connectionLostInDoubt: "연결이 끊어졌습니다. 처리되었는지 확인한 뒤 다시 시도해 주세요."
        case .timedOutInDoubt: "서버의 응답이 너무 늦습니다. 처리되었는지 확인한 뒤 다시 시도해 주세요."
        case .serverTroubleInDoubt: "서버에 문제가 있습니다. 처리되었는지 확인한 뒤 다시 시도해 주세요."
        case .cancelled: "취소되었습니다."
        case .notSecure: "안전한 연결을 만들 수 없어 아무것도 보내지 않았습니다."
        case .notUnderstood: "서버의 응답을 처리할 수 없습니다. 나중에 다시 시도하거나 앱을 업데이트해 주세요."
        case .appFault: "앱에 문제가 생겼습니다. 다시 시도해 주세요."
        case .notSent: "요청을 보내지 못했습니다. 다시 시도하거나 앱 업데이트가 있는지 확인해 주세요."
        case .notFound: "더 이상 존재하지 않습니다."
        case .tooLarge: "서버가 받기에는 너무 큽니다."
        case .tooMany: "요청이 너무 많습니다. 잠시 후 다시 시도해 주세요."
        case .serverTrouble: "서버에 문제가 있습니다. 나중에 다시 시도해 주세요."
        case .refused: "서버가 요청을 거부했습니다."
        case .notAllowed: "이 작업을 할 권한이 없습니다."
        case .noBrowser: "브라우저를 열 수 없습니다."
        case .signInRequired: "계속하려면 로그인해 주세요."
        case .sessionChanged: "그사이에 로그인 상태가 바뀌었습니다. 처리되었는지 확인한 뒤 다시 시도해 주세요."
        case .renewalFailed: "로그인 상태를 확인하지 못했습니다. 잠시 후 다시 시도해 주세요."
        case .sessionRefused: "세션이 더 이상 유효하지 않습니다. 계속하려면 다시 로그인해 주세요."
        case .sessionRanOut: "세션이 만료되었습니다. 계속하려면 다시 로그인해 주세요."
        case .sessionInterrupted: "작업이 중단되어 로그인 상태를 복구하지 못했습니다. 계속하려면 다시 로그인해 주세요."
        case .notSaved: "파일을 저장할 수 없습니다."
        case .damaged: "다운로드한 파일이 손상되어 저장하지 않았습니다. 다시 시도해 주세요."
        case .unverified: "다운로드한 파일을 검증할 수 없어 저장하지 않았습니다."
        case .nothingThere: "서버에 다운로드할 파일이 없습니다."
        case .fileUnreadable: "파일을 읽을 수 없습니다. 파일을 다시 선택하거나 다른 파일을 선택해 주세요."
        case .storeLocked: "계속하려면 기기의 잠금을 해제해 주세요."
        case .storeUnreachable: "지금은 로그인 정보를 읽거나 저장할 수 없습니다. 다시 시도해 주세요."
        case .storeDamaged: "저장된 로그인 정보가 손상되었습니다. 계속하려면 다시 로그인해 주세요."
        case .storeForeign: "이 앱이 로그인 정보를 보관하는 곳에 다른 데이터가 있어 저장할 수 없습니다. 앱의 고객 지원에 문의해 주세요."
        case .storeTooNew: "로그인 정보가 이 앱의 더 새로운 버전에서 저장되었습니다. 계속하려면 앱을 업데이트해 주세요."
        case .storeUnsafe: "로그인 정보를 보관하는 파일을 다른 사용자가 읽거나 바꿀 수 있어 사용하지 않았습니다. 파일의 접근 권한을 바로잡아 주세요."
        }
    }
}
