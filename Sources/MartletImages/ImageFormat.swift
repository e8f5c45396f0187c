/// The file format of a prepared picture.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    /// For photographs. Every server accepts it. No transparency.
    case jpeg
    /// Lossless and large, for drawings and for transparency.
    case png
    /// Smaller than JPEG at the same quality, with transparency.
    case webP

    /// The media type, such as `image/jpeg`.
    public var contentType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .webP: "image/webp"
        }
    }

    /// The filename extension without the dot, such as `jpg`.
    public var filenameExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .png: "png"
        case .webP: "webp"
        }
    }

    /// Whether the format supports transparency.
    public var hasAlpha: Bool { self != .jpeg }

    /// Whether the format is lossy, so that it has a quality setting.
    public var isLossy: Bool { self != .png }
}
