internal import CMartletImages

/// Scales a bitmap down row by row. It keeps only the source rows that the next new row needs, not the whole bitmap.
///
/// Like Image I/O and browsers, it averages encoded values, not linear light. It premultiplies alpha first, so that
/// transparent pixels do not add their color to their neighbors. libwebp, which decodes a lossy WebP to a smaller size
/// by itself, does not.
struct Reducer {
    let size: PixelSize
    let newSize: PixelSize
    let channels: Int
    private let hasAlpha: Bool
    private let across: Filter
    private let down: Filter
    /// The last `down.taps` rows, as a ring buffer.
    private let rows: RowStore
    private var sums: [Int16]
    private var rowCount = 0
    private var newRowCount = 0
    private var result: [UInt8]

    /// - Parameters:
    ///   - newSize: No larger than `size` in width or height.
    ///   - hasAlpha: Whether the last channel is alpha.
    init(from size: PixelSize, to newSize: PixelSize, channels: Int, hasAlpha: Bool) {
        precondition(newSize.width <= size.width && newSize.height <= size.height && (1...4).contains(channels))
        self.size = size
        self.newSize = newSize
        self.channels = channels
        self.hasAlpha = hasAlpha
        across = Filter(from: size.width, to: newSize.width)
        down = Filter(from: size.height, to: newSize.height)
        let isCopy = size == newSize
        rows = RowStore(count: isCopy ? 1 : down.taps, length: size.width * channels)
        sums = [Int16](repeating: 0, count: isCopy ? 0 : size.width * channels + 8)
        result = []
        result.reserveCapacity(newSize.count * channels)
    }

    /// Adds the next row, which `fill` writes. Calls after the last row have no effect.
    mutating func append<Failure: Error>(_ fill: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void) throws(Failure)
    {
        guard rowCount < size.height else { return }
        let row = rows[rowCount]
        try fill(row)
        rowCount += 1
        if size == newSize {
            result.append(contentsOf: UnsafeBufferPointer(start: row, count: rows.length))
            return
        }
        if hasAlpha { martlet_premultiply(row, size.width, channels) }
        while newRowCount < newSize.height, Int(down.starts[newRowCount]) + down.taps <= rowCount { reduce() }
    }

    /// Returns the new bitmap's bytes.
    /// - Precondition: All rows have been appended.
    consuming func finish() -> [UInt8] {
        precondition(rowCount == size.height)
        guard hasAlpha, size != newSize else { return result }
        result.withUnsafeMutableBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            martlet_unpremultiply(start, newSize.count, channels)
        }
        return result
    }

    /// Computes the next new row from the buffered rows.
    private mutating func reduce() {
        let start = Int(down.starts[newRowCount])
        let sources = (start..<start + down.taps).map { UnsafePointer(rows[$0]) }
        let length = newSize.width * channels
        down.weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            martlet_add_rows(sources, weights + newRowCount * down.taps, down.taps, &sums, rows.length)
        }
        let row = [UInt8](unsafeUninitializedCapacity: length) { row, count in
            guard let row = row.baseAddress else { return }
            martlet_narrow_row(sums, across.starts, across.weights, across.taps, channels, row, newSize.width)
            count = length
        }
        result.append(contentsOf: row)
        newRowCount += 1
    }
}

/// A ring buffer of rows.
private final class RowStore {
    let length: Int
    private let count: Int
    private let bytes: UnsafeMutablePointer<UInt8>

    init(count: Int, length: Int) {
        self.count = count
        self.length = length
        bytes = .allocate(capacity: count * length)
        bytes.initialize(repeating: 0, count: count * length)
    }

    deinit {
        bytes.deallocate()
    }

    /// The buffer for the row with this index.
    subscript(number: Int) -> UnsafeMutablePointer<UInt8> { bytes + number % count * length }
}
