#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The calls of Apple's Image I/O, as values: what stands above them works, and is tested, without it.
///
/// https://developer.apple.com/documentation/imageio
struct ImageIOCalls: Sendable {
    /// `CGImageSourceCreateWithData(_:_:)`, or nothing where Image I/O makes no source of these bytes.
    var open: @Sendable (_ bytes: Data) -> ImageIOSource?
    /// `CGImageDestinationCopyTypeIdentifiers()`: the types that this version of the system can write.
    var writableTypes: @Sendable () -> [String]
    /// `CGImageDestinationAddImage(_:_:_:)` and `CGImageDestinationFinalize(_:)`: one image in sRGB, and nothing about it
    /// besides that. It has colour, and alpha only if the type may have. The quality is from 0 to 1, for types that have
    /// one. Nothing where Image I/O cannot.
    var write: @Sendable (_ bitmap: Bitmap, _ type: String, _ quality: Double?) -> Data?
}

/// An open source of images, for one caller at a time.
struct ImageIOSource {
    /// `CGImageSourceGetCount(_:)`.
    var count: () -> Int
    /// `CGImageSourceGetPrimaryImageIndex(_:)`: which of the images is the picture; 0 except in HEIF files.
    var primaryIndex: () -> Int
    /// `CGImageSourceGetStatus(_:)`.
    var status: () -> ImageIOStatus
    /// `CGImageSourceGetStatusAtIndex(_:_:)`.
    var imageStatus: (_ index: Int) -> ImageIOStatus
    /// `CGImageSourceCopyPropertiesAtIndex(_:_:_:)`, which reads no pixels.
    var properties: (_ index: Int) -> ImageIOProperties?
    /// `CGImageSourceCreateThumbnailAtIndex(_:_:_:)` of the image itself, not of a preview that the file brings along, no
    /// wider and no higher than this, never enlarged, and as it is stored, not turned.
    var draw: (_ index: Int, _ longestSide: Int) -> DrawnImage?
}

/// `CGImageSourceStatus`.
///
/// https://developer.apple.com/documentation/imageio/cgimagesourcestatus
enum ImageIOStatus: Hashable, Sendable {
    case complete, incomplete, readingHeader, unknownType, invalidData, unexpectedEnd
    /// What a later system says.
    case other(Int32)
}

/// What Image I/O says of an image without decoding it.
///
/// https://developer.apple.com/documentation/imageio/image-properties
struct ImageIOProperties: Hashable, Sendable {
    /// `kCGImagePropertyPixelWidth` and `kCGImagePropertyPixelHeight`: as stored.
    var size: PixelSize
    /// `kCGImagePropertyOrientation`: from 1 to 8, as TIFF and EXIF have it.
    var orientation: Int?
    /// `kCGImagePropertyHasAlpha`; missing means no.
    var hasAlpha = false
    /// `kCGImagePropertyProfileName`: of the ICC profile.
    var profileName: String?
}
