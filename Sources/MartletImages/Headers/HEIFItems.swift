#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One of the boxes that HEIF files are made of (ISO/IEC 14496-12, section 4.2).
struct HEIFBox {
    let name: String
    let content: ByteView

    /// More boxes, items, and parts of an item than any picture has would take memory and time for nothing.
    static let maximumCount = 20_000

    /// All boxes one after the other, the last one cut off where it goes beyond the end.
    /// - Returns: `nil` where they are not built as boxes are.
    static func all(in bytes: ByteView) -> [HEIFBox]? {
        var result: [HEIFBox] = []
        var place = 0
        while let short = bytes.number(at: place, bytes: 4), let name = bytes.name(at: place + 4) {
            var (head, size) = (8, short)
            if short == 1 {
                // The size itself does not fit into four bytes.
                guard let large = bytes.number(at: place + 8, bytes: 8) else { return nil }
                (head, size) = (16, large)
            } else if short == 0 {
                size = bytes.count - place
            }
            guard size >= head, result.count < maximumCount else { return nil }
            result.append(HEIFBox(name: name, content: bytes.part(from: place + head, count: size - head)))
            // Beyond the end there is nothing more to be read; a sum could go beyond what an integer holds.
            guard size <= bytes.count - place else { break }
            place += size
        }
        return result
    }
}

/// The items of a HEIF file: pictures, their parts, and metadata (ISO/IEC 14496-12, section 8.11).
struct HEIFItems {
    struct Item {
        let number: Int
        /// What it is coded as: `hvc1` for HEVC.
        let type: String
    }

    let items: [Item]
    /// What is said of pictures (ISO/IEC 23008-12, section 6.5), of whichever of them.
    let properties: [HEIFBox]

    private let file: ByteView
    private let inside: ByteView?
    private var places: [Int: Place] = [:]

    /// Where an item's parts are listed.
    private struct Place {
        let isInFile: Bool
        let base: Int
        let count: Int
        /// Stands before the first part.
        let reader: Reader
        let sizes: Sizes
    }

    private struct Sizes {
        let offset: Int
        let length: Int
        let base: Int
        let index: Int

        var part: Int { offset + length + index }
    }

    /// - Returns: `nil` where the items cannot be told, or not for certain: one of the tables is there twice.
    init?(_ file: ByteView) {
        guard let top = HEIFBox.all(in: file), let meta = Self.only("meta", of: top),
            let boxes = HEIFBox.all(in: meta.part(from: 4)), let infos = Self.only("iinf", of: boxes),
            let version = infos[0], let entries = HEIFBox.all(in: infos.part(from: version == 0 ? 6 : 8)),
            let table = Self.only("iloc", of: boxes), boxes.count(where: { $0.name == "idat" }) <= 1
        else { return nil }
        self.file = file
        items = entries.compactMap(Self.item)
        inside = Self.only("idat", of: boxes)
        properties = boxes.filter { $0.name == "iprp" }.flatMap { HEIFBox.all(in: $0.content) ?? [] }
            .filter { $0.name == "ipco" }.flatMap { HEIFBox.all(in: $0.content) ?? [] }
        guard readPlaces(table) else { return nil }
    }

    private static func only(_ name: String, of boxes: [HEIFBox]) -> ByteView? {
        let found = boxes.filter { $0.name == name }
        return found.count == 1 ? found[0].content : nil
    }

    private static func item(_ box: HEIFBox) -> Item? {
        guard box.name == "infe", let version = box.content[0], version >= 2 else { return nil }
        let length = version == 2 ? 2 : 4
        guard let number = box.content.number(at: 4, bytes: length), let type = box.content.name(at: 4 + length + 2)
        else { return nil }
        return Item(number: number, type: type)
    }

    private mutating func readPlaces(_ table: ByteView) -> Bool {
        guard let version = table[0], version <= 2 else { return false }
        var reader = Reader(bytes: table, place: 4)
        guard let first = reader.next(1), let second = reader.next(1) else { return false }
        let sizes = Sizes(
            offset: first >> 4, length: first & 15, base: second >> 4, index: version == 0 ? 0 : second & 15)
        let numberSize = version == 2 ? 4 : 2
        guard let count = reader.next(numberSize), count <= HEIFBox.maximumCount else { return false }
        for _ in 0..<count {
            guard let number = reader.next(numberSize), let method = version == 0 ? 0 : reader.next(2),
                reader.next(2) != nil, let base = reader.next(sizes.base), let count = reader.next(2)
            else { return false }
            // Derived from other items is 2, and no library reads that.
            if places[number] == nil, method & 15 <= 1 {
                places[number] = Place(
                    isInFile: method & 15 == 0, base: base, count: count, reader: reader, sizes: sizes)
            }
            reader.place += count * sizes.part
        }
        return true
    }

    /// The bytes of an item, as far as they are in this file; none where it has no place.
    /// - Returns: `nil` where they are more than wanted, or nobody can tell where they are.
    func bytes(of number: Int, atMost limit: Int) -> Data? {
        guard let place = places[number] else { return Data() }
        // In the file, or in what the table's box holds.
        guard let source = place.isInFile ? file : inside, place.count <= 256 else { return nil }
        var reader = place.reader
        var result = Data()
        for _ in 0..<place.count {
            guard reader.next(place.sizes.index) != nil, let offset = reader.next(place.sizes.offset),
                let length = reader.next(place.sizes.length)
            else { return nil }
            let (start, overflows) = place.base.addingReportingOverflow(offset)
            guard !overflows else { return nil }
            let rest = source.part(from: start)
            let part = rest.part(from: 0, count: length == 0 ? rest.count : length)
            guard part.count <= limit - result.count else { return nil }
            result += part.data
        }
        return result
    }

    /// Reads one number after the other.
    private struct Reader {
        let bytes: ByteView
        var place: Int

        /// The next number of so many bytes, at most eight; 0 of none.
        mutating func next(_ length: Int) -> Int? {
            guard length <= 8, let number = bytes.number(at: place, bytes: length) else { return nil }
            place += length
            return number
        }
    }
}
