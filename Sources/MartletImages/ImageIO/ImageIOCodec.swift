#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads and writes pictures with Apple's Image I/O.
struct ImageIOCodec: ImageCodec {
    let calls: ImageIOCalls
    let readsOtherKinds = true

    func inspect(_ bytes: Data, as kind: ImageKind) throws(ImageError) -> ImageDescription {
        let picture: ImageIOPicture
        do {
            picture = try ImageIOPicture(bytes, kind, calls)
        } catch {
            // Only Image I/O could have recognized the bytes as a picture.
            throw kind == .other ? .notAnImage : error
        }
        let properties = picture.properties
        return ImageDescription(
            kind: kind, size: properties.size,
            orientation: properties.orientation.flatMap(Orientation.init(rawValue:)) ?? .up,
            hasAlpha: properties.hasAlpha, isAnimated: picture.source.count() > 1,
            // These kinds never pass through unchanged, so the exact value does not matter.
            hasOtherMetadata: true,
            isSRGB: properties.profileName.map { $0.hasPrefix("sRGB") } ?? true)
    }

    func decode(
        _ bytes: Data, _ description: ImageDescription, to size: PixelSize, _ cancellation: Cancellation
    ) throws(ImageError) -> Bitmap {
        let picture = try ImageIOPicture(bytes, description.kind, calls)
        // The caller has allowed only the size in the headers.
        guard picture.properties.size.count <= description.size.count else {
            throw .damaged(description.kind, reason: "it has more pixels than its headers say")
        }
        try cancellation.check()
        // Image I/O may show a frame on its canvas, or alone.
        let frame = description.firstFrame.flatMap { $0.size == picture.properties.size ? $0 : nil }
        let area = frame?.scaled(from: description.size, to: size)
        let ownSize = area?.size ?? size
        let drawn = try picture.draw(longestSide: Self.longestSide(of: picture.properties.size, for: ownSize))
        let bitmap = try drawn.bitmap(reducedTo: ownSize, cancellation)
        return area.map { bitmap.placed(in: $0, of: size) } ?? bitmap
    }

    /// The longest side that Image I/O scales to: 1.5 times the wanted side, so that the filter shared by all platforms
    /// does the last step and Image I/O's own rounding does not matter. Decoding all pixels would take more than twice
    /// the memory.
    static func longestSide(of size: PixelSize, for newSize: PixelSize) -> Int {
        let stored = max(size.width, size.height)
        let wanted = max(newSize.width, newSize.height)
        return min(stored, wanted + (wanted + 1) / 2)
    }

    func encode(_ bitmap: Bitmap, as format: ImageFormat, quality: Int) throws(ImageError) -> Data {
        guard calls.writableTypes().contains(format.typeIdentifier) else {
            throw .unsupported(
                format.kind, advice: "This system cannot write this format. Choose the format .jpeg or .png.")
        }
        let quality = format.isLossy ? Double(min(max(quality, 1), 100)) / 100 : nil
        let written = calls.write(bitmap.withColor(), format.typeIdentifier, quality)
        guard let file = written.flatMap({ WrittenFile($0).withoutMetadata(format) }) else {
            throw .failed(
                reason:
                    "Image I/O could not write a \(format.kind.rawValue) of \(bitmap.size) pixels. "
                    + "Choose another format."
            )
        }
        return file
    }
}

extension ImageFormat {
    /// The uniform type identifier.
    ///
    /// https://developer.apple.com/documentation/uniformtypeidentifiers/system-declared-uniform-type-identifiers
    fileprivate var typeIdentifier: String {
        switch self {
        case .jpeg: "public.jpeg"
        case .png: "public.png"
        case .webP: "org.webmproject.webp"
        }
    }

    fileprivate var kind: ImageKind {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webP: .webP
        }
    }
}
