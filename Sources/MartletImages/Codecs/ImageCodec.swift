internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decodes and encodes pictures on this platform. At most two threads call it at the same time, and both may block.
protocol ImageCodec: Sendable {
    /// Whether it may read kinds of pictures that `ImageKind` does not recognize.
    var readsOtherKinds: Bool { get }

    /// Reads the headers of a picture that is not JPEG, PNG or WebP, which `Headers` reads.
    func inspect(_ bytes: Data, as kind: ImageKind) throws(ImageError) -> ImageDescription

    /// Decodes a picture, or the first picture of an animation. If the format allows it, never keeps all pixels in
    /// memory.
    /// - Parameters:
    ///   - size: The size to decode to, before the orientation is applied. Never larger than the stored size.
    ///   - cancellation: Check it regularly.
    /// - Returns: A bitmap of exactly this size, in sRGB, in the stored orientation.
    func decode(
        _ bytes: Data, _ description: ImageDescription, to size: PixelSize, _ cancellation: Cancellation
    ) throws(ImageError) -> Bitmap

    /// Encodes without any metadata.
    /// - Parameters:
    ///   - bitmap: The bitmap, without alpha if the format has none.
    ///   - quality: From 1 to 100. Lossless formats ignore it.
    func encode(_ bitmap: Bitmap, as format: ImageFormat, quality: Int) throws(ImageError) -> Data
}

extension ImageCodec {
    var readsOtherKinds: Bool { false }
}

/// The properties of a picture, from its headers.
struct ImageDescription: Sendable, Equatable {
    var kind: ImageKind
    /// The size before the orientation is applied.
    var size: PixelSize
    var orientation = Orientation.up
    /// Whether pixels can be transparent.
    var hasAlpha = false
    /// Whether the file has further pictures, which are not decoded.
    var isAnimated = false
    /// The area that the first frame of an animation covers, if it is not the whole picture. The rest is transparent.
    var firstFrame: FrameArea?
    /// Whether it contains data other than EXIF that is not needed to show the picture: XMP, IPTC, comments, previews,
    /// further pictures, bytes after the end, or anything else that decoders skip. Also `true` for variants that few
    /// decoders read.
    var hasOtherMetadata = false
    /// Whether its colors are sRGB, explicitly or by default.
    var isSRGB = true
    /// Its color space as code points, if it has known ones. They take precedence over the profile.
    var codePoints: CodePoints?
    /// The ICC profile, if the headers contain one that is not compressed.
    var profile: Data?
    /// The TIFF structure of its EXIF metadata, without a marker.
    var exif: Data?
    /// The largest coded size of its parts, if it can differ from the displayed size.
    var codedSize: PixelSize?
}

/// A flag that tells a codec whether its caller has cancelled.
final class Cancellation: Sendable {
    private let flag = Locked(false)

    func cancel() { flag.withLock { $0 = true } }

    var isCancelled: Bool { flag.withLock { $0 } }

    /// - Throws: ``ImageError/cancelled``.
    func check() throws(ImageError) {
        if isCancelled { throw .cancelled }
    }
}
