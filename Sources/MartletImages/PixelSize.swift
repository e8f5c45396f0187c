/// Width and height of a picture, in pixels.
public struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    /// Pixels from left to right.
    public var width: Int
    /// Pixels from top to bottom.
    public var height: Int

    /// A size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// `1024 x 768`.
    public var description: String { "\(width) x \(height)" }

    /// How many pixels that is; as many as an `Int` can say where there are more.
    var count: Int {
        let (count, overflowed) = width.multipliedReportingOverflow(by: height)
        return overflowed ? .max : count
    }

    static let zero = PixelSize(width: 0, height: 0)

    /// The one of both that has more pixels.
    func orLarger(_ other: PixelSize) -> PixelSize { other.count > count ? other : self }

    /// The picture lying on its side.
    var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// The largest size of the same shape within the bounds; never larger than this one, never without a pixel.
    func fitted(in bounds: PixelSize) -> PixelSize {
        guard width > bounds.width || height > bounds.height else { return self }
        // By whole numbers: the same on every machine. Full width, for floating point could be off by one there.
        let widthBound = width.multipliedFullWidth(by: bounds.height)
        let heightBound = height.multipliedFullWidth(by: bounds.width)
        if (widthBound.high, widthBound.low) >= (heightBound.high, heightBound.low) {
            return PixelSize(width: bounds.width, height: Self.scaled(height, by: bounds.width, over: width))
        }
        return PixelSize(width: Self.scaled(width, by: bounds.height, over: height), height: bounds.height)
    }

    /// Rounded to the nearest, and at least one.
    private static func scaled(_ length: Int, by numerator: Int, over denominator: Int) -> Int {
        max(1, Int((Double(length) * Double(numerator) / Double(denominator)).rounded()))
    }
}
