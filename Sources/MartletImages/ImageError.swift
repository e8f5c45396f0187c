public import Martlet

/// Why a picture could not be prepared, and what to do about it.
public enum ImageError: Error, Sendable, Hashable {
    /// The content is that of no kind of picture.
    case notAnImage
    /// A picture of a kind that cannot be read or written here; says what to do.
    case unsupported(ImageKind, advice: String)
    /// The file is cut short or broken; says where, in the codec's words.
    case damaged(ImageKind, reason: String)
    /// The picture has more pixels than ``ImageProcessor/Options/maximumPixels`` allows, by what its header says.
    case tooManyPixels(PixelSize, maximum: Int)
    /// The picture has more pixels on a side than any may have, whatever the options allow, by what its header says.
    case tooLong(PixelSize, maximum: Int)
    /// The file is larger than ``ImageProcessor/Options/maximumInputBytes``.
    case tooManyBytes(maximum: Int)
    /// The file could not be read.
    case file(FileProblem)
    /// Not even a single pixel fits into ``ImageProcessor/Options/maximumBytes``.
    case cannotFit(maximumBytes: Int)
    /// The system could not do it; says why. There is not enough memory, for one.
    case failed(reason: String)
    /// The task was cancelled.
    case cancelled
}

extension ImageError: CustomStringConvertible {
    /// What is wrong with the picture and what to do.
    public var description: String {
        switch self {
        case .notAnImage: "This is not a picture. Choose a JPEG, PNG, WebP or HEIC."
        case .unsupported(let kind, let advice): "Pictures of the kind \(kind.rawValue) cannot be used here. \(advice)"
        case .damaged(let kind, let reason):
            "The \(kind.rawValue) is cut short or damaged (\(reason)). Get it again, or choose another picture."
        case .tooManyPixels(let size, let maximum):
            "The picture has \(size) pixels, and \(maximum) in all are allowed. Choose a smaller one, or raise maximumPixels."
        case .tooLong(let size, let maximum):
            "The picture has \(size) pixels, and \(maximum) on a side are allowed. Choose another one."
        case .tooManyBytes(let maximum):
            "The file is larger than \(maximum) bytes. Choose a smaller one, or raise maximumInputBytes."
        case .file(let problem): problem.description
        case .cannotFit(let maximum):
            "The picture cannot be made to fit \(maximum) bytes. Raise maximumBytes."
        case .failed(let reason): "The picture could not be prepared: \(reason)"
        case .cancelled: "The picture was not prepared, as the task was cancelled."
        }
    }
}
