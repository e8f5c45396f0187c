import Foundation
import Testing

@testable import MartletImages

@Suite("HEIF item locations", .timeLimit(.minutes(10))) struct HEIFItemLocationTests {
    @Test(
        "an item's bytes are located",
        arguments: [
            HEIFBuilder.ItemLocation([0x44, 0], [0, 0, 0, 0, 0, 0, 0, 8]),
            HEIFBuilder.ItemLocation([0x48, 0x40], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8]),
            HEIFBuilder.ItemLocation([0x04, 0], [0, 0, 0, 8]),
            HEIFBuilder.ItemLocation(version: 2, [0x04, 0x04], [0, 0, 0, 0, 0, 0, 0, 8]),
            HEIFBuilder.ItemLocation(version: 0, [0x44, 4], [0, 0, 0, 20, 0, 0, 0, 8]),
        ])
    func locations(_ location: HEIFBuilder.ItemLocation) throws {
        #expect(try Self.codedSize(of: location) == PixelSize(width: 7, height: 7))
    }

    @Test(
        "a location that libraries read differently, or not at all, is rejected",
        arguments: [
            // No length, and a length past the end.
            HEIFBuilder.ItemLocation([0x44, 0], [0, 0, 0, 0, 0, 0, 0, 0]),
            HEIFBuilder.ItemLocation([0x40, 0], [0, 0, 0, 0]),
            HEIFBuilder.ItemLocation([0x44, 0], [0, 0, 0, 0, 0, 0, 0, 9]),
            HEIFBuilder.ItemLocation([0x44, 0], [0, 0, 0, 1, 0, 0, 0, 8]),
            HEIFBuilder.ItemLocation([0x44, 0], [0, 0, 0, 9, 0, 0, 0, 1]),
            HEIFBuilder.ItemLocation(version: 0, [0x44, 0], [0, 0, 0, 20, 0, 1, 0, 0]),
            // Invalid field sizes, and extent indices in a version that some readers do not expect to have them.
            HEIFBuilder.ItemLocation([0x24, 0], [0, 0, 0, 0, 0, 8]),
            HEIFBuilder.ItemLocation([0x42, 0], [0, 0, 0, 0, 0, 8]),
            HEIFBuilder.ItemLocation([0x44, 0x20], [0, 0, 0, 0, 0, 0, 0, 8]),
            HEIFBuilder.ItemLocation(version: 2, [0x44, 1], [0, 0, 0, 0, 0, 0, 0, 0, 8]),
            HEIFBuilder.ItemLocation([0x44, 4], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8]),
        ])
    func invalidLocations(_ location: HEIFBuilder.ItemLocation) {
        #expect(throws: ImageError.self) { try Self.codedSize(of: location) }
    }

    private static func codedSize(of location: HEIFBuilder.ItemLocation) throws -> PixelSize {
        // Version 0 supports only file offsets. The first 20 bytes of the file are another box.
        let start = HEIFBuilder.box("free", [UInt8](repeating: 0, count: 12) + HEIFBuilder.grid(7))
        let tables =
            HEIFBuilder.item("grid") + HEIFBuilder.box("iloc", location.bytes)
            + HEIFBuilder.box("idat", HEIFBuilder.grid(7))
        return try HEIFHeaders.codedSize(in: Data(start) + HEIFBuilder.file(tables), as: .heic)
    }
}
