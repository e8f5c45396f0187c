/// The file format of a source picture, detected from its content and never from its name.
public enum ImageKind: String, Sendable, Hashable, CaseIterable {
    /// JPEG (ISO/IEC 10918-1).
    case jpeg = "JPEG"
    /// PNG, including animated PNG.
    case png = "PNG"
    /// WebP (RFC 9649).
    case webP = "WebP"
    /// HEIF with HEVC, as iPhones store pictures.
    case heic = "HEIC"
    /// HEIF with AV1.
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
    /// SVG, a vector format in XML.
    case svg = "SVG"
    /// PDF.
    case pdf = "PDF"
    /// A format that only Image I/O reads: Photoshop documents, OpenEXR, raw formats of some cameras, and others.
    case other = "picture"

    /// The output format of the same kind; `nil` if this kind can only be read.
    var format: ImageFormat? {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webP: .webP
        default: nil
        }
    }
}
