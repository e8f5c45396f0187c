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
            }
        }
    }

    @Test("are not believed where an item has the same bytes a thousand times", arguments: [1, 1000])
    func repeated(times: Int) {
        func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
        func box(_ name: String, _ content: [UInt8] = []) -> [UInt8] {
            [0, 0] + number(content.count + 8) + Array(name.utf8) + content
        }
        let item = box("infe", [2, 0, 0, 0, 0, 1, 0, 0] + Array("Exif".utf8) + [0])
        let head: [UInt8] = [0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0]
        let extents = (0..<times).flatMap { _ in [0, 0, 0, 0, 0, 0, 255, 255] as [UInt8] }
        let meta = box("iinf", [0, 0, 0, 0, 0, 1] + item) + box("iloc", head + number(times) + extents)
        // The size of the first box is how many bytes are skipped, and the next one's name what is read then.
        let file = box("free") + box("MM\0*") + box("meta", [0, 0, 0, 0] + meta) + [UInt8](repeating: 0, count: 66_000)
        #expect((HEIFHeaders.exif(in: Data(file)) != nil) == (times == 1))
    }
}
