/// Width and height of a picture, in pixels.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// `1024 x 768`.
    public var description: String { "\(width) x \(height)" }

    /// The number of pixels; `Int.max` if the product overflows.
    var count: Int {
        let (count, overflowed) = width.multipliedReportingOverflow(by: height)
        return overflowed ? .max : count
    }

    static let zero = PixelSize(width: 0, height: 0)

    /// Returns the size with more pixels.
    func orLarger(_ other: PixelSize) -> PixelSize { other.count > count ? other : self }

    var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// Returns the largest size with the same aspect ratio within the bounds: never larger than this size, and at least
    /// 1 x 1.
    func fitted(in bounds: PixelSize) -> PixelSize {
        guard width > bounds.width || height > bounds.height else { return self }
        // Compare full-width integer products: floating point could be off by one.
        let widthBound = width.multipliedFullWidth(by: bounds.height)
        let heightBound = height.multipliedFullWidth(by: bounds.width)
        if (widthBound.high, widthBound.low) >= (heightBound.high, heightBound.low) {
            return PixelSize(width: bounds.width, height: Self.scaled(height, by: bounds.width, over: width))
        }
        return PixelSize(width: Self.scaled(width, by: bounds.height, over: height), height: bounds.height)
    }

    /// Rounds to the nearest integer, and at least to 1.
    private static func scaled(_ length: Int, by numerator: Int, over denominator: Int) -> Int {
        max(1, Int((Double(length) * Double(numerator) / Double(denominator)).rounded()))
    }
}
