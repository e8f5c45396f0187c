import Foundation
import MartletTesting
import Testing

@testable import MartletImages

@Suite("Writing with Image I/O", .timeLimit(.minutes(10))) struct ImageIOWritingTests {
    private let bitmap = Bitmap(PixelSize(width: 2, height: 1), .rgba, [UInt8](repeating: 9, count: 8))
    private let opaque = Bitmap(PixelSize(width: 2, height: 1), .rgb, [UInt8](repeating: 9, count: 6))

    @Test("a format that the system cannot write is unsupported") func notWritable() {
        let fake = FakeImageIO()
        #expect(
            throws: ImageError.unsupported(
                .webP, advice: "This system cannot write this format. Choose the format .jpeg or .png.")
        ) { try fake.codec.encode(bitmap, as: .webP, quality: 80) }
        #expect(fake.state.calls.isEmpty)
    }

    @Test("WebP is written if the system supports it") func writableLater() throws {
        let fake = FakeImageIO { $0.writableTypes.append("org.webmproject.webp") }
        let file = try fake.codec.encode(bitmap, as: .webP, quality: 80)
        #expect(file == Data(FileEndTests.webP))
        #expect(fake.state.calls == ["write 2 x 1 org.webmproject.webp 0.8"])
    }

    @Test("quality is clamped to 0.01 through 1, and absent for PNG") func quality() throws {
        let fake = FakeImageIO()
        for quality in [-3, 1, 57, 100, 700] { _ = try fake.codec.encode(opaque, as: .jpeg, quality: quality) }
        _ = try fake.codec.encode(opaque, as: .png, quality: 80)
        #expect(
            fake.state.calls
                == ["0.01", "0.01", "0.57", "1.0", "1.0"].map { "write 2 x 1 public.jpeg \($0)" }
                + ["write 2 x 1 public.png –"])
    }

    @Test(
        "pixels are written in color, with alpha only if the picture has it",
        arguments: [(Bitmap.Layout.grey, Bitmap.Layout.rgb), (.greyAlpha, .rgba), (.rgb, .rgb), (.rgba, .rgba)])
    func layout(_ layout: Bitmap.Layout, _ written: Bitmap.Layout) throws {
        let fake = FakeImageIO()
        let bitmap = Bitmap(PixelSize(width: 1, height: 1), layout, [UInt8](repeating: 9, count: layout.channels))
        _ = try fake.codec.encode(bitmap, as: .png, quality: 80)
        #expect(fake.state.layouts == [written])
    }

    @Test("an incomplete file is an error", arguments: [nil, Data(), Data(FileEndTests.png.dropLast())])
    func notWritten(_ response: Data?) {
        let fake = FakeImageIO { $0.written = .some(response) }
        #expect(
            throws: ImageError.failed(reason: "Image I/O could not write a PNG of 2 x 1 pixels. Choose another format.")
        ) {
            try fake.codec.encode(bitmap, as: .png, quality: 80)
        }
    }

    @Test("a written JPEG contains no metadata") func plainJPEG() throws {
        let kept: [(UInt8, [UInt8])] = [
            (0xE0, Array("JFIF\0".utf8)), (0xEE, Array("Adobe".utf8)), (0xDB, [1, 2]), (0xC0, [3]), (0xC4, [4, 5]),
            (0xDD, [6, 7]), (0xC2, []),
        ]
        let dropped: [(UInt8, [UInt8])] = [
            (0xE1, Array("Exif\0\0".utf8)), (0xE1, Array("http:".utf8)), (0xE2, Array("ICC_PROFILE".utf8)),
            (0xED, Array("Photoshop".utf8)), (0xEF, []), (0xFE, Array("a comment".utf8)),
        ]
        func file(_ segments: [(UInt8, [UInt8])]) -> Data {
            var bytes: [UInt8] = [0xFF, 0xD8]
            for (marker, content) in segments { bytes += [0xFF, marker, 0, UInt8(content.count + 2)] + content }
            // Bytes inside a scan that look like a segment are kept.
            return Data(bytes + [0xFF, 0xDA, 0, 2, 7, 0xFF, 0xE1, 0, 2, 0xFF, 0xD9])
        }
        let mixed = dropped.prefix(3) + kept.prefix(4) + dropped.suffix(3) + kept.suffix(3)
        let fake = FakeImageIO { $0.written = file(Array(mixed)) }
        let found = try fake.codec.encode(opaque, as: .jpeg, quality: 80)
        #expect(found == file(kept))
    }

    @Test("a written PNG contains no metadata") func plainPNG() throws {
        func file(_ types: [String]) -> Data {
            var bytes = Array(FileEndTests.png.prefix(8))
            for type in types { bytes += [0, 0, 0, 3] + Array(type.utf8) + [1, 2, 3] + [9, 9, 9, 9] }
            return Data(bytes + FileEndTests.png.suffix(12))
        }
        let fake = FakeImageIO {
            $0.written = file(["IHDR", "sRGB", "iCCP", "eXIf", "pHYs", "PLTE", "tRNS", "iDOT", "iTXt", "IDAT", "tIME"])
        }
        let found = try fake.codec.encode(bitmap, as: .png, quality: 80)
        #expect(found == file(["IHDR", "sRGB", "PLTE", "tRNS", "IDAT"]))
    }

    @Test(
        "removing metadata never traps on arbitrary bytes", arguments: [ImageFormat.jpeg, .png]) func anyBytes(
            _ format: ImageFormat
        )
    {
        var generator = SeededGenerator(seed: 11)
        let whole = format == .jpeg ? FileEndTests.jpeg : FileEndTests.png
        var responses: Set<Bool> = []
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0...generator.number(below: 3) {
                bytes[generator.number(below: bytes.count)] = UInt8(generator.number(below: 256))
            }
            let count = generator.number(below: bytes.count + 1)
            responses.insert(WrittenFile(Data(bytes.prefix(count))).withoutMetadata(format) != nil)
        }
        #expect(responses == [true, false])
    }
}
