/// What kind of file a picture comes in, told from its content and never from its name.
public enum ImageKind: String, Sendable, Hashable, CaseIterable {
    /// JPEG (ISO/IEC 10918-1).
    case jpeg = "JPEG"
    /// PNG, animated or not.
    case png = "PNG"
    /// WebP (RFC 9649).
    case webP = "WebP"
    /// HEIF with HEVC within, as iPhones take it.
    case heic = "HEIC"
    /// HEIF with AV1 within.
    case avif = "AVIF"
    /// GIF.
    case gif = "GIF"
    /// TIFF, and the raw formats of many cameras.
    case tiff = "TIFF"
    /// Windows bitmap.
    case bmp = "BMP"
    /// JPEG XL.
    case jpegXL = "JPEG XL"
    /// JPEG 2000.
    case jpeg2000 = "JPEG 2000"
    /// Windows icon.
    case icon = "ICO"
    /// A drawing in XML.
    case svg = "SVG"
    /// PDF.
    case pdf = "PDF"
    /// What only Image I/O knows how to read: Photoshop's documents, OpenEXR, the raw formats of some cameras and others.
    case other = "picture"

    /// The format that leaves this kind as it is.
    var format: ImageFormat? {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webP: .webP
        default: nil
        }
    }
}
