internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Prepares one picture: reads and describes it, then passes it through or decodes and encodes it.
struct Preparation {
    /// The maximum width and height, as in libpng. Scaling longer rows down would take excessive memory and time.
    private static let maximumSide = 1_000_000

    let options: ImageProcessor.Options
    let codec: any ImageCodec
    let cancellation: Cancellation

    func run(_ source: ImageSource) throws(ImageError) -> PreparedImage {
        let description: ImageDescription
        let bitmap: Bitmap
        do {
            // In a scope of its own, so that the source bytes are released before encoding starts.
            let bytes = try read(source)
            try cancellation.check()
            description = try describe(bytes)
            if passesThrough(bytes, description) {
                return PreparedImage(
                    data: bytes, format: options.format, size: description.size, quality: nil, passedThrough: true)
            }
            bitmap = try decode(bytes, description)
        }
        try cancellation.check()
        let exif = options.keepsMetadata ? description.exif.map(EXIF.upright) : nil
        return try SizeSearch(options: options, codec: codec, cancellation: cancellation, exif: exif).run(bitmap)
    }

    private func read(_ source: ImageSource) throws(ImageError) -> Data {
        let limit = options.maximumInputBytes
        switch source {
        case .data(let data):
            guard data.count <= limit else { throw .tooManyBytes(maximum: limit) }
            return data
        case .file(let path):
            let data: Data?
            do throws(FileError) {
                data = try WholeFile.read(path, atMost: limit)
            } catch {
                throw .file(path: error.path, reason: error.description)
            }
            guard let data else { throw .tooManyBytes(maximum: limit) }
            return data
        }
    }

    private func describe(_ bytes: Data) throws(ImageError) -> ImageDescription {
        guard let kind = ImageKind(of: bytes) ?? (codec.readsOtherKinds ? .other : nil) else { throw .notAnImage }
        let headers = try Headers.describe(bytes, as: kind)
        var description: ImageDescription
        if let headers {
            description = headers
        } else {
            description = try codec.inspect(bytes, as: kind)
            if kind == .heic || kind == .avif { description.exif = HEIFHeaders.exif(in: bytes) }
        }
        guard description.size.width > 0, description.size.height > 0 else {
            throw .damaged(kind, reason: "it has no size")
        }
        for size in [description.size, description.codedSize ?? description.size] {
            guard size.count <= options.maximumPixels else {
                throw .tooManyPixels(size, maximum: options.maximumPixels)
            }
            guard max(size.width, size.height) <= Self.maximumSide else {
                throw .tooLong(size, maximum: Self.maximumSide)
            }
        }
        return description
    }

    private func passesThrough(_ bytes: Data, _ description: ImageDescription) -> Bool {
        options.passesThrough && description.kind.format == options.format && description.orientation == .up
            && description.isSRGB && !description.isAnimated && !description.hasOtherMetadata
            && (options.keepsMetadata || description.exif == nil)
            && description.size.width <= options.bounds.width && description.size.height <= options.bounds.height
            && bytes.count <= options.maximumBytes
    }

    /// Decodes the picture, turned upright and within the bounds.
    private func decode(_ bytes: Data, _ description: ImageDescription) throws(ImageError) -> Bitmap {
        let isTransposed = description.orientation.isTransposed
        let bounds = PixelSize(width: max(1, options.bounds.width), height: max(1, options.bounds.height))
        let size = description.size.fitted(in: isTransposed ? bounds.transposed : bounds)
        let bitmap = try codec.decode(bytes, description, to: size, cancellation)
        try cancellation.check()
        let visible = options.format.hasAlpha ? bitmap.withoutNeedlessAlpha() : bitmap.flattened(on: options.background)
        return visible.upright(description.orientation)
    }
}
