import Foundation

/// Builds the boxes of HEIF files.
enum HEIFBuilder {
    /// An item location table (`iloc`) with one item and one extent.
    struct ItemLocation: Sendable {
        var version: UInt8
        /// The field sizes in the table's header.
        var sizes: [UInt8]
        var part: [UInt8]

        init(version: UInt8 = 1, _ sizes: [UInt8], _ part: [UInt8]) {
            self.version = version
            self.sizes = sizes
            self.part = part
        }

        var bytes: [UInt8] {
            let base = [UInt8](repeating: 0, count: Int(sizes[1] >> 4))
            let wide: [UInt8] = version == 2 ? [0, 0] : []
            let method: [UInt8] = version == 0 ? [] : [0, 1]
            let head = [version, 0, 0, 0] + sizes + wide + [0, 1]
            return head + wide + [0, 1] + method + [0, 0] + base + [0, 1] + part
        }
    }

    static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    static func box(_ name: String, _ content: [UInt8] = []) -> [UInt8] {
        [0, 0] + number(content.count + 8) + Array(name.utf8) + content
    }

    static func longBox(_ name: String, _ content: [UInt8]) -> [UInt8] {
        [0, 0, 0, 1] + Array(name.utf8) + [0, 0, 0, 0]
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (content.count + 16) >> $0) } + content
    }

    static func info(_ type: String, _ number: Int) -> [UInt8] {
        box("infe", [2, 0, 0, 0] + Self.number(number) + [0, 0] + Array(type.utf8) + [0])
    }

    /// An item info table with one item, number 1.
    static func item(_ type: String) -> [UInt8] {
        box("iinf", [0, 0, 0, 0, 0, 1] + info(type, 1))
    }

    /// A grid descriptor for a square canvas.
    static func grid(_ side: Int) -> [UInt8] { [0, 0, 0, 0] + number(side) + number(side) }

    /// A file with one item, whose bytes are in a box beside the tables.
    static func file(_ type: String, _ content: [UInt8]) -> Data {
        let location = ItemLocation([0x44, 0], [0, 0, 0, 0, 0, 0] + number(content.count))
        return file(item(type) + box("iloc", location.bytes) + box("idat", content))
    }

    static func file(_ tables: [UInt8]) -> Data { Data(box("meta", [0, 0, 0, 0] + tables)) }
}
