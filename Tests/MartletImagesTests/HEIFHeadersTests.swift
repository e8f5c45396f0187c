import Foundation
import Testing

@testable import MartletImages

@Suite("The headers of a HEIF file")
struct HEIFHeadersTests {
    @Test("say where the EXIF metadata are, without the marker before them")
    func exif() throws {
        let exif = try #require(HEIFHeaders.exif(in: Pictures.data("exif.heic")))
        #expect(exif.starts(with: Array("MM\0*".utf8)))
        #expect(exif.range(of: Data("Martlet Camera".utf8)) != nil)
        #expect(EXIF.orientation(of: exif) == .up)
    }

    @Test("say that there are none", arguments: ["quarters.heic", "clean.jpg"])
    func none(name: String) throws {
        #expect(try HEIFHeaders.exif(in: Pictures.data(name)) == nil)
    }

    @Test("give something or nothing, and no trap, with any byte changed or the end cut off")
    func garbage() throws {
        let whole = try Pictures.data("exif.heic")
        for place in whole.indices {
            _ = HEIFHeaders.exif(in: whole.prefix(place))
            for value in [0, 1, 0x44, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = whole
                bytes[place] = value
                _ = HEIFHeaders.exif(in: bytes)
                _ = try? HEIFHeaders.codedSize(in: bytes, as: .heic)
                _ = HEIFHeaders.codePoints(in: bytes)
            }
        }
    }

    @Test("are not believed where an item has the same bytes a thousand times", arguments: [1, 1000])
    func repeated(times: Int) {
        let head: [UInt8] = [0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0]
        let extents = (0..<times).flatMap { _ in [0, 0, 0, 0, 0, 0, 255, 255] as [UInt8] }
        let meta = Self.item("Exif") + Self.box("iloc", head + Self.number(times) + extents)
        // The size of the first box is how many bytes are skipped, and the next one's name what is read then.
        let start = Self.box("free") + Self.box("MM\0*")
        let file = start + Self.box("meta", [0, 0, 0, 0] + meta) + [UInt8](repeating: 0, count: 66_000)
        #expect((HEIFHeaders.exif(in: Data(file)) != nil) == (times == 1))
    }

    @Test("say how large the pictures in it are coded", arguments: ["quarters.heic", "exif.heic", "quarters.avif"])
    func codedSize(name: String) throws {
        let file = try Pictures.data(name)
        let size = PixelSize(width: 128, height: 96)
        #expect(try HEIFHeaders.codedSize(in: file, as: .heic) == size)
        // Whatever it says that is shown of them.
        var claim = file
        let place = try #require(file.range(of: Data("ispe".utf8))).upperBound + 4
        claim.replaceSubrange(place..<place + 8, with: Data(count: 8))
        #expect(try HEIFHeaders.codedSize(in: claim, as: .heic) == size)
    }

    @Test("say how large what is put together from parts becomes")
    func canvas() throws {
        let grid: [UInt8] = [0, 1, 9, 9, 0, 0, 0x7F, 0xFF, 0, 1, 0, 0]
        let overlay: [UInt8] = [0, 0] + [UInt8](repeating: 255, count: 8) + [0x4E, 0x20, 0x27, 0x10]
        let large = try HEIFHeaders.codedSize(in: Self.file("grid", grid), as: .heic)
        #expect(large == PixelSize(width: 32_767, height: 65_536))
        let small = try HEIFHeaders.codedSize(in: Self.file("iovl", overlay), as: .heic)
        #expect(small == PixelSize(width: 20_000, height: 10_000))
    }

    @Test("say how large pictures are coded by what stands within their data")
    func units() throws {
        // A set of parameters with a layer in time, and an escaped byte, for 16,383 x 16,383 pixels.
        let layers: [UInt8] = [0x42, 1, 3] + [UInt8](repeating: 0xFF, count: 12) + [0, 0]
        // 1 for number 0, 010 for colour at half the resolution, twice 14 zeros, a one and 14 more.
        let sizes: [UInt8] = [0xA0, 0, 0x20, 0, 0, 3, 1, 0, 3]
        let unit = layers + sizes
        let size = try HEIFHeaders.codedSize(in: Self.file("hvc1", [0, 0, 0, UInt8(unit.count)] + unit), as: .heic)
        #expect(size == PixelSize(width: 16_383, height: 16_383))
        // The header of a film, as libaom writes it for two pictures of 128 x 96, behind a unit of another kind.
        let film: [UInt8] = [0x12, 0, 0x0A, 13, 0, 0, 0, 3, 0x37, 0xFB, 0xE6, 0xD7, 0xC8, 0x80, 0x86, 0x83, 0x42]
        #expect(
            try HEIFHeaders.codedSize(in: Self.file("av01", film), as: .avif) == PixelSize(width: 128, height: 96))
    }

    @Test("are not read without end", arguments: [64, 65])
    func many(count: Int) throws {
        let set: [UInt8] = [0x42, 1, 1] + [UInt8](repeating: 0, count: 12)
        // 1 for number 0, 010 for colour at half the resolution, 00111 for 6 and 0001001 for 8.
        let unit = [0, 0, 0, 17] + set + [0b1010_0011, 0b1000_1001]
        let units = (0..<count).flatMap { _ in unit }
        let size = try? HEIFHeaders.codedSize(in: Self.file("hvc1", units), as: .heic)
        #expect(size == (count == 64 ? PixelSize(width: 6, height: 8) : nil))
        #expect(throws: ImageError.self) {
            try HEIFHeaders.codedSize(in: Self.file("hvc1", unit.dropLast() + []), as: .heic)
        }
    }

    @Test("are believed where all tiles are the same bytes, as long as that is no effort", arguments: [20, 3000])
    func sameTiles(count: Int) throws {
        let picture = try [UInt8](Pictures.data("clean.jpg")) + [UInt8](repeating: 0, count: 9000)
        var infos: [UInt8] = [0, 0, 0, 0] + Self.number(count)
        var places: [UInt8] = [1, 0, 0, 0, 0x44, 0] + Self.number(count)
        for number in 1...count {
            infos += Self.info("jpeg", number)
            places += Self.number(number) + [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + Self.number(picture.count)
        }
        let tables = Self.longBox("iinf", infos) + Self.longBox("iloc", places) + Self.box("idat", picture)
        let file = Data(Self.longBox("meta", [0, 0, 0, 0] + tables))
        let size = try? HEIFHeaders.codedSize(in: file, as: .heic)
        #expect(size == (count < 3000 ? PixelSize(width: 48, height: 32) : nil))
    }

    @Test("are not believed where nobody can tell how large its parts are")
    func unmeasured() {
        let parts: [(String, [UInt8])] = [("hvc1", [0, 0, 0, 2, 0x42, 1]), ("grid", [0, 1, 0, 0]), ("av01", [])]
        for (type, content) in parts {
            #expect(throws: ImageError.self) {
                try HEIFHeaders.codedSize(in: Self.file(type, content), as: .heic)
            }
        }
        #expect {
            try HEIFHeaders.codedSize(in: Self.file("unci", [1]), as: .heic)
        } throws: { error in
            if case ImageError.unsupported(.heic, let advice) = error { advice.contains("unci") } else { false }
        }
        let twice = Self.file("grid", [0, 0, 0, 0, 0, 1, 0, 1]) + Self.box("meta", [0, 0, 0, 0])
        #expect(throws: ImageError.self) { try HEIFHeaders.codedSize(in: twice, as: .heic) }
    }

    @Test("are not believed where two numbers of items read as one", arguments: [1, 128])
    func largeNumbers(start: UInt8) {
        let tiles = Self.grid(9) + Self.grid(0x7000)
        let numbers: [[UInt8]] = [[start - 1, 255, 255, 255], [start, 0, 0, 0]]
        var infos: [UInt8] = [0, 0, 0, 0, 0, 2]
        var places: [UInt8] = [2, 0, 0, 0, 0x44, 0, 0, 0, 0, 2]
        for (index, number) in numbers.enumerated() {
            infos += Self.box("infe", [3, 0, 0, 0] + number + [0, 0] + Array("grid".utf8) + [0])
            places += number + [0, 1, 0, 0, 0, 1, 0, 0, 0, UInt8(index) * 8, 0, 0, 0, 8]
        }
        let file = Self.file(Self.box("iinf", infos) + Self.box("iloc", places) + Self.box("idat", tiles))
        let size = try? HEIFHeaders.codedSize(in: file, as: .heic)
        #expect(size == (start == 1 ? PixelSize(width: 0x7000, height: 0x7000) : nil))
    }

    /// A table of the places of one item with one part.
    struct Places: Sendable {
        var version: UInt8
        /// Of the numbers in it.
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

    @Test(
        "say where an item's bytes are",
        arguments: [
            Places([0x44, 0], [0, 0, 0, 0, 0, 0, 0, 8]), Places([0x48, 0x40], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8]),
            Places([0x04, 0], [0, 0, 0, 8]), Places(version: 2, [0x04, 0x04], [0, 0, 0, 0, 0, 0, 0, 8]),
            Places(version: 0, [0x44, 4], [0, 0, 0, 20, 0, 0, 0, 8]),
        ])
    func places(_ places: Places) throws {
        #expect(try Self.codedSize(of: places) == PixelSize(width: 7, height: 7))
    }

    @Test(
        "are not believed where libraries read other bytes of an item, or none",
        arguments: [
            // No length, and more than there is.
            Places([0x44, 0], [0, 0, 0, 0, 0, 0, 0, 0]), Places([0x40, 0], [0, 0, 0, 0]),
            Places([0x44, 0], [0, 0, 0, 0, 0, 0, 0, 9]), Places([0x44, 0], [0, 0, 0, 1, 0, 0, 0, 8]),
            Places([0x44, 0], [0, 0, 0, 9, 0, 0, 0, 1]), Places(version: 0, [0x44, 0], [0, 0, 0, 20, 0, 1, 0, 0]),
            // Numbers of sizes that none may have, and indices of parts in a version that not all know to have them.
            Places([0x24, 0], [0, 0, 0, 0, 0, 8]), Places([0x42, 0], [0, 0, 0, 0, 0, 8]),
            Places([0x44, 0x20], [0, 0, 0, 0, 0, 0, 0, 8]),
            Places(version: 2, [0x44, 1], [0, 0, 0, 0, 0, 0, 0, 0, 8]),
            Places([0x44, 4], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8]),
        ])
    func badPlaces(_ places: Places) {
        #expect(throws: ImageError.self) { try Self.codedSize(of: places) }
    }

    private static func codedSize(of places: Places) throws -> PixelSize {
        // Version 0 knows places in the file only, of which the first 20 bytes are something else.
        let start = box("free", [UInt8](repeating: 0, count: 12) + grid(7))
        let tables = item("grid") + box("iloc", places.bytes) + box("idat", grid(7))
        return try HEIFHeaders.codedSize(in: Data(start) + file(tables), as: .heic)
    }

    @Test("are not believed where properties cannot be told, or not for certain")
    func properties() throws {
        let size = Self.box("ispe", [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9])
        let broken: [UInt8] = [0, 0, 0, 7] + Array("ispe".utf8)
        let sizes = Self.box("ipco", size)
        let whole = Self.box("iprp", sizes)
        let tables = Self.box("iinf", [0, 0, 0, 0, 0, 0]) + Self.box("iloc", [0, 0, 0, 0, 0, 0, 0, 0])
        let good = Self.file(tables + whole)
        #expect(try HEIFHeaders.codedSize(in: good, as: .heic) == PixelSize(width: 7, height: 9))
        for bad in [
            whole + whole, Self.box("iprp", sizes + sizes), Self.box("iprp", sizes + broken),
            Self.box("iprp", Self.box("ipco", size + broken)),
        ] {
            #expect(throws: ImageError.self) { try HEIFHeaders.codedSize(in: Self.file(tables + bad), as: .heic) }
        }
        // Newer versions of libheif read these tables instead of all others.
        #expect(throws: ImageError.self) { try HEIFHeaders.codedSize(in: good + Self.box("mini"), as: .heic) }
    }

    @Test(
        "say how large JPEGs are that only a media type calls so", arguments: ["image/jpeg", "image/jpegs", "text/xml"])
    func mediaType(type: String) throws {
        let info: [UInt8] = [2, 0, 0, 0, 0, 1, 0, 0] + Array("mimename".utf8) + [0] + Array(type.utf8) + [0]
        let picture = try [UInt8](Pictures.data("clean.jpg"))
        let places = Places([0x44, 0], [0, 0, 0, 0, 0, 0] + Self.number(picture.count))
        let infos = Self.box("iinf", [0, 0, 0, 0, 0, 1] + Self.box("infe", info))
        let file = Self.file(infos + Self.box("iloc", places.bytes) + Self.box("idat", picture))
        let size = try? HEIFHeaders.codedSize(in: file, as: .heic)
        #expect(size == (type == "image/jpeg" ? PixelSize(width: 48, height: 32) : nil))
    }

    @Test(
        "say what colours the picture has by code points", arguments: ["quarters.heic", "exif.heic", "quarters.avif"])
    func codePoints(name: String) throws {
        var file = try Pictures.data(name)
        #expect(HEIFHeaders.codePoints(in: file) == .sRGB)
        let place = try #require(file.range(of: Data("nclx".utf8))).upperBound
        file[place + 1] = 12
        #expect(HEIFHeaders.codePoints(in: file) == CodePoints(primaries: 12, transfer: 13))
        // A number of which the last byte alone would mean something.
        file[place] = 1
        #expect(HEIFHeaders.codePoints(in: file) == nil)
    }

    /// Which properties two items have.
    struct Associations: Sendable {
        /// Version and flags.
        var head: [UInt8]
        var first: [UInt8]
        var second: [UInt8]

        var bytes: [UInt8] { head + [0, 0, 0, 2] + first + second }
    }

    @Test(
        "say what colours the picture has that the file is about, and not another one's",
        arguments: [
            Associations(head: [0, 0, 0, 0], first: [0, 1, 1, 1], second: [0, 2, 2, 0x83, 2]),
            Associations(head: [0, 0, 0, 1], first: [0, 1, 1, 0, 1], second: [0, 2, 2, 0x80, 3, 0, 2]),
            Associations(head: [1, 0, 0, 0], first: [0, 0, 0, 1, 1, 1], second: [0, 0, 0, 2, 3, 0, 99, 2]),
        ])
    func primary(associations: Associations) {
        let file = { (number: UInt8) in Self.coloured(number, Self.box("ipma", associations.bytes)) }
        #expect(HEIFHeaders.codePoints(in: file(1)) == CodePoints(primaries: 12, transfer: 13))
        #expect(HEIFHeaders.codePoints(in: file(2)) == CodePoints(primaries: 9, transfer: 16))
        #expect(HEIFHeaders.codePoints(in: file(3)) == nil)
    }

    @Test("leave it to an ICC profile what colours the picture has", arguments: [4, 5] as [UInt8])
    func profile(place: UInt8) {
        let table = Associations(head: [0, 0, 0, 0], first: [0, 1, 2, 1, place], second: [0, 2, 1, 1])
        #expect(HEIFHeaders.codePoints(in: Self.coloured(1, Self.box("ipma", table.bytes))) == nil)
        #expect(HEIFHeaders.codePoints(in: Self.coloured(2, Self.box("ipma", table.bytes))) != nil)
    }

    @Test("say nothing of colours where it cannot be told which picture has which")
    func noAssociations() {
        for table: [UInt8] in [[], [0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1], [0, 0, 0, 0, 255, 255, 255, 255, 0, 1, 1, 1]] {
            #expect(HEIFHeaders.codePoints(in: Self.coloured(1, Self.box("ipma", table))) == nil)
        }
        #expect(HEIFHeaders.codePoints(in: Self.coloured(1, [])) == nil)
    }

    /// A file about this item, with Display P3, PQ, a size, and two ways to have a profile.
    private static func coloured(_ primary: UInt8, _ associations: [UInt8]) -> Data {
        let size = box("ispe", [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9])
        let colours: [[UInt8]] = [
            Array("nclx".utf8) + [0, 12, 0, 13, 0, 6, 128], Array("nclx".utf8) + [0, 9, 0, 16, 0, 9, 128],
        ]
        let profiles = ["prof", "rICC"].map { box("colr", Array($0.utf8) + [1, 2, 3]) }
        let properties = box("colr", colours[0]) + box("colr", colours[1]) + size + profiles[0] + profiles[1]
        let tables = box("iinf", [0, 0, 0, 0, 0, 0]) + box("iloc", [0, 0, 0, 0, 0, 0, 0, 0])
        let main = box("pitm", [0, 0, 0, 0, 0, primary])
        return file(tables + main + box("iprp", box("ipco", properties) + associations))
    }

    private static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    private static func box(_ name: String, _ content: [UInt8] = []) -> [UInt8] {
        [0, 0] + number(content.count + 8) + Array(name.utf8) + content
    }

    private static func longBox(_ name: String, _ content: [UInt8]) -> [UInt8] {
        [0, 0, 0, 1] + Array(name.utf8) + [0, 0, 0, 0]
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: (content.count + 16) >> $0) } + content
    }

    private static func info(_ type: String, _ number: Int) -> [UInt8] {
        box("infe", [2, 0, 0, 0] + Self.number(number) + [0, 0] + Array(type.utf8) + [0])
    }

    /// The table with an item of number 1.
    private static func item(_ type: String) -> [UInt8] {
        box("iinf", [0, 0, 0, 0, 0, 1] + info(type, 1))
    }

    /// What a canvas of so many pixels each way is put together by.
    private static func grid(_ side: Int) -> [UInt8] { [0, 0, 0, 0] + number(side) + number(side) }

    /// A file with one item, which is in a box beside its tables.
    private static func file(_ type: String, _ content: [UInt8]) -> Data {
        let places = Places([0x44, 0], [0, 0, 0, 0, 0, 0] + number(content.count))
        return file(item(type) + box("iloc", places.bytes) + box("idat", content))
    }

    private static func file(_ tables: [UInt8]) -> Data { Data(box("meta", [0, 0, 0, 0] + tables)) }
}
