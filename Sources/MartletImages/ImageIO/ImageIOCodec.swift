#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads and writes pictures by Apple's Image I/O.
struct ImageIOCodec: ImageCodec {
    let calls: ImageIOCalls
    let readsOtherKinds = true

    func inspect(_ bytes: Data, as kind: ImageKind) throws(ImageError) -> ImageDescription {
        let picture: ImageIOPicture
        do {
            picture = try ImageIOPicture(bytes, kind, calls)
        } catch {
            // Nothing but Image I/O could have told that it is one.
            throw kind == .other ? .notAnImage : error
        }
        let properties = picture.properties
        return ImageDescription(
            kind: kind, size: properties.size,
            orientation: properties.orientation.flatMap(Orientation.init(rawValue:)) ?? .up,
            hasAlpha: properties.hasAlpha, isAnimated: picture.source.count() > 1,
            // None of these kinds is sent as it is, so nobody looks for it.
            hasOtherMetadata: true,
            isSRGB: properties.profileName.map { $0.hasPrefix("sRGB") } ?? true)
    }

    func decode(
        _ bytes: Data, _ description: ImageDescription, to size: PixelSize, _ cancellation: Cancellation
    ) throws(ImageError) -> Bitmap {
        let picture = try ImageIOPicture(bytes, description.kind, calls)
        // What was allowed is the size that the headers say.
        guard picture.properties.size.count <= description.size.count else {
            throw .damaged(description.kind, reason: "it has more pixels than its headers say")
        }
        try cancellation.check()
        let drawn = try picture.draw(longestSide: Self.longestSide(of: picture.properties.size, for: size))
        return try drawn.bitmap(reducedTo: size, cancellation)
    }

    /// How large Image I/O is to make a picture that is wanted in some size: half as large again, so that the last step is
    /// left to the filter that all platforms share, and sides that Image I/O rounds by rules of its own do not matter. Even of
    /// a picture that is hardly larger, all pixels would take more than twice as much memory.
    static func longestSide(of size: PixelSize, for newSize: PixelSize) -> Int {
        let stored = max(size.width, size.height)
        let wanted = max(newSize.width, newSize.height)
        return min(stored, wanted + (wanted + 1) / 2)
    }

    func encode(_ bitmap: Bitmap, as format: ImageFormat, quality: Int) throws(ImageError) -> Data {
        guard calls.writableTypes().contains(format.typeIdentifier) else {
            throw .unsupported(
                format.kind, advice: "This system can read them and not write them. Choose the format .jpeg or .png.")
        }
        let quality = format.isLossy ? Double(min(max(quality, 1), 100)) / 100 : nil
        let written = calls.write(bitmap.withColour(), format.typeIdentifier, quality)
        guard let file = written.flatMap({ WrittenFile($0).withoutMetadata(format) }) else {
            throw .failed(reason: "Image I/O could not write a \(format.kind.rawValue) of \(bitmap.size) pixels.")
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
