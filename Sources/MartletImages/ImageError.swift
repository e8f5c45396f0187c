internal import Martlet

/// An error that explains why a picture could not be prepared and what to do about it.
@nonexhaustive public enum ImageError: Error, Sendable, Hashable {
    /// The content is not a picture of a known kind.
    case notAnImage
    /// This platform or build cannot read or write pictures of this kind. The advice says what to do.
    case unsupported(ImageKind, advice: String)
    /// The file is truncated or damaged. The reason comes from the codec.
    case damaged(ImageKind, reason: String)
    /// The header declares more pixels than ``ImageProcessor/Options/maximumPixels`` allows.
    case tooManyPixels(PixelSize, maximum: Int)
    /// The header declares a width or height of more than 1,000,000 pixels, which is the limit for all options.
    case tooLong(PixelSize, maximum: Int)
    /// The file has more bytes than ``ImageProcessor/Options/maximumInputBytes``.
    case tooManyBytes(maximum: Int)
    /// The file could not be read.
    case file(path: String, reason: String)
    /// Not even one pixel fits into ``ImageProcessor/Options/maximumBytes``.
    case cannotFit(maximumBytes: Int)
    /// The system or the codec failed, for example because it ran out of memory.
    case failed(reason: String)
    /// The task was cancelled.
    case cancelled
}

extension ImageError: CustomStringConvertible {
    /// A message that says what is wrong with the picture, and what to do.
    public var description: String {
        switch self {
        case .notAnImage: "This is not a picture. Choose a JPEG, PNG, WebP or HEIC."
        case .unsupported(let kind, let advice): "The picture's format, \(kind.rawValue), is not supported. \(advice)"
        case .damaged(let kind, let reason):
            "The \(kind.rawValue) file is truncated or damaged (\(reason)). "
                + "Download it again, or choose another picture."
        case .tooManyPixels(let size, let maximum):
            "The picture has \(size) pixels; the maximum is \(maximum) in total. "
                + "Choose a smaller one, or raise maximumPixels."
        case .tooLong(let size, let maximum):
            "The picture has \(size) pixels; the maximum is \(maximum) per side. Choose a smaller one."
        case .tooManyBytes(let maximum):
            "The file is larger than \(maximum) bytes. Choose a smaller one, or raise maximumInputBytes."
        case .file(_, let reason): reason
        case .cannotFit(let maximum):
            "The picture cannot be reduced to \(maximum) bytes. Raise maximumBytes."
        case .failed(let reason): "The picture could not be prepared: \(reason)"
        case .cancelled: "The picture was not prepared because the task was cancelled."
        }
    }
}
