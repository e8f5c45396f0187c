internal import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageError: LocalizedError {
    /// A message for the user, in the user's language: English or Korean. It contains no path and no advice for
    /// developers; those are in ``description``.
    public var errorDescription: String? {
        switch UserText.Language.current {
        case .english: english
        case .korean: korean
        }
    }

    private var english: String {
        switch self {
        case .notAnImage: "This file is not a picture. Choose another one."
        case .unsupported: "Pictures of this kind cannot be used. Choose a JPEG or a PNG."
        case .damaged: "This picture is damaged. Choose another one."
        case .tooManyPixels, .tooLong, .tooManyBytes: "This picture is too large. Choose a smaller one."
        case .file: "This picture cannot be read. Choose another one."
        case .cannotFit: "This picture cannot be made small enough. Choose another one."
        case .failed: "The picture could not be prepared. Try again."
        case .cancelled: "The picture was not prepared because this was cancelled."
        }
    }

    private var korean: String {
        switch self {
        case .notAnImage: "사진 파일이 아닙니다. 다른 파일을 선택해 주세요."
        case .unsupported: "이 형식의 사진은 사용할 수 없습니다. JPEG나 PNG 사진을 선택해 주세요."
        case .damaged: "사진이 손상되었습니다. 다른 사진을 선택해 주세요."
        case .tooManyPixels, .tooLong, .tooManyBytes: "사진이 너무 큽니다. 더 작은 사진을 선택해 주세요."
        case .file: "사진을 읽을 수 없습니다. 다른 사진을 선택해 주세요."
        case .cannotFit: "사진의 용량을 충분히 줄일 수 없습니다. 다른 사진을 선택해 주세요."
        case .failed: "사진을 준비할 수 없습니다. 다시 시도해 주세요."
        case .cancelled: "취소되어 사진을 준비하지 않았습니다."
        }
    }
}
