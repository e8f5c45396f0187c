import Foundation
import Testing

@testable import MartletImages

@Suite("HEIF code points", .timeLimit(.minutes(10))) struct HEIFCodePointHeadersTests {
    @Test(
        "the color code points are read", arguments: ["quarters.heic", "exif.heic", "quarters.avif"])
    func codePoints(name: String) throws {
        var file = try Pictures.data(name)
        #expect(HEIFHeaders.codePoints(in: file) == .sRGB)
        let offset = try #require(file.range(of: Data("nclx".utf8))).upperBound
        file[offset + 1] = 12
        #expect(HEIFHeaders.codePoints(in: file) == CodePoints(primaries: 12, transfer: 13))
        // Only the low byte of this number would be a known code point.
        file[offset] = 1
        #expect(HEIFHeaders.codePoints(in: file) == nil)
    }

    /// The property associations of two items.
    struct Associations: Sendable {
        /// Version and flags.
        var head: [UInt8]
        var first: [UInt8]
        var second: [UInt8]

        var bytes: [UInt8] { head + [0, 0, 0, 2] + first + second }
    }

    @Test(
        "the code points are those of the primary item",
        arguments: [
            Associations(head: [0, 0, 0, 0], first: [0, 1, 1, 1], second: [0, 2, 2, 0x83, 2]),
            Associations(head: [0, 0, 0, 1], first: [0, 1, 1, 0, 1], second: [0, 2, 2, 0x80, 3, 0, 2]),
            Associations(head: [1, 0, 0, 0], first: [0, 0, 0, 1, 1, 1], second: [0, 0, 0, 2, 3, 0, 99, 2]),
        ])
    func primary(associations: Associations) {
        let file = { (number: UInt8) in Self.colored(number, HEIFBuilder.box("ipma", associations.bytes)) }
        #expect(HEIFHeaders.codePoints(in: file(1)) == CodePoints(primaries: 12, transfer: 13))
        #expect(HEIFHeaders.codePoints(in: file(2)) == CodePoints(primaries: 9, transfer: 16))
        #expect(HEIFHeaders.codePoints(in: file(3)) == nil)
    }

    @Test("an ICC profile takes precedence over code points", arguments: [4, 5] as [UInt8])
    func profile(property: UInt8) {
        let table = Associations(head: [0, 0, 0, 0], first: [0, 1, 2, 1, property], second: [0, 2, 1, 1])
        #expect(HEIFHeaders.codePoints(in: Self.colored(1, HEIFBuilder.box("ipma", table.bytes))) == nil)
        #expect(HEIFHeaders.codePoints(in: Self.colored(2, HEIFBuilder.box("ipma", table.bytes))) != nil)
    }

    @Test("without valid associations there are no code points")
    func noAssociations() {
        for table: [UInt8] in [[], [0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1], [0, 0, 0, 0, 255, 255, 255, 255, 0, 1, 1, 1]] {
            #expect(HEIFHeaders.codePoints(in: Self.colored(1, HEIFBuilder.box("ipma", table))) == nil)
        }
        #expect(HEIFHeaders.codePoints(in: Self.colored(1, [])) == nil)
    }

    /// A file with the given primary item and these properties: Display P3, PQ, a size, and two kinds of profiles.
    private static func colored(_ primary: UInt8, _ associations: [UInt8]) -> Data {
        let size = HEIFBuilder.box("ispe", [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 9])
        let colors: [[UInt8]] = [
            Array("nclx".utf8) + [0, 12, 0, 13, 0, 6, 128], Array("nclx".utf8) + [0, 9, 0, 16, 0, 9, 128],
        ]
        let profiles = ["prof", "rICC"].map { HEIFBuilder.box("colr", Array($0.utf8) + [1, 2, 3]) }
        let properties =
            HEIFBuilder.box("colr", colors[0]) + HEIFBuilder.box("colr", colors[1]) + size + profiles[0] + profiles[1]
        let tables = HEIFBuilder.box("iinf", [0, 0, 0, 0, 0, 0]) + HEIFBuilder.box("iloc", [0, 0, 0, 0, 0, 0, 0, 0])
        let main = HEIFBuilder.box("pitm", [0, 0, 0, 0, 0, primary])
        return HEIFBuilder.file(
            tables + main + HEIFBuilder.box("iprp", HEIFBuilder.box("ipco", properties) + associations))
    }
}
