#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The functions of Apple's Image I/O as closures, so that the code above them can be tested on Linux.
///
/// https://developer.apple.com/documentation/imageio
struct ImageIOCalls: Sendable {
    /// `CGImageSourceCreateWithData(_:_:)`, or `nil` if Image I/O cannot open these bytes.
    var open: @Sendable (_ bytes: Data) -> ImageIOSource?
    /// `CGImageDestinationCopyTypeIdentifiers()`: the types that this system can write.
    var writableTypes: @Sendable () -> [String]
    /// `CGImageDestinationAddImage(_:_:_:)` and `CGImageDestinationFinalize(_:)`: writes one RGB image in sRGB without
    /// metadata, with alpha only if the type supports it. The quality is from 0 to 1, for lossy types. `nil` if Image
    /// I/O fails.
    var write: @Sendable (_ bitmap: Bitmap, _ type: String, _ quality: Double?) -> Data?
}

/// An open `CGImageSource`, for one caller at a time.
struct ImageIOSource {
    /// `CGImageSourceGetCount(_:)`.
    var count: () -> Int
    /// `CGImageSourceGetPrimaryImageIndex(_:)`: the index of the main image; 0 except in HEIF files.
    var primaryIndex: () -> Int
    /// `CGImageSourceGetStatus(_:)`.
    var status: () -> ImageIOStatus
    /// `CGImageSourceGetStatusAtIndex(_:_:)`.
    var imageStatus: (_ index: Int) -> ImageIOStatus
    /// `CGImageSourceCopyPropertiesAtIndex(_:_:_:)`, which decodes no pixels.
    var properties: (_ index: Int) -> ImageIOProperties?
    /// `CGImageSourceCreateThumbnailAtIndex(_:_:_:)`: draws the image itself, not an embedded thumbnail, within
    /// `longestSide`, never enlarged, and in the stored orientation.
    var draw: (_ index: Int, _ longestSide: Int) -> DrawnImage?
}

/// `CGImageSourceStatus`.
///
/// https://developer.apple.com/documentation/imageio/cgimagesourcestatus
enum ImageIOStatus: Hashable, Sendable {
    case complete, incomplete, readingHeader, unknownType, invalidData, unexpectedEnd
    /// A status of a later system.
    case other(Int32)
}

/// The properties of an image, read without decoding it.
///
/// https://developer.apple.com/documentation/imageio/image-properties
struct ImageIOProperties: Hashable, Sendable {
    /// `kCGImagePropertyPixelWidth` and `kCGImagePropertyPixelHeight`: the stored size.
    var size: PixelSize
    /// `kCGImagePropertyOrientation`: from 1 to 8, as in TIFF and EXIF.
    var orientation: Int?
    /// `kCGImagePropertyHasAlpha`; `false` if missing.
    var hasAlpha = false
    /// `kCGImagePropertyProfileName`: the name of the ICC profile.
    var profileName: String?
}
