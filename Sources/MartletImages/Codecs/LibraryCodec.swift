#if ImageCodecs && os(Linux)
    internal import CMartletImages
    internal import FoundationEssentials
    internal import MartletLibc

    /// Uses libjpeg-turbo, libpng, libwebp and Little CMS, and libheif if it is installed.
    struct LibraryCodec: ImageCodec {
        func inspect(_ bytes: Data, as kind: ImageKind) throws(ImageError) -> ImageDescription {
            guard kind == .heic || kind == .avif else {
                throw .unsupported(kind, advice: "Convert it to JPEG, PNG or WebP.")
            }
            var description = ImageDescription(kind: kind, size: PixelSize(width: 0, height: 0))
            description.codedSize = try HEIFHeaders.codedSize(in: bytes, as: kind)
            let codePoints = HEIFHeaders.codePoints(in: bytes)
            if codePoints != .sRGB { description.codePoints = codePoints }
            try Self.withBytes(bytes) { bytes throws(ImageError) in
                let reader = try PictureReader(kind) { martlet_inspect_heif(bytes.start, bytes.count, &$0) }
                // libheif applies the orientation itself.
                description.size = reader.size
                description.hasAlpha = reader.layout.channels == 4
                description.hasOtherMetadata = true
                description.isSRGB = false
            }
            return description
        }

        func decode(
            _ bytes: Data, _ description: ImageDescription, to size: PixelSize, _ cancellation: Cancellation
        ) throws(ImageError) -> Bitmap {
            // libwebp without libwebpdemux cannot read animations.
            let still = description.kind == .webP && description.isAnimated ? WebPHeaders.firstFrame(of: bytes) : nil
            let area = description.firstFrame?.scaled(from: description.size, to: size)
            let bitmap = try Self.withBytes(still ?? bytes) { bytes throws(ImageError) in
                var description = description
                if let frame = description.firstFrame { description.size = frame.size }
                let reader = try Self.open(bytes, description, for: area?.size ?? size)
                return try reader.bitmap(of: area?.size ?? size, description, cancellation)
            }
            guard let area, bitmap.size == area.size else { return bitmap }
            return bitmap.placed(in: area, of: size)
        }

        private static func open(
            _ bytes: Bytes, _ description: ImageDescription, for size: PixelSize
        ) throws(ImageError) -> PictureReader {
            let (start, count) = (bytes.start, bytes.count)
            let allowed = martlet_size(description.size)
            switch description.kind {
            case .jpeg:
                let eighths = JPEGScale.eighths(from: description.size, to: size)
                return try PictureReader(.jpeg) { martlet_open_jpeg(start, count, allowed, eighths, &$0) }
            case .png:
                return try PictureReader(.png) { martlet_open_png(start, count, allowed, &$0) }
            case .webP:
                // libwebp scales with a plain average. Let it scale to twice the size, and use our filter for the rest.
                let wanted = martlet_size(
                    width: min(allowed.width, size.width * 2), height: min(allowed.height, size.height * 2))
                return try PictureReader(.webP) { martlet_open_webp(start, count, allowed, wanted, &$0) }
            case .heic, .avif:
                let coded = martlet_size(description.codedSize ?? description.size)
                return try PictureReader(description.kind) { martlet_open_heif(start, count, allowed, coded, &$0) }
            default:
                throw .unsupported(description.kind, advice: "Convert it to JPEG, PNG or WebP.")
            }
        }

        func encode(_ bitmap: Bitmap, as format: ImageFormat, quality: Int) throws(ImageError) -> Data {
            // libwebp has no grey format.
            let bitmap = format == .webP ? bitmap.withColor() : bitmap
            var problem = martlet_problem()
            var block: UnsafeMutablePointer<UInt8>?
            var length = 0
            let (width, height, channels) = (bitmap.size.width, bitmap.size.height, bitmap.layout.channels)
            let quality = Int32(quality)
            let status = bitmap.pixels.withUnsafeBufferPointer { pixels in
                guard let pixels = pixels.baseAddress else { return martlet_status.unsupported }
                return switch format {
                case .jpeg: martlet_write_jpeg(pixels, width, height, channels, quality, &block, &length, &problem)
                case .png: martlet_write_png(pixels, width, height, channels, &block, &length, &problem)
                case .webP: martlet_write_webp(pixels, width, height, channels, quality, &block, &length, &problem)
                }
            }
            guard status == .good, let block else { throw .failed(reason: problem.text) }
            return Data(bytesNoCopy: block, count: length, deallocator: .free)
        }

        /// Bytes at an address that stays valid.
        private struct Bytes {
            let start: UnsafePointer<UInt8>
            let count: Int
        }

        private static func withBytes<Value>(
            _ data: Data, _ body: (Bytes) throws(ImageError) -> Value
        ) throws(ImageError) -> Value {
            // `Data.withUnsafeBytes` erases typed throws.
            let result: Result<Value, ImageError> = data.withUnsafeBytes { buffer in
                guard let start = buffer.assumingMemoryBound(to: UInt8.self).baseAddress else {
                    return .failure(.notAnImage)
                }
                return Result { () throws(ImageError) -> Value in try body(Bytes(start: start, count: buffer.count)) }
            }
            return try result.get()
        }
    }

    /// The scale at which libjpeg decodes.
    enum JPEGScale {
        /// The smallest of 1/8, 1/4, 1/2 and 1 that yields at least 1.5 times the wanted width and height. libjpeg
        /// averages over squares, which would be visible without a final filter step.
        static func eighths(from size: PixelSize, to newSize: PixelSize) -> UInt32 {
            for eighths in [1, 2, 4] {
                let width = (size.width * eighths + 7) / 8
                let height = (size.height * eighths + 7) / 8
                if width * 2 >= newSize.width * 3, height * 2 >= newSize.height * 3 { return UInt32(eighths) }
            }
            return 8
        }
    }

    extension martlet_size {
        fileprivate init(_ size: PixelSize) {
            self.init(width: size.width, height: size.height)
        }
    }

    extension martlet_problem {
        /// The library's description of the problem.
        var text: String {
            withUnsafeBytes(of: reason) { String(decoding: $0.prefix(while: { $0 != 0 }), as: UTF8.self) }
        }
    }
#endif
