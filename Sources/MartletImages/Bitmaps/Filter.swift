/// The weights of a Lanczos filter with three lobes that reduces the number of pixels along one axis.
///
/// The filter grows with the reduction, so that patterns finer than the new pixels become grey instead of aliasing.
struct Filter {
    /// The sum of the weights of a new pixel.
    static let unit = 16384

    /// The number of source pixels for each new pixel.
    let taps: Int
    /// The index of the first source pixel, for each new pixel.
    let starts: [Int32]
    /// `taps` weights for each new pixel. They add up to ``unit``.
    let weights: [Int16]

    /// - Parameters:
    ///   - count: The number of source pixels.
    ///   - newCount: The number of new pixels, from 1 to `count`.
    init(from count: Int, to newCount: Int) {
        let scale = Double(count) / Double(newCount)
        let radius = 3 * scale
        // All pixel centers within the lobes, rounded up to an even number, because they are added in pairs.
        let taps = min(count, (Int(radius * 2) + 2) / 2 * 2)
        var starts: [Int32] = []
        var weights: [Int16] = []
        starts.reserveCapacity(newCount)
        weights.reserveCapacity(newCount * taps)
        var exact = [Double](repeating: 0, count: taps)
        for pixel in 0..<newCount {
            let centre = (Double(pixel) + 0.5) * scale
            let start = min(max(0, Int(centre - radius + 0.5)), count - taps)
            var sum = 0.0
            for tap in 0..<taps {
                exact[tap] = Self.lanczos((Double(start + tap) + 0.5 - centre) / scale)
                sum += exact[tap]
            }
            starts.append(Int32(start))
            Self.append(exact, sum: sum, to: &weights)
        }
        self.taps = taps
        self.starts = starts
        self.weights = weights
    }

    /// Appends integer weights that add up exactly to the unit, so that an area of one color does not change.
    private static func append(_ exact: [Double], sum: Double, to weights: inout [Int16]) {
        let first = weights.count
        var rest = unit
        var largest = 0
        for (tap, weight) in exact.enumerated() {
            let rounded = Int((weight / sum * Double(unit)).rounded())
            rest -= rounded
            if weight > exact[largest] { largest = tap }
            weights.append(Int16(rounded))
        }
        weights[first + largest] += Int16(rest)
    }

    private static func lanczos(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        guard abs(x) < 3 else { return 0 }
        return 3 * sineOfPi(x) * sineOfPi(x / 3) / (Double.pi * Double.pi * x * x)
    }

    /// `sin(πx)` by its Taylor series. Unlike C's `sin`, additions and multiplications give the same bits on every
    /// platform.
    private static func sineOfPi(_ x: Double) -> Double {
        let whole = x.rounded()
        let angle = (x - whole) * Double.pi
        let square = angle * angle
        // The reciprocal factorials of 17, 15, 13 and so on, which are exact enough for angles up to π/2.
        var sum = 2.8114572543455206e-15
        sum = -7.647163731819816e-13 + square * sum
        sum = 1.6059043836821613e-10 + square * sum
        sum = -2.505210838544172e-08 + square * sum
        sum = 2.7557319223985893e-06 + square * sum
        sum = -0.0001984126984126984 + square * sum
        sum = 0.008333333333333333 + square * sum
        sum = -0.16666666666666666 + square * sum
        sum = angle + angle * square * sum
        return Int(whole) % 2 == 0 ? sum : -sum
    }
}
