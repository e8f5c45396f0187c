/// The weights that make fewer pixels of many along one axis: Lanczos with three lobes, as wide as the reduction wants, so that
/// patterns finer than the new pixels become grey instead of other patterns.
struct Filter {
    /// What weights add up to.
    static let unit = 16384

    /// How many pixels each new one is made of.
    let taps: Int
    /// The first of them, for each new pixel.
    let starts: [Int32]
    /// `taps` for each new pixel; they add up to ``unit``.
    let weights: [Int16]

    /// - Parameters:
    ///   - count: How many pixels there are.
    ///   - newCount: How many there shall be: at least 1, and no more than `count`.
    init(from count: Int, to newCount: Int) {
        let scale = Double(count) / Double(newCount)
        let radius = 3 * scale
        // As many centres as lie within the lobes; an even number, as they are added up in pairs.
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

    /// Appends weights as whole numbers that add up to the unit: an even area stays as it is.
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

    /// `sin(πx)` by its series: additions and multiplications give the same bits everywhere, which C's `sin` does not promise.
    private static func sineOfPi(_ x: Double) -> Double {
        let whole = x.rounded()
        let angle = (x - whole) * Double.pi
        let square = angle * angle
        // One over the factorials of 17, 15, 13 and so on: as exact as needed for angles up to a quarter of the circle.
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
