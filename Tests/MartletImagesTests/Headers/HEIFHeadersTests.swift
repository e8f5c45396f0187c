import Foundation
import Testing

@testable import MartletImages

@Suite("HEIF headers", .timeLimit(.minutes(10)))
struct HEIFHeadersTests {
    @Test("the EXIF metadata is located, without its leading marker")
    func exif() throws {
        let exif = try #require(HEIFHeaders.exif(in: Pictures.data("exif.heic")))
        #expect(exif.starts(with: Array("MM\0*".utf8)))
        #expect(exif.range(of: Data("Martlet Camera".utf8)) != nil)
        #expect(EXIF.orientation(of: exif) == .up)
    }

    @Test("a file without EXIF yields none", arguments: ["quarters.heic", "clean.jpg"])
    func none(name: String) throws {
        #expect(try HEIFHeaders.exif(in: Pictures.data(name)) == nil)
    }

    @Test("changed or truncated files never trap")
    func garbage() throws {
        let whole = try Pictures.data("exif.heic")
        for offset in whole.indices {
            _ = HEIFHeaders.exif(in: whole.prefix(offset))
            for value in [0, 1, 0x44, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = whole
                bytes[offset] = value
                _ = HEIFHeaders.exif(in: bytes)
                _ = try? HEIFHeaders.codedSize(in: bytes, as: .heic)
                _ = HEIFHeaders.codePoints(in: bytes)
            }
        }
    }

    @Test("an item that repeats the same bytes a thousand times is rejected", arguments: [1, 1000])
    func repeated(times: Int) {
        let head: [UInt8] = [0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0]
        let extents = (0..<times).flatMap { _ in [0, 0, 0, 0, 0, 0, 255, 255] as [UInt8] }
        let meta = HEIFBuilder.item("Exif") + HEIFBuilder.box("iloc", head + HEIFBuilder.number(times) + extents)
        // The first box's size is the number of bytes to skip; the second box's name is read after that.
        let start = HEIFBuilder.box("free") + HEIFBuilder.box("MM\0*")
        let file = start + HEIFBuilder.box("meta", [0, 0, 0, 0] + meta) + [UInt8](repeating: 0, count: 66_000)
        #expect((HEIFHeaders.exif(in: Data(file)) != nil) == (times == 1))
    }

    @Test("the coded size of the pictures is read", arguments: ["quarters.heic", "exif.heic", "quarters.avif"])
    func codedSize(name: String) throws {
        let file = try Pictures.data(name)
        let size = PixelSize(width: 128, height: 96)
        #expect(try HEIFHeaders.codedSize(in: file, as: .heic) == size)
        // The displayed size does not change the result.
        var claim = file
        let offset = try #require(file.range(of: Data("ispe".utf8))).upperBound + 4
        claim.replaceSubrange(offset..<offset + 8, with: Data(count: 8))
        #expect(try HEIFHeaders.codedSize(in: claim, as: .heic) == size)
    }

    @Test("the size of a grid or an overlay is read")
    func canvas() throws {
        let grid: [UInt8] = [0, 1, 9, 9, 0, 0, 0x7F, 0xFF, 0, 1, 0, 0]
        let overlay: [UInt8] = [0, 0] + [UInt8](repeating: 255, count: 8) + [0x4E, 0x20, 0x27, 0x10]
        let large = try HEIFHeaders.codedSize(in: HEIFBuilder.file("grid", grid), as: .heic)
        #expect(large == PixelSize(width: 32_767, height: 65_536))
        let small = try HEIFHeaders.codedSize(in: HEIFBuilder.file("iovl", overlay), as: .heic)
        #expect(small == PixelSize(width: 20_000, height: 10_000))
    }

    @Test("the coded size is read from the bitstream")
    func units() throws {
        // A parameter set with one temporal layer and an escaped byte, for 16,383 x 16,383 pixels.
        let layers: [UInt8] = [0x42, 1, 3] + [UInt8](repeating: 0xFF, count: 12) + [0, 0]
        // 1 for id 0, 010 for 4:2:0 color, then twice 14 zeros, a one and 14 more bits.
        let sizes: [UInt8] = [0xA0, 0, 0x20, 0, 0, 3, 1, 0, 3]
        let unit = layers + sizes
        let size = try HEIFHeaders.codedSize(
            in: HEIFBuilder.file("hvc1", [0, 0, 0, UInt8(unit.count)] + unit), as: .heic)
        #expect(size == PixelSize(width: 16_383, height: 16_383))
        // A film header as libaom writes it for two pictures of 128 x 96, after a unit of another type.
        let film: [UInt8] = [0x12, 0, 0x0A, 13, 0, 0, 0, 3, 0x37, 0xFB, 0xE6, 0xD7, 0xC8, 0x80, 0x86, 0x83, 0x42]
        #expect(
            try HEIFHeaders.codedSize(in: HEIFBuilder.file("av01", film), as: .avif)
                == PixelSize(width: 128, height: 96))
    }

    @Test("at most 64 parameter sets are read", arguments: [64, 65])
    func many(count: Int) throws {
        let set: [UInt8] = [0x42, 1, 1] + [UInt8](repeating: 0, count: 12)
        // 1 for id 0, 010 for 4:2:0 color, 00111 for 6 and 0001001 for 8.
        let unit = [0, 0, 0, 17] + set + [0b1010_0011, 0b1000_1001]
        let units = (0..<count).flatMap { _ in unit }
        let size = try? HEIFHeaders.codedSize(in: HEIFBuilder.file("hvc1", units), as: .heic)
        #expect(size == (count == 64 ? PixelSize(width: 6, height: 8) : nil))
        #expect(throws: ImageError.self) {
            try HEIFHeaders.codedSize(in: HEIFBuilder.file("hvc1", unit.dropLast() + []), as: .heic)
        }
    }

    @Test("tiles that share their bytes are accepted up to a limit", arguments: [20, 3000])
    func sameTiles(count: Int) throws {
        let picture = try [UInt8](Pictures.data("clean.jpg")) + [UInt8](repeating: 0, count: 9000)
        var infos: [UInt8] = [0, 0, 0, 0] + HEIFBuilder.number(count)
        var locations: [UInt8] = [1, 0, 0, 0, 0x44, 0] + HEIFBuilder.number(count)
        for number in 1...count {
            infos += HEIFBuilder.info("jpeg", number)
            locations +=
                HEIFBuilder.number(number) + [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0] + HEIFBuilder.number(picture.count)
        }
        let tables =
            HEIFBuilder.longBox("iinf", infos) + HEIFBuilder.longBox("iloc", locations)
            + HEIFBuilder.box("idat", picture)
        let file = Data(HEIFBuilder.longBox("meta", [0, 0, 0, 0] + tables))
        let size = try? HEIFHeaders.codedSize(in: file, as: .heic)
        #expect(size == (count < 3000 ? PixelSize(width: 48, height: 32) : nil))
    }

    @Test("a file whose parts have no known size is rejected")
    func unmeasured() {
        let parts: [(String, [UInt8])] = [("hvc1", [0, 0, 0, 2, 0x42, 1]), ("grid", [0, 1, 0, 0]), ("av01", [])]
        for (type, content) in parts {
            #expect(throws: ImageError.self) {
                try HEIFHeaders.codedSize(in: HEIFBuilder.file(type, content), as: .heic)
            }
        }
        #expect {
            try HEIFHeaders.codedSize(in: HEIFBuilder.file("unci", [1]), as: .heic)
        } throws: { error in
            if case ImageError.unsupported(.heic, let advice) = error { advice.contains("unci") } else { false }
        }
        let twice = HEIFBuilder.file("grid", [0, 0, 0, 0, 0, 1, 0, 1]) + HEIFBuilder.box("meta", [0, 0, 0, 0])
        #expect(throws: ImageError.self) { try HEIFHeaders.codedSize(in: twice, as: .heic) }
    }

    @Test("two item ids that decode to the same number are rejected", arguments: [1, 128])
    func largeNumbers(start: UInt8) {
        let tiles = HEIFBuilder.grid(9) + HEIFBuilder.grid(0x7000)
        let numbers: [[UInt8]] = [[start - 1, 255, 255, 255], [start, 0, 0, 0]]
        var infos: [UInt8] = [0, 0, 0, 0, 0, 2]
        var locations: [UInt8] = [2, 0, 0, 0, 0x44, 0, 0, 0, 0, 2]
        for (index, number) in numbers.enumerated() {
            infos += HEIFBuilder.box("infe", [3, 0, 0, 0] + number + [0, 0] + Array("grid".utf8) + [0])
            locations += number + [0, 1, 0, 0, 0, 1, 0, 0, 0, UInt8(index) * 8, 0, 0, 0, 8]
        }
        let file = HEIFBuilder.file(
            HEIFBuilder.box("iinf", infos) + HEIFBuilder.box("iloc", locations) + HEIFBuilder.box("idat", tiles))
        let size = try? HEIFHeaders.codedSize(in: file, as: .heic)
        #expect(size == (start == 1 ? PixelSize(width: 0x7000, height: 0x7000) : nil))
    }

    @Test("missing or ambiguous properties make the size unknown")
    func properties() throws {
        let size = HEIFBuilder.box("ispe", [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9])
        let broken: [UInt8] = [0, 0, 0, 7] + Array("ispe".utf8)
        let sizes = HEIFBuilder.box("ipco", size)
        let whole = HEIFBuilder.box("iprp", sizes)
        let tables = HEIFBuilder.box("iinf", [0, 0, 0, 0, 0, 0]) + HEIFBuilder.box("iloc", [0, 0, 0, 0, 0, 0, 0, 0])
        let good = HEIFBuilder.file(tables + whole)
        #expect(try HEIFHeaders.codedSize(in: good, as: .heic) == PixelSize(width: 7, height: 9))
        for bad in [
            whole + whole, HEIFBuilder.box("iprp", sizes + sizes), HEIFBuilder.box("iprp", sizes + broken),
            HEIFBuilder.box("iprp", HEIFBuilder.box("ipco", size + broken)),
        ] {
            #expect(throws: ImageError.self) {
                try HEIFHeaders.codedSize(in: HEIFBuilder.file(tables + bad), as: .heic)
            }
        }
        // Newer versions of libheif read a `mini` box instead of all other tables.
        #expect(throws: ImageError.self) { try HEIFHeaders.codedSize(in: good + HEIFBuilder.box("mini"), as: .heic) }
    }

    @Test(
        "a JPEG item identified only by its media type is measured",
        arguments: ["image/jpeg", "image/jpegs", "text/xml"])
    func mediaType(type: String) throws {
        let info: [UInt8] = [2, 0, 0, 0, 0, 1, 0, 0] + Array("mimename".utf8) + [0] + Array(type.utf8) + [0]
        let picture = try [UInt8](Pictures.data("clean.jpg"))
        let location = HEIFBuilder.ItemLocation([0x44, 0], [0, 0, 0, 0, 0, 0] + HEIFBuilder.number(picture.count))
        let infos = HEIFBuilder.box("iinf", [0, 0, 0, 0, 0, 1] + HEIFBuilder.box("infe", info))
        let file = HEIFBuilder.file(infos + HEIFBuilder.box("iloc", location.bytes) + HEIFBuilder.box("idat", picture))
        let size = try? HEIFHeaders.codedSize(in: file, as: .heic)
        #expect(size == (type == "image/jpeg" ? PixelSize(width: 48, height: 32) : nil))
    }
}
