#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The source of a picture.
public enum ImageSource: Sendable, Hashable {
    /// The bytes of a picture's file, in memory.
    case data(Data)
    /// A file at a path. The format is detected from the content, not from the name.
    case file(at: String)
    /// A picture that the app has in memory, decoded. On Apple platforms, it is created from a `CGImage` or a
    /// `UIImage`.
    case decoded(DecodedImage)

    /// A file at a file URL. The format is detected from the content, not from the name.
    public static func file(_ url: URL) -> ImageSource { .file(at: url.path) }
}
