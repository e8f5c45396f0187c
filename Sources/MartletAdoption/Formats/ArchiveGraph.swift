/// The references between the objects of an archive, checked once before any of them is read.
///
/// Refuses archives that no encoder writes or that would be expensive to read: objects that contain themselves, deep
/// nesting, overlapping objects, and shared objects that make the archive too large when each use is counted. After the
/// check, a reader may read any part once without a limit of its own.
struct ArchiveGraph {
    /// An object whose elements are being checked.
    private struct Frame {
        var object: Int
        var elements: [Int]
        var next = 0
        var size: Int
        var height = 1
    }

    /// The result for an object: its size with all elements, and the number of levels below it.
    private struct Measure {
        var size: Int
        var height: Int
    }

    /// An `OIDAuthState` has about 20 levels; its discovery document adds three for each level of JSON.
    private static let largestHeight = 128
    private static let largestSize = 32 << 20

    private let list: BinaryPropertyList
    private let objects: [Int]
    private var measures: [Measure?]
    private var isOpen: [Bool]
    private var frames: [Frame] = []
    /// The bytes of the archive that no object has claimed yet.
    private var unclaimed: Int

    init(_ list: BinaryPropertyList, objects: [Int]) {
        self.list = list
        self.objects = objects
        measures = Array(repeating: nil, count: list.count)
        isOpen = Array(repeating: false, count: list.count)
        unclaimed = list.length
    }

    consuming func check() throws(RecordProblem) {
        try open(list.top)
        while let frame = frames.last {
            guard frame.next < frame.elements.count else {
                try close(frame)
                continue
            }
            frames[frames.count - 1].next += 1
            try visit(frame.elements[frame.next])
        }
    }

    private mutating func visit(_ object: Int) throws(RecordProblem) {
        guard object < list.count else { throw .damaged("an object refers to a missing one") }
        if isOpen[object] { throw .damaged("an object of the archive contains itself") }
        if let measure = measures[object] { return try add(measure) }
        try open(object)
    }

    private mutating func open(_ object: Int) throws(RecordProblem) {
        let size = try list.size(at: object)
        unclaimed -= size
        guard unclaimed >= 0 else { throw .damaged("objects of the archive overlap") }
        guard frames.count < Self.largestHeight else { throw .damaged("the archive is nested too deeply") }
        isOpen[object] = true
        frames.append(Frame(object: object, elements: try elements(of: object), size: size))
    }

    private mutating func close(_ frame: Frame) throws(RecordProblem) {
        frames.removeLast()
        isOpen[frame.object] = false
        let measure = Measure(size: frame.size, height: frame.height)
        measures[frame.object] = measure
        if !frames.isEmpty { try add(measure) }
    }

    /// Adds an element to the innermost open object.
    private mutating func add(_ measure: Measure) throws(RecordProblem) {
        let last = frames.count - 1
        frames[last].size += measure.size
        frames[last].height = max(frames[last].height, measure.height + 1)
        guard frames[last].height <= Self.largestHeight else { throw .damaged("the archive is nested too deeply") }
        guard frames[last].size <= Self.largestSize else {
            throw .damaged("the archive repeats its objects without limit")
        }
    }

    private func elements(of object: Int) throws(RecordProblem) -> [Int] {
        switch try list.value(at: object) {
        case .array(let elements): return elements
        case .dictionary(let pairs): return pairs.flatMap { [$0.key, $0.value] }
        case .uid(let uid):
            if uid == 0 { return [] }
            guard uid < objects.count else { throw .damaged("an object refers to a missing one") }
            return [objects[uid]]
        default: return []
        }
    }
}
