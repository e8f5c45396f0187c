internal import CMartletImages

/// Makes a smaller bitmap of rows while they come: of the large one there are never more than the few rows that one new row is
/// made of.
///
/// Pixels are averaged as they are encoded and not by light, as ImageIO and browsers do. Alpha is multiplied in meanwhile, so
/// that what is transparent lends its colour to nothing.
struct Reducer {
    let size: PixelSize
    let newSize: PixelSize
    let channels: Int
    private let hasAlpha: Bool
    private let across: Filter
    private let down: Filter
    /// The last `down.taps` rows, each in the place of its number modulo that many.
    private let rows: RowStore
    private var sums: [Int16]
    private var rowCount = 0
    private var newRowCount = 0
    private var result: [UInt8]

    /// - Parameters:
    ///   - newSize: No larger than `size` in either direction.
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

    /// Takes the next row, which `fill` writes; calls after the last row are ignored.
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

    /// The new bitmap's bytes, once all rows were appended.
    consuming func finish() -> [UInt8] {
        precondition(rowCount == size.height)
        guard hasAlpha, size != newSize else { return result }
        result.withUnsafeMutableBufferPointer { pixels in
            guard let start = pixels.baseAddress else { return }
            martlet_unpremultiply(start, newSize.count, channels)
        }
        return result
    }

    /// Makes the next new row of the rows that are there.
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

/// Room for some rows, used in turn.
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

    /// The room for the row with this number.
    subscript(number: Int) -> UnsafeMutablePointer<UInt8> { bytes + number % count * length }
}
