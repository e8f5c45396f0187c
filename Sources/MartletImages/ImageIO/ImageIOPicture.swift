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
        try Self.checkDamage(source.status(), kind)
        if FileEnd(of: file) == .missing { throw Self.cutShort(kind) }
        let index = source.primaryIndex()
        let status = source.imageStatus(index)
        try Self.checkDamage(status, kind)
        guard let properties = source.properties(index), properties.size.width > 0, properties.size.height > 0 else {
            throw Self.error(status == .complete ? source.status() : status, kind)
                ?? .damaged(
                    kind, reason: "it has no size")
        }
        self.source = source
        self.properties = properties
        self.kind = kind
        self.index = index
    }

    /// Decodes the image, scaled down to `longestSide` if it is larger.
    func draw(longestSide: Int) throws(ImageError) -> DrawnImage {
        let drawn = source.draw(index, longestSide)
        let status = source.imageStatus(index)
        // A truncated file may be detected only after decoding.
        try Self.checkDamage(status, kind)
        guard let drawn else {
            throw Self.error(status, kind) ?? .damaged(kind, reason: "Image I/O cannot decode it")
        }
        return drawn
    }

    /// Throws if the status says that the data is damaged. Image I/O may report any other status for an intact picture
    /// that it has not decoded yet.
    private static func checkDamage(_ status: ImageIOStatus, _ kind: ImageKind) throws(ImageError) {
        if [.unexpectedEnd, .invalidData].contains(status), let error = error(status, kind) { throw error }
    }

    /// The reason why a picture cannot be read; `nil` if the status does not say. The source has the whole file, so an
    /// incomplete one is truncated.
    private static func error(_ status: ImageIOStatus, _ kind: ImageKind) -> ImageError? {
        switch status {
        case .complete: nil
        case .unknownType: unsupported(kind)
        case .incomplete, .readingHeader, .unexpectedEnd: cutShort(kind)
        case .invalidData: .damaged(kind, reason: "its data is invalid")
        case .other(let status): .damaged(kind, reason: "Image I/O reports status \(status)")
        }
    }

    private static func unsupported(_ kind: ImageKind) -> ImageError {
        .unsupported(kind, advice: "This system cannot read it. Choose a JPEG, PNG, WebP or HEIC.")
    }

    private static func cutShort(_ kind: ImageKind) -> ImageError {
        .damaged(kind, reason: "it ends early")
    }
}
