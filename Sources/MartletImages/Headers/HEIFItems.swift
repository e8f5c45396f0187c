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
        /// What it is coded as: `hvc1` for HEVC; `jpeg` also where its media type says so.
        let type: String
    }

    let items: [Item]
    /// What is said of pictures (ISO/IEC 23008-12, section 6.5), of whichever of them.
    let properties: [HEIFBox]
    /// The picture that the file is about; `nil` where it does not say for certain.
    let primary: Int?

    /// Which item has which of the properties.
    private let associations: [ByteView]
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

        /// - Returns: `nil` for sizes of numbers that no standard allows, or that libheif's versions do not agree about: up to
        ///   1.15, version 1 of the table has no indices for it.
        init?(_ first: Int, _ second: Int, version: UInt8) {
            offset = first >> 4
            length = first & 15
            base = second >> 4
            index = version == 0 ? 0 : second & 15
            guard [offset, length, base, index].allSatisfy({ [0, 4, 8].contains($0) }), index == 0 || version == 2
            else {
                return nil
            }
        }
    }

    /// - Returns: `nil` where the items cannot be told, or not for certain: one of the tables is there twice, or a box that
    ///   comes before all of them.
    init?(_ file: ByteView) {
        guard let top = HEIFBox.all(in: file), !top.contains(where: { $0.name == "mini" }),
            let meta = Self.only("meta", of: top), let boxes = HEIFBox.all(in: meta.part(from: 4)),
            let items = Self.items(in: boxes), let properties = Self.properties(in: boxes),
            let table = Self.only("iloc", of: boxes), boxes.count(where: { $0.name == "idat" }) <= 1
        else { return nil }
        self.file = file
        self.items = items
        self.properties = properties.all
        associations = properties.associations
        primary = Self.only("pitm", of: boxes).flatMap { $0.number(at: 4, bytes: $0[0] == 0 ? 2 : 4) }
        inside = Self.only("idat", of: boxes)
        guard readPlaces(table) else { return nil }
    }

    private static func only(_ name: String, of boxes: [HEIFBox]) -> ByteView? {
        let found = boxes.filter { $0.name == name }
        return found.count == 1 ? found[0].content : nil
    }

    private static func items(in boxes: [HEIFBox]) -> [Item]? {
        guard let infos = only("iinf", of: boxes), let version = infos[0],
            let entries = HEIFBox.all(in: infos.part(from: version == 0 ? 6 : 8))
        else { return nil }
        var result: [Item] = []
        // Older versions have no types: theirs are no pictures.
        for entry in entries where entry.name == "infe" && entry.content[0] ?? 0 >= 2 {
            guard let item = item(entry.content) else { return nil }
            result.append(item)
        }
        return result
    }

    private static func item(_ content: ByteView) -> Item? {
        var reader = Reader(bytes: content, place: 4)
        guard let number = reader.next(content[0] == 2 ? 2 : 4), reader.next(2) != nil,
            let type = content.name(at: reader.place)
        else { return nil }
        guard type == "mime" else { return Item(number: number, type: type) }
        // Behind its name.
        var place = reader.place + 4
        while let byte = content[place], byte != 0 { place += 1 }
        let isJPEG = content.has("image/jpeg", at: place + 1) && content[place + 11] ?? 0 == 0
        return Item(number: number, type: isJPEG ? "jpeg" : type)
    }

    private static func properties(in boxes: [HEIFBox]) -> (all: [HEIFBox], associations: [ByteView])? {
        guard boxes.contains(where: { $0.name == "iprp" }) else { return ([], []) }
        guard let table = only("iprp", of: boxes), let parts = HEIFBox.all(in: table),
            let container = only("ipco", of: parts), let properties = HEIFBox.all(in: container)
        else { return nil }
        return (properties, parts.filter { $0.name == "ipma" }.map(\.content))
    }

    private mutating func readPlaces(_ table: ByteView) -> Bool {
        guard let version = table[0], version <= 2 else { return false }
        var reader = Reader(bytes: table, place: 4)
        guard let first = reader.next(1), let second = reader.next(1),
            let sizes = Sizes(first, second, version: version)
        else { return false }
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

    /// What is said of an item (ISO/IEC 23008-12, section 9.3.2): nothing where that cannot be told.
    func properties(of number: Int) -> [HEIFBox] {
        for table in associations {
            if let found = properties(of: number, in: table) { return found }
        }
        return []
    }

    private func properties(of number: Int, in table: ByteView) -> [HEIFBox]? {
        guard let version = table[0], let flags = table[3] else { return nil }
        var reader = Reader(bytes: table, place: 4)
        guard let count = reader.next(4), count <= HEIFBox.maximumCount else { return nil }
        // With a bit before the number that says whether who does not know the property may go on.
        let (size, mask) = flags & 1 == 0 ? (1, 0x7F) : (2, 0x7FFF)
        for _ in 0..<count {
            guard let item = reader.next(version == 0 ? 2 : 4), let count = reader.next(1) else { return nil }
            guard item == number else {
                reader.place += count * size
                continue
            }
            return (0..<count).compactMap { _ in
                // Counted from 1; 0 is none.
                guard let index = reader.next(size).map({ ($0 & mask) - 1 }), properties.indices.contains(index) else {
                    return nil
                }
                return properties[index]
            }
        }
        return nil
    }

    /// The bytes of an item; none where it has no place.
    /// - Returns: `nil` where they are more than wanted, or not all in this file, or nobody can tell where they are: whether a
    ///   part without a length is all the rest or nothing, libraries do not agree.
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
            guard !overflows, start <= source.count, length > 0, length <= source.count - start,
                length <= limit - result.count
            else { return nil }
            result += source.part(from: start, count: length).data
        }
        return result
    }

    /// Reads one number after the other.
    private struct Reader {
        let bytes: ByteView
        var place: Int

        /// The next number of so many bytes, at most eight; 0 of none.
        /// - Returns: `nil` also for one that is not read as it stands there: two of them would be the same.
        mutating func next(_ length: Int) -> Int? {
            guard let number = bytes.number(at: place, bytes: length), number < Int(Int32.max) else { return nil }
            place += length
            return number
        }
    }
}
