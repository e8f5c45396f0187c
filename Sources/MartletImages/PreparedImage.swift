#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A picture that is ready for upload.
public struct PreparedImage: Sendable, Hashable {
    /// The file's bytes.
    public let data: Data
    /// The file's format.
    public let format: ImageFormat
    /// The size of the upright picture.
    public let size: PixelSize
    /// The encoding quality, from 0.01 to 1; `nil` if the picture is unchanged or the format is lossless.
    public let quality: Double?
    /// Whether the source passed through unchanged.
    public let passedThrough: Bool

    /// The media type, such as `image/jpeg`.
    public var contentType: String { format.contentType }

    /// A default filename with the format's extension, such as `image.jpg`.
    public var filename: String { filename(for: nil) }

    /// Replaces the extension with that of the format: `me.HEIC` becomes `me.jpg`.
    package func filename(for name: String?) -> String {
        let last = name?.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
        let stem: Substring
        if let dot = last.lastIndex(of: "."), dot > last.startIndex {
            let ending = last[last.index(after: dot)...].lowercased()
            if ending == format.filenameExtension || (format == .jpeg && ending == "jpeg") { return last }
            stem = last[..<dot]
        } else {
            stem = last[...]
        }
        return (stem.isEmpty ? "image" : stem) + "." + format.filenameExtension
    }
}
