#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A box of a HEIF file (ISO/IEC 14496-12, section 4.2).
struct HEIFBox {
    let name: String
    let content: ByteView

    /// The maximum number of boxes, items, and parts of an item, to limit memory and time for malicious files.
    static let maximumCount = 20_000

    /// Reads consecutive boxes. The last one is truncated if it extends beyond the end.
    /// - Returns: `nil` if the structure is invalid.
    static func all(in bytes: ByteView) -> [HEIFBox]? {
        var result: [HEIFBox] = []
        var position = 0
        while let short = bytes.number(at: position, bytes: 4), let name = bytes.name(at: position + 4) {
            var (head, size) = (8, short)
            if short == 1 {
                // The size has eight bytes.
                guard let large = bytes.number(at: position + 8, bytes: 8) else { return nil }
                (head, size) = (16, large)
            } else if short == 0 {
                size = bytes.count - position
            }
            guard size >= head, result.count < maximumCount else { return nil }
            result.append(HEIFBox(name: name, content: bytes.part(from: position + head, count: size - head)))
            // A box that extends beyond the end is the last one. Stop before the addition below can overflow.
            guard size <= bytes.count - position else { break }
            position += size
        }
        return result
    }
}

/// The items of a HEIF file: pictures, their parts, and metadata (ISO/IEC 14496-12, section 8.11).
struct HEIFItems {
    /// An item, as the table `iinf` lists it.
    struct Item {
        let number: Int
        /// The coding format: `hvc1` for HEVC, `jpeg` also for items with the media type `image/jpeg`.
        let type: String
    }

    let items: [Item]
    /// The properties of all items (ISO/IEC 23008-12, section 6.5).
    let properties: [HEIFBox]
    /// The number of the primary item; `nil` if it is missing or ambiguous.
    let primary: Int?

    /// The tables that assign properties to items.
    private let associations: [ByteView]
    private let file: ByteView
    /// The content of the `idat` box, which may hold the data of items.
    private let inside: ByteView?
    private var locations: [Int: Location] = [:]

    /// The location of an item's parts.
    private struct Location {
        let isInFile: Bool
        let base: Int
        let count: Int
        /// A reader at the first part of the item's list.
        let reader: Reader
        let sizes: Sizes
    }

    /// The sizes, in bytes, of the fields in the table of locations.
    private struct Sizes {
        let offset: Int
        let length: Int
        let base: Int
        let index: Int

        var part: Int { offset + length + index }

        /// - Returns: `nil` for field sizes that the standard does not allow, or that libheif versions read
        ///   differently: up to 1.15, libheif ignores the index in version 1 of the table.
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

    /// - Returns: `nil` if the items cannot be read or are ambiguous: a table occurs twice, or there is a `mini` box,
    ///   which takes precedence.
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
        guard readLocations(table) else { return nil }
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
        // Entries of older versions have no type, so they are not pictures.
        for entry in entries where entry.name == "infe" && entry.content[0] ?? 0 >= 2 {
            guard let item = item(entry.content) else { return nil }
            result.append(item)
        }
        return result
    }

    private static func item(_ content: ByteView) -> Item? {
        var reader = Reader(bytes: content, position: 4)
        guard let number = reader.next(content[0] == 2 ? 2 : 4), reader.next(2) != nil,
            let type = content.name(at: reader.position)
        else { return nil }
        guard type == "mime" else { return Item(number: number, type: type) }
        // Skip the item's name.
        var position = reader.position + 4
        while let byte = content[position], byte != 0 { position += 1 }
        let isJPEG = content.has("image/jpeg", at: position + 1) && content[position + 11] ?? 0 == 0
        return Item(number: number, type: isJPEG ? "jpeg" : type)
    }

    private static func properties(in boxes: [HEIFBox]) -> (all: [HEIFBox], associations: [ByteView])? {
        guard boxes.contains(where: { $0.name == "iprp" }) else { return ([], []) }
        guard let table = only("iprp", of: boxes), let parts = HEIFBox.all(in: table),
            let container = only("ipco", of: parts), let properties = HEIFBox.all(in: container)
        else { return nil }
        return (properties, parts.filter { $0.name == "ipma" }.map(\.content))
    }

    private mutating func readLocations(_ table: ByteView) -> Bool {
        guard let version = table[0], version <= 2 else { return false }
        var reader = Reader(bytes: table, position: 4)
        guard let first = reader.next(1), let second = reader.next(1),
            let sizes = Sizes(first, second, version: version)
        else { return false }
        let numberSize = version == 2 ? 4 : 2
        guard let count = reader.next(numberSize), count <= HEIFBox.maximumCount else { return false }
        for _ in 0..<count {
            guard let number = reader.next(numberSize), let method = version == 0 ? 0 : reader.next(2),
                reader.next(2) != nil, let base = reader.next(sizes.base), let count = reader.next(2)
            else { return false }
            // Method 2, derived from other items, is not supported by any library.
            if locations[number] == nil, method & 15 <= 1 {
                locations[number] = Location(
                    isInFile: method & 15 == 0, base: base, count: count, reader: reader, sizes: sizes)
            }
            reader.position += count * sizes.part
        }
        return true
    }

    /// The properties of an item (ISO/IEC 23008-12, section 9.3.2); empty if they cannot be read.
    func properties(of number: Int) -> [HEIFBox] {
        for table in associations {
            if let found = properties(of: number, in: table) { return found }
        }
        return []
    }

    private func properties(of number: Int, in table: ByteView) -> [HEIFBox]? {
        guard let version = table[0], let flags = table[3] else { return nil }
        var reader = Reader(bytes: table, position: 4)
        guard let count = reader.next(4), count <= HEIFBox.maximumCount else { return nil }
        // The highest bit says whether readers must understand the property.
        let (size, mask) = flags & 1 == 0 ? (1, 0x7F) : (2, 0x7FFF)
        for _ in 0..<count {
            guard let item = reader.next(version == 0 ? 2 : 4), let count = reader.next(1) else { return nil }
            guard item == number else {
                reader.position += count * size
                continue
            }
            return (0..<count).compactMap { _ in
                // Indices start at 1; 0 means none.
                guard let index = reader.next(size).map({ ($0 & mask) - 1 }), properties.indices.contains(index) else {
                    return nil
                }
                return properties[index]
            }
        }
        return nil
    }

    /// The bytes of an item; empty if it has no location.
    /// - Returns: `nil` if there are more than `limit`, if they are not all in this file, or if a part has no length
    ///   (libraries disagree on what that means).
    func bytes(of number: Int, atMost limit: Int) -> Data? {
        guard let location = locations[number] else { return Data() }
        // The data is in the file itself or in the `idat` box.
        guard let source = location.isInFile ? file : inside, location.count <= 256 else { return nil }
        var reader = location.reader
        var result = Data()
        for _ in 0..<location.count {
            guard reader.next(location.sizes.index) != nil, let offset = reader.next(location.sizes.offset),
                let length = reader.next(location.sizes.length)
            else { return nil }
            let (start, overflows) = location.base.addingReportingOverflow(offset)
            guard !overflows, start <= source.count, length > 0, length <= source.count - start,
                length <= limit - result.count
            else { return nil }
            result += source.part(from: start, count: length).data
        }
        return result
    }

    /// Reads consecutive numbers.
    private struct Reader {
        let bytes: ByteView
        var position: Int

        /// Reads the next number of `length` bytes, at most eight; 0 if `length` is 0.
        /// - Returns: `nil` at the end, and for numbers that `ByteView` clamps, because different ones would read the
        ///   same.
        mutating func next(_ length: Int) -> Int? {
            guard let number = bytes.number(at: position, bytes: length), number < Int(Int32.max) else { return nil }
            position += length
            return number
        }
    }
}
