import Foundation
import Testing

@testable import MartletImages

@Suite("What Image I/O writes") struct ImageIOWritingTests {
    private let bitmap = Bitmap(PixelSize(width: 2, height: 1), .rgba, [UInt8](repeating: 9, count: 8))
    private let opaque = Bitmap(PixelSize(width: 2, height: 1), .rgb, [UInt8](repeating: 9, count: 6))

    @Test("is of a format that this system can write") func notWritable() {
        let fake = FakeImageIO()
        #expect(
            throws: ImageError.unsupported(
                .webP, advice: "This system can read them and not write them. Choose the format .jpeg or .png.")
        ) { try fake.codec.encode(bitmap, as: .webP, quality: 80) }
        #expect(fake.state.calls.isEmpty)
    }

    @Test("is WebP where a later system can") func writableLater() throws {
        let fake = FakeImageIO { $0.writableTypes.append("org.webmproject.webp") }
        let file = try fake.codec.encode(bitmap, as: .webP, quality: 80)
        #expect(file == Data("file".utf8))
        #expect(fake.state.calls == ["write 2 x 1 org.webmproject.webp 0.8"])
        #expect(fake.state.bitmaps == [bitmap])
    }

    @Test("has a quality from 0.01 to 1, or none") func quality() throws {
        let fake = FakeImageIO()
        for quality in [-3, 1, 57, 100, 700] { _ = try fake.codec.encode(opaque, as: .jpeg, quality: quality) }
        _ = try fake.codec.encode(opaque, as: .png, quality: 80)
        #expect(
            fake.state.calls
                == ["0.01", "0.01", "0.57", "1.0", "1.0"].map { "write 2 x 1 opaque public.jpeg \($0)" }
                + ["write 2 x 1 opaque public.png –"])
    }

    @Test("is transparent where the picture and the format are") func alpha() throws {
        let fake = FakeImageIO()
        _ = try fake.codec.encode(bitmap, as: .jpeg, quality: 80)
        _ = try fake.codec.encode(bitmap, as: .png, quality: 80)
        _ = try fake.codec.encode(opaque, as: .png, quality: 80)
        #expect(
            fake.state.calls == [
                "write 2 x 1 opaque public.jpeg 0.8", "write 2 x 1 public.png –", "write 2 x 1 opaque public.png –",
            ])
        #expect(fake.state.bitmaps.map(\.layout) == [.rgba, .rgba, .rgba])
    }

    @Test("is a file, or an error", arguments: [nil, Data()]) func notWritten(_ answer: Data?) {
        let fake = FakeImageIO { $0.written = answer }
        #expect(throws: ImageError.failed(reason: "Image I/O could not write a PNG of 2 x 1 pixels.")) {
            try fake.codec.encode(bitmap, as: .png, quality: 80)
        }
    }
}
