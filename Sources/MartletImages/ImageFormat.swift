/// What a picture is sent as.
public enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    /// For photographs, and what every server takes. Has no transparency.
    case jpeg
    /// Without loss and large; for drawings and for what must stay transparent.
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

    /// What names of files end in, without the dot: `jpg`.
    public var filenameExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .png: "png"
        case .webP: "webp"
        }
    }

    /// Whether a picture can be transparent.
    public var hasAlpha: Bool { self != .jpeg }

    /// Whether there is a quality to choose.
    public var isLossy: Bool { self != .png }
}
