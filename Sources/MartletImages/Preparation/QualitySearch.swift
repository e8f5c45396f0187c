/// Finds the best quality that keeps the file within a byte limit, encoding as few times as possible.
///
/// It tries the best quality first, which nearly always fits. Then it interpolates between known sizes with the typical
/// size curve of photographs. After three steps that rule out fewer than half of the remaining qualities, it bisects.
struct QualitySearch<Encoded> {
    /// Encodes with a quality, and returns the result and its size in bytes.
    typealias Encode = (_ quality: Int) throws(ImageError) -> (value: Encoded, size: Int)

    /// - Returns: The best quality that fits. If even the lowest quality does not fit, the lowest.
    static func run(
        _ qualities: ClosedRange<Int>, limit: Int, _ encode: Encode
    ) throws(ImageError) -> (quality: Int, value: Encoded, size: Int) {
        let best = try encode(qualities.upperBound)
        if best.size <= limit || qualities.count == 1 { return (qualities.upperBound, best.value, best.size) }
        var tooLarge = (quality: qualities.upperBound, size: best.size)
        var fitting: (quality: Int, value: Encoded, size: Int)?
        var slowSteps = 0
        while true {
            let floor = fitting?.quality ?? qualities.lowerBound - 1
            let width = tooLarge.quality - floor
            guard width > 1 else { break }
            let estimate = estimate(limit, fitting.map { ($0.quality, $0.size) }, tooLarge)
            let middle = floor + width / 2
            let quality = slowSteps >= 3 ? middle : min(max(estimate, floor + 1), tooLarge.quality - 1)
            let attempt = try encode(quality)
            if attempt.size <= limit {
                fitting = (quality, attempt.value, attempt.size)
            } else if quality == qualities.lowerBound {
                return (quality, attempt.value, attempt.size)
            } else {
                tooLarge = (quality, attempt.size)
            }
            let newWidth = tooLarge.quality - (fitting?.quality ?? qualities.lowerBound - 1)
            if newWidth > max(2, width / 2) { slowSteps += 1 }
        }
        // The loop ends when the bracket has a width of 1. Its lower end fits, because a lowest quality that does not
        // fit returns above.
        guard let fitting else { throw .failed(reason: "no quality was tried") }
        return fitting
    }

    /// Estimates the best quality that fits.
    private static func estimate(
        _ limit: Int, _ fitting: (quality: Int, size: Int)?, _ tooLarge: (quality: Int, size: Int)
    ) -> Int {
        let wanted = Double(limit)
        let high = shape(tooLarge.quality)
        guard let fitting, fitting.size < tooLarge.size else {
            // Aim slightly below the limit, because no smaller size is known yet.
            let target = wanted * 0.98 / Double(tooLarge.size) * high
            return (1..<tooLarge.quality).last { shape($0) <= target } ?? 1
        }
        let low = shape(fitting.quality)
        let share = (wanted - Double(fitting.size)) / Double(tooLarge.size - fitting.size)
        let target = low + share * (high - low)
        return (fitting.quality..<tooLarge.quality).last { shape($0) <= target } ?? fitting.quality
    }

    /// The typical size of a photograph at a quality, relative to its size at quality 80.
    private static func shape(_ quality: Int) -> Double {
        let sizes = [0.06, 0.18, 0.29, 0.38, 0.46, 0.54, 0.63, 0.76, 1.0, 1.55, 3.6]
        let step = min(max(quality, 0), 99)
        let lower = sizes[step / 10]
        return lower + (sizes[step / 10 + 1] - lower) * Double(step % 10) / 10
    }
}
