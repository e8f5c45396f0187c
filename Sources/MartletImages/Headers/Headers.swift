#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads the headers of pictures without a codec.
enum Headers {
    /// Reads the properties of a picture.
    /// - Returns: `nil` for kinds that only a codec can read.
    static func describe(_ bytes: Data, as kind: ImageKind) throws(ImageError) -> ImageDescription? {
        let result: Result<ImageDescription?, ImageError> = bytes.withUnsafeBytes { buffer in
            let view = ByteView(buffer)
            return Result { () throws(ImageError) -> ImageDescription? in
                switch kind {
                case .jpeg: try JPEGHeaders.describe(view)
                case .png: try PNGHeaders.describe(view)
                case .webP: try WebPHeaders.describe(view)
                default: nil
                }
            }
        }
        return try result.get()
    }
}
