#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The primary image of a file, opened with Image I/O. Opening reads its properties but decodes no pixels.
struct ImageIOPicture {
    let source: ImageIOSource
    let properties: ImageIOProperties

    private let kind: ImageKind
    private let index: Int

    init(_ file: Data, _ kind: ImageKind, _ calls: ImageIOCalls) throws(ImageError) {
        // SVG and PDF have no pixels, and Image I/O reads them only partly and only on some systems.
        guard kind != .svg, kind != .pdf, let source = calls.open(file) else { throw Self.unsupported(kind) }
        try Self.check(source.status(), kind)
        if FileEnd(of: file) == .missing { throw Self.cutShort(kind) }
        let index = source.primaryIndex()
        try Self.check(source.imageStatus(index), kind)
        guard let properties = source.properties(index), properties.size.width > 0, properties.size.height > 0 else {
            throw .damaged(kind, reason: "it has no size")
        }
        self.source = source
        self.properties = properties
        self.kind = kind
        self.index = index
    }

    /// Decodes the image, scaled down to `longestSide` if it is larger.
    func draw(longestSide: Int) throws(ImageError) -> DrawnImage {
        let drawn = source.draw(index, longestSide)
        // A truncated file may be detected only after decoding.
        try Self.check(source.imageStatus(index), kind)
        guard let drawn else { throw .damaged(kind, reason: "Image I/O cannot decode it") }
        return drawn
    }

    /// Throws if the status is not `.complete`. The source has the whole file, so an incomplete one is truncated.
    private static func check(_ status: ImageIOStatus, _ kind: ImageKind) throws(ImageError) {
        switch status {
        case .complete: return
        case .unknownType: throw unsupported(kind)
        case .incomplete, .readingHeader, .unexpectedEnd: throw cutShort(kind)
        case .invalidData: throw .damaged(kind, reason: "its data is invalid")
        case .other(let status): throw .damaged(kind, reason: "Image I/O reports status \(status)")
        }
    }

    private static func unsupported(_ kind: ImageKind) -> ImageError {
        .unsupported(kind, advice: "This system cannot read it. Choose a JPEG, PNG, WebP or HEIC.")
    }

    private static func cutShort(_ kind: ImageKind) -> ImageError {
        .damaged(kind, reason: "it ends early")
    }
}
