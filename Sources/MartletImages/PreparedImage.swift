#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A picture that is ready to be sent.
public struct PreparedImage: Sendable, Hashable {
    /// The bytes of its file.
    public let data: Data
    /// What kind of file that is.
    public let format: ImageFormat
    /// Width and height, upright.
    public let size: PixelSize
    /// The quality it was encoded with, 0.01 to 1; `nil` where it is untouched or the format knows no loss.
    public let quality: Double?
    /// Whether these are the bytes that came in.
    public let isUntouched: Bool

    /// The media type, such as `image/jpeg`.
    public var contentType: String { format.contentType }

    /// A name for the file: `image.jpg`.
    public var filename: String { filename(for: nil) }

    /// A name with the extension that fits: `me.HEIC` becomes `me.jpg`.
    func filename(for name: String?) -> String {
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
