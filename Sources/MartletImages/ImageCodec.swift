internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What reads and writes pictures on this platform. Called on threads that may block, two at a time.
protocol ImageCodec: Sendable {
    /// Whether it may read kinds of pictures that `ImageKind` cannot tell apart.
    var readsOtherKinds: Bool { get }

    /// Describes a picture from its headers alone, of a kind that `Headers` cannot read: neither JPEG, PNG nor WebP.
    func inspect(_ bytes: Data, as kind: ImageKind) throws(ImageError) -> ImageDescription

    /// Decodes a picture, its first one where there are several, without ever having all of its pixels in memory where
    /// the kind allows that.
    /// - Parameters:
    ///   - size: The size to decode to, as the picture is stored: before its orientation is applied. Never larger than
    ///     what is stored.
    ///   - cancellation: To be asked now and then.
    /// - Returns: A bitmap of exactly this size, in sRGB, turned as it is stored.
    func decode(
        _ bytes: Data, _ description: ImageDescription, to size: PixelSize, _ cancellation: Cancellation
    ) throws(ImageError) -> Bitmap

    /// Encodes without any metadata.
    /// - Parameters:
    ///   - bitmap: Without alpha where the format has none.
    ///   - quality: 1 to 100; of no meaning where the format has no loss.
    func encode(_ bitmap: Bitmap, as format: ImageFormat, quality: Int) throws(ImageError) -> Data
}

extension ImageCodec {
    var readsOtherKinds: Bool { false }
}

/// What the headers of a picture say.
struct ImageDescription: Sendable, Equatable {
    var kind: ImageKind
    /// The size in pixels as it is stored.
    var size: PixelSize
    /// How it is to be turned for people.
    var orientation = Orientation.up
    /// Whether pixels may be transparent.
    var hasAlpha = false
    /// Whether there are further pictures, which are left behind.
    var isAnimated = false
    /// Whether it holds what is neither pixels nor needed to show them nor EXIF: XMP, IPTC, comments, previews, further
    /// pictures, bytes behind the end, and whatever else decoders skip; or is of a variant that few of them read.
    var hasOtherMetadata = false
    /// Whether its colours are sRGB, by what it says or because it says nothing.
    var isSRGB = true
    /// What its colours are by code points, where it says so and they are known; this comes before any profile.
    var codePoints: CodePoints?
    /// The ICC profile, where the headers have one in the clear.
    var profile: Data?
    /// The TIFF structure of its EXIF metadata, without any marker before it.
    var exif: Data?
    /// The largest size that any of its parts is coded in, where that is not what is shown.
    var codedSize: PixelSize?
}

/// Whether somebody still waits for the picture.
final class Cancellation: Sendable {
    private let flag = Locked(false)

    func cancel() { flag.withLock { $0 = true } }

    var isCancelled: Bool { flag.withLock { $0 } }

    /// - Throws: ``ImageError/cancelled``.
    func check() throws(ImageError) {
        if isCancelled { throw .cancelled }
    }
}
