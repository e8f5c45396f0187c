#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Encodes a bitmap within a byte limit: reduces the quality first, and then the size in pixels.
struct SizeSearch {
    let options: ImageProcessor.Options
    let codec: any ImageCodec
    let cancellation: Cancellation
    /// The EXIF metadata to insert into the file.
    let exif: Data?

    func run(_ original: Bitmap) throws(ImageError) -> PreparedImage {
        let exif = exif.flatMap { Metadata.cost(of: $0, in: options.format) == nil ? nil : $0 }
        let limit = options.maximumBytes - (exif.flatMap { Metadata.cost(of: $0, in: options.format) } ?? 0)
        var bitmap = original
        while true {
            let (quality, file, size) = try search(bitmap, limit)
            if size <= limit {
                let whole = exif.map { Metadata.insert($0, into: file, options.format, bitmap.size) } ?? file
                return PreparedImage(
                    data: whole, format: options.format, size: bitmap.size,
                    quality: options.format.isLossy ? Double(quality) / 100 : nil, passedThrough: false)
            }
            guard bitmap.size.count > 1, limit > 0 else { throw .cannotFit(maximumBytes: options.maximumBytes) }
            // Scale the original again, so that the result is filtered only once.
            bitmap = try original.reduced(to: smaller(bitmap.size, by: Double(limit) / Double(size)), cancellation)
        }
    }

    private func search(
        _ bitmap: Bitmap, _ limit: Int
    ) throws(ImageError) -> (quality: Int, value: Data, size: Int) {
        let range = options.format.isLossy ? percent(options.quality) : 100...100
        return try QualitySearch.run(range, limit: limit) { quality throws(ImageError) in
            try cancellation.check()
            let file = try codec.encode(bitmap, as: options.format, quality: quality)
            return (file, file.count)
        }
    }

    /// Estimates the size whose file is 10% below the limit, assuming that bytes are proportional to pixels.
    private func smaller(_ size: PixelSize, by share: Double) -> PixelSize {
        let factor = min(0.9, max(0.1, (share * 0.9).squareRoot()))
        return PixelSize(
            width: max(1, Int(Double(size.width) * factor)), height: max(1, Int(Double(size.height) * factor)))
    }

    private func percent(_ range: ClosedRange<Double>) -> ClosedRange<Int> {
        let whole = { (quality: Double) in quality.isNaN ? 1 : Int((min(max(quality, 0.01), 1) * 100).rounded()) }
        return whole(range.lowerBound)...max(whole(range.lowerBound), whole(range.upperBound))
    }
}
