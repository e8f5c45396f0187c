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

    private static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    private static func box(_ name: String, _ content: [UInt8] = []) -> [UInt8] {
        [0, 0] + number(content.count + 8) + Array(name.utf8) + content
    }

    /// The table with an item of number 1.
    private static func item(_ type: String) -> [UInt8] {
        box("iinf", [0, 0, 0, 0, 0, 1] + box("infe", [2, 0, 0, 0, 0, 1, 0, 0] + Array(type.utf8) + [0]))
    }

    /// A file with one item, which is in a box beside its tables.
    private static func file(_ type: String, _ content: [UInt8]) -> Data {
        let place: [UInt8] = [1, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        let meta = item(type) + box("iloc", place + number(content.count)) + box("idat", content)
        return Data(box("meta", [0, 0, 0, 0] + meta))
    }
}
