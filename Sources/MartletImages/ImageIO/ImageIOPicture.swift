#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The picture in a file, as Image I/O reads it: the primary one of the images that are in there.
///
/// Opening it reads what is said about the picture, and no pixels.
struct ImageIOPicture {
    let source: ImageIOSource
    let properties: ImageIOProperties

    private let kind: ImageKind
    private let index: Int

    init(_ file: Data, _ kind: ImageKind, _ calls: ImageIOCalls) throws(ImageError) {
        // Drawings have no pixels of their own, and Image I/O reads only some of them on some systems.
        guard kind != .svg, kind != .pdf, let source = calls.open(file) else { throw Self.unsupported(kind) }
        try Self.check(source.status(), kind)
        if FileEnd(of: file) == .missing { throw Self.cutShort(kind) }
        let index = source.primaryIndex()
        try Self.check(source.imageStatus(index), kind)
        guard let properties = source.properties(index), properties.size.width > 0, properties.size.height > 0 else {
            throw .damaged(kind, reason: "it does not say how large it is")
        }
        self.source = source
        self.properties = properties
        self.kind = kind
        self.index = index
    }

    /// Decodes it, made smaller where one of its sides has more pixels than this.
    func draw(longestSide: Int) throws(ImageError) -> DrawnImage {
        let drawn = source.draw(index, longestSide)
        // That some of it is missing may show only once all was read.
        try Self.check(source.imageStatus(index), kind)
        guard let drawn else { throw .damaged(kind, reason: "Image I/O cannot decode it") }
        return drawn
    }

    /// All of the file was given, so that nothing more can come: what is incomplete stays so.
    private static func check(_ status: ImageIOStatus, _ kind: ImageKind) throws(ImageError) {
        switch status {
        case .complete: return
        case .unknownType: throw unsupported(kind)
        case .incomplete, .readingHeader, .unexpectedEnd: throw cutShort(kind)
        case .invalidData: throw .damaged(kind, reason: "its data are not valid")
        case .other(let status): throw .damaged(kind, reason: "Image I/O calls its status \(status)")
        }
    }

    private static func unsupported(_ kind: ImageKind) -> ImageError {
        .unsupported(kind, advice: "This system does not read them. Choose a JPEG, PNG, WebP or HEIC.")
    }

    private static func cutShort(_ kind: ImageKind) -> ImageError {
        .damaged(kind, reason: "it ends too early")
    }
}
