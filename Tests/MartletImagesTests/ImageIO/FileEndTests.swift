import Foundation
import MartletTesting
import Testing

@testable import MartletImages

@Suite("The end of an image file", .timeLimit(.minutes(10))) struct FileEndTests {
    /// Minimal files with a valid structure and no pixel data.
    static let files: [(name: String, bytes: [UInt8])] = [
        ("JPEG", jpeg), ("progressive JPEG", progressiveJPEG), ("PNG", png), ("WebP", webP), ("HEIC", heic),
    ]

    /// An APP1 segment that contains another picture's end marker, and a scan with a stuffed byte and a restart marker.
    static let jpeg: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE1, 0, 6, 0xFF, 0xD8, 0xFF, 0xD9]
        + [0xFF, 0xDA, 0, 3, 0, 0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD0, 0x56, 0xFF, 0xD9]
    /// Two scans with a table between them, and a fill byte before a marker.
    static let progressiveJPEG: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 0x12, 0xFF, 0xC4, 0, 3, 0xD9]
        + [0xFF, 0xFF, 0xDA, 0, 2, 0x34, 0xFF, 0xD9]
    static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        + [0, 0, 0, 4] + Array("IDAT".utf8) + Array("IEND".utf8) + [1, 2, 3, 4]
        + [0, 0, 0, 0] + Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]
    static let webP: [UInt8] = Array("RIFF".utf8) + [14, 0, 0, 0] + Array("WEBPVP8 ".utf8) + [2, 0, 0, 0, 1, 2]
    static let heic: [UInt8] =
        [0, 0, 0, 12] + Array("ftypheic".utf8)
        + [0, 0, 0, 1] + Array("mdat".utf8) + [0, 0, 0, 0, 0, 0, 0, 18, 1, 2]

    @Test("the end of a whole file is found", arguments: files) func whole(_ file: (name: String, bytes: [UInt8])) {
        #expect(FileEnd(of: Data(file.bytes)) == .present)
    }

    @Test("the end is missing wherever the file is truncated", arguments: files)
    func cutOff(_ file: (name: String, bytes: [UInt8])) {
        // A box truncated before its size looks like trailing bytes after the last box.
        let boxes = file.name == "HEIC" ? 12..<20 : 0..<0
        for count in 12..<file.bytes.count where !boxes.contains(count) {
            #expect(FileEnd(of: Data(file.bytes.prefix(count))) == .missing, "\(file.name), \(count) bytes")
        }
    }

    @Test("the end is found whatever follows it", arguments: files)
    func followed(_ file: (name: String, bytes: [UInt8])) {
        #expect(FileEnd(of: Data(file.bytes + [0, 0, 0])) == .present)
    }

    @Test("only the slice is searched, not the bytes around it") func slice() {
        let bytes = Data([1, 2, 3] + Self.png + [4])
        #expect(FileEnd(of: bytes[3..<3 + Self.png.count]) == .present)
        #expect(FileEnd(of: bytes[3..<3 + Self.png.count - 1]) == .missing)
    }

    @Test("a last box without a size ends with the file") func lastBox() {
        let file: [UInt8] = [0, 0, 0, 12] + Array("ftypheic".utf8) + [0, 0, 0, 0] + Array("mdat".utf8) + [1, 2, 3]
        #expect(FileEnd(of: Data(file)) == .present)
    }

    @Test(
        "impossible sizes report a missing end without a trap",
        arguments: [
            [0, 0, 0, 12] + Array("ftypheic".utf8) + [0xFF, 0xFF, 0xFF, 0xFF] + Array("mdat".utf8),
            [0, 0, 0, 12] + Array("ftypheic".utf8) + [0, 0, 0, 1] + Array("mdat".utf8)
                + [UInt8](repeating: 0xFF, count: 8),
            [0, 0, 0, 12] + Array("ftypheic".utf8) + [0, 0, 0, 7] + Array("mdat".utf8),
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF, 0xFF, 0xFF, 0xFF] + Array("IHDR".utf8),
            Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0xFF] + Array("WEBP".utf8),
        ])
    func hugeSizes(_ file: [UInt8]) {
        #expect(FileEnd(of: Data(file)) == .missing)
    }

    @Test(
        "the end is unknown for other formats", arguments: [[], [0xFF], Array("GIF89a".utf8), Array("II*\0....".utf8)])
    func others(_ file: [UInt8]) {
        #expect(FileEnd(of: Data(file)) == .unknown)
    }

    @Test("randomly changed files never trap", arguments: files)
    func anyBytes(_ file: (name: String, bytes: [UInt8])) {
        var generator = SeededGenerator(seed: 7)
        var responses: Set<FileEnd> = []
        for _ in 0..<5_000 {
            var bytes = file.bytes
            for _ in 0...generator.number(below: 3) {
                bytes[generator.number(below: bytes.count)] = UInt8(generator.number(below: 256))
            }
            responses.insert(FileEnd(of: Data(bytes.prefix(generator.number(below: bytes.count + 1)))))
        }
        #expect(responses == [.present, .missing, .unknown])
    }
}
