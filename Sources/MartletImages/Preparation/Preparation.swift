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

    /// A picture on its way to the encoder.
    private enum Loaded {
        case unchanged(PreparedImage)
        case pixels(Bitmap, exif: Data?)
    }

    func run(_ source: ImageSource) throws(ImageError) -> PreparedImage {
        switch try load(source) {
        case .unchanged(let image): return image
        case .pixels(let bitmap, let exif):
            try cancellation.check()
            let kept = options.keepsMetadata ? exif.map(EXIF.upright) : nil
            return try SizeSearch(options: options, codec: codec, cancellation: cancellation, exif: kept).run(bitmap)
        }
    }

    /// Reads and decodes the picture. The bytes of its file are released before encoding starts.
    private func load(_ source: ImageSource) throws(ImageError) -> Loaded {
        let bytes: Data
        switch source {
        case .decoded(let image):
            try check(image.storedSize)
            let bitmap = try decodeUpright(image.storedSize, image.orientation) { size throws(ImageError) in
                try image.bitmap(of: size, cancellation)
            }
            return .pixels(bitmap, exif: nil)
        case .data(let data): bytes = data
        case .file(let path): bytes = try read(path)
        }
        guard bytes.count <= options.maximumInputBytes else { throw .tooManyBytes(maximum: options.maximumInputBytes) }
        try cancellation.check()
        let description = try describe(bytes)
        if passesThrough(bytes, description) {
            return .unchanged(
                PreparedImage(
                    data: bytes, format: options.format, size: description.size, quality: nil, passedThrough: true))
        }
        let bitmap = try decodeUpright(description.size, description.orientation) { size throws(ImageError) in
            try codec.decode(bytes, description, to: size, cancellation)
        }
        return .pixels(bitmap, exif: description.exif)
    }

    private func read(_ path: String) throws(ImageError) -> Data {
        let limit = options.maximumInputBytes
        let data: Data?
        do throws(FileError) {
            data = try WholeFile.read(path, atMost: limit)
        } catch {
            throw .file(path: error.path, reason: error.description)
        }
        guard let data else { throw .tooManyBytes(maximum: limit) }
        return data
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
        for size in [description.size, description.codedSize ?? description.size] { try check(size) }
        return description
    }

    private func check(_ size: PixelSize) throws(ImageError) {
        guard size.count <= options.maximumPixels else {
            throw .tooManyPixels(size, maximum: options.maximumPixels)
        }
        guard max(size.width, size.height) <= Self.maximumSide else {
            throw .tooLong(size, maximum: Self.maximumSide)
        }
    }

    private func passesThrough(_ bytes: Data, _ description: ImageDescription) -> Bool {
        options.passesThrough && description.kind.format == options.format && description.orientation == .up
            && description.isSRGB && !description.isAnimated && !description.hasOtherMetadata
            && (options.keepsMetadata || description.exif == nil)
            && description.size.width <= options.bounds.width && description.size.height <= options.bounds.height
            && bytes.count <= options.maximumBytes
    }

    /// Decodes a picture, scales it to fit the bounds and turns it upright.
    private func decodeUpright(
        _ stored: PixelSize, _ orientation: Orientation, decode: (PixelSize) throws(ImageError) -> Bitmap
    ) throws(ImageError) -> Bitmap {
        let bounds = PixelSize(width: max(1, options.bounds.width), height: max(1, options.bounds.height))
        let bitmap = try decode(stored.fitted(in: orientation.isTransposed ? bounds.transposed : bounds))
        try cancellation.check()
        let visible = options.format.hasAlpha ? bitmap.withoutNeedlessAlpha() : bitmap.flattened(on: options.background)
        return visible.upright(orientation)
    }
}
