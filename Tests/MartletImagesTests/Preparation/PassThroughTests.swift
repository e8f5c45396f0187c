import Foundation
import Martlet
import Testing

@testable import MartletImages

/// None of these tests needs a codec.
@Suite("Pass-through and rejection", .timeLimit(.minutes(10)))
struct PassThroughTests {
    private let processor = ImageProcessor(.init(), codec: MissingCodec())

    @Test(
        "a picture that needs no change passes through byte for byte",
        arguments: [
            ("clean.jpg", ImageFormat.jpeg), ("srgb.jpg", .jpeg), ("grey.jpg", .jpeg), ("progressive.jpg", .jpeg),
            ("1x1.jpg", .jpeg), ("clean.png", .png), ("alpha.png", .png), ("clean.webp", .webP), ("alpha.webp", .webP),
        ])
    func passes(name: String, format: ImageFormat) async throws {
        var options = ImageProcessor.Options()
        options.format = format
        let processor = ImageProcessor(options, codec: MissingCodec())
        let image = try await processor.prepare(.file(at: Pictures.path(name)))
        let bytes = try Pictures.data(name)
        #expect(image.passedThrough && image.quality == nil && image.format == format)
        #expect(image.data == bytes)
    }

    @Test(
        "a picture with metadata, other colors, trailing data, an orientation or another format is re-encoded",
        arguments: [
            "gps.jpg", "xmp.jpg", "photoshop.jpg", "comment.jpg", "mpf.jpg", "trailing.jpg", "p3.jpg", "cmyk.jpg",
            "ycck.jpg", "orientation-1.jpg", "orientation-6.jpg", "clean.png", "clean.webp",
        ])
    func doesNotPass(name: String) async throws {
        await #expect { try await processor.prepare(.file(at: Pictures.path(name))) } throws: { error in
            if case ImageError.unsupported(_, let advice) = error { advice.contains("ImageCodecs") } else { false }
        }
    }

    @Test("a picture that is too large is re-encoded, and so is any picture if pass-through is off")
    func limits() async throws {
        let changes: [(inout ImageProcessor.Options) -> Void] = [
            { $0.bounds.width = 47 }, { $0.bounds.height = 31 }, { $0.maximumBytes = 100 },
            { $0.passesThrough = false },
        ]
        for change in changes {
            var options = ImageProcessor.Options()
            change(&options)
            let processor = ImageProcessor(options, codec: MissingCodec())
            await #expect(throws: ImageError.self) {
                try await processor.prepare(.file(at: Pictures.path("clean.jpg")))
            }
        }
    }

    @Test("an upright picture with EXIF passes through if metadata is kept")
    func metadata() async throws {
        var options = ImageProcessor.Options()
        options.keepsMetadata = true
        let processor = ImageProcessor(options, codec: MissingCodec())
        let image = try await processor.prepare(.file(at: Pictures.path("orientation-1.jpg")))
        #expect(image.passedThrough)
        await #expect(throws: ImageError.self) {
            try await processor.prepare(.file(at: Pictures.path("orientation-3.jpg")))
        }
    }

    @Test(
        "other metadata never passes through",
        arguments: ["xmp.jpg", "photoshop.jpg", "comment.jpg", "mpf.jpg", "trailing.jpg", "text.png"])
    func otherMetadata(name: String) async throws {
        var options = ImageProcessor.Options()
        options.keepsMetadata = true
        options.format = name.hasSuffix("png") ? .png : .jpeg
        let processor = ImageProcessor(options, codec: MissingCodec())
        await #expect { try await processor.prepare(.file(at: Pictures.path(name))) } throws: { error in
            if case ImageError.unsupported = error { true } else { false }
        }
    }

    @Test("a second EXIF segment never passes through, because a codec keeps only the first")
    func twice() async throws {
        let plain = try Pictures.data("orientation-1.jpg")
        // The marker, the length and the content.
        let start = try #require(plain.range(of: Data([0xFF, 0xE1]))).lowerBound
        let segment = plain[start..<start + 2 + Int(plain[start + 3])]
        var options = ImageProcessor.Options()
        options.keepsMetadata = true
        let processor = ImageProcessor(options, codec: MissingCodec())
        await #expect(throws: ImageError.self) {
            try await processor.prepare(.data(plain[..<start] + segment + plain[start...]))
        }
    }

    @Test("an sRGB profile with bytes that decoders skip is re-encoded") func hiddenInProfile() async throws {
        let plain = try Pictures.data("srgb.jpg")
        let start = try #require(plain.range(of: Data([0xFF, 0xE2]))).lowerBound
        let length = Int(plain[start + 2]) << 8 | Int(plain[start + 3])
        let profile = Data(plain[start + 18..<start + 2 + length])
        func file(_ parts: [(number: UInt8, count: UInt8, content: Data)]) -> Data {
            var file = Data(plain[..<start])
            for part in parts {
                let length = part.content.count + 16
                file += [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 255)]
                file += Array("ICC_PROFILE\0".utf8) + [part.number, part.count] + part.content
            }
            return file + plain[(start + 2 + length)...]
        }
        #expect(await passes(file([(1, 1, profile)])))
        #expect(await passes(file([(2, 2, profile[200...]), (1, 2, profile[..<200])])))

        let text = Data(Self.text)
        #expect(!(await passes(file([(1, 1, profile), (2, 1, text)]))))
        #expect(!(await passes(file([(1, 1, text), (1, 1, profile)]))))
        #expect(!(await passes(file([(1, 2, profile)]))))
        #expect(!(await passes(file([(0, 1, text), (1, 1, profile)]))))
        #expect(!(await passes(file([(1, 1, profile + text)]))))
        // The first tag is the description.
        var unusual = profile
        unusual.replaceSubrange(132..<136, with: Data("note".utf8))
        #expect(!(await passes(file([(1, 1, unusual)]))))
    }

    /// A text that must not pass through.
    private static let text = Array("taken at home".utf8)

    @Test(
        "a JPEG with segments that decoders skip, or with trailing bytes in a segment, is re-encoded",
        arguments: [
            (0x02, text), (0xBF, text), (0xC8, text), (0xCC, text), (0xDC, text), (0xDE, text), (0xDF, text),
            (0xF0, text), (0xFD, text), (0xE3, text), (0xE0, Array("JFIF\0".utf8) + text),
            (0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1] + text), (0xDD, [0, 0] + text),
            (0xDB, [15] + [UInt8](repeating: 1, count: 64) + text), (0xDB, [15] + text),
            (0xC4, [3, 1] + [UInt8](repeating: 0, count: 15) + [0] + text), (0xC0, text),
        ] as [(UInt8, [UInt8])])
    func hidden(marker: UInt8, content: [UInt8]) async throws {
        let file = try Self.jpeg(with: [0xFF, marker, 0, UInt8(content.count + 2)] + content)
        #expect(!(await passes(file)))
    }

    @Test(
        "a WebP with chunks that decoders skip is re-encoded",
        arguments: ["VP8 ", "VP8L", "ALPH", "ICCP", "NOTE"])
    func hidden(chunk: String) async throws {
        var file = try Pictures.data("clean.webp")
        file += Data(chunk.utf8) + Data([UInt8(Self.text.count), 0, 0, 0]) + Self.text
        if Self.text.count % 2 == 1 { file.append(0) }
        #expect(!(await passes(Self.announcingItsSize(file), as: .webP)))
    }

    @Test("a WebP with bytes between or after its chunks is re-encoded") func stray() async throws {
        let clean = try Pictures.data("clean.webp")
        #expect(await passes(Self.announcingItsSize(clean), as: .webP))
        #expect(!(await passes(Self.announcingItsSize(clean + Data("at home".utf8)), as: .webP)))
        // A chunk that ends beyond the file.
        let long = clean + Data("NOTE".utf8) + Data([0, 0, 1, 0]) + Self.text
        #expect(!(await passes(Self.announcingItsSize(long), as: .webP)))
        // The header of an extended file has ten bytes.
        let size = Data([0, 0, 0, 0, 47, 0, 0, 31, 0, 0])
        for extra in [Data(), Data(Self.text + [0])] {
            let header = Data("VP8X".utf8) + Data([UInt8(10 + extra.count), 0, 0, 0]) + size + extra
            let file = clean.prefix(12) + header + clean.dropFirst(12)
            #expect(await passes(Self.announcingItsSize(Data(file)), as: .webP) == extra.isEmpty)
        }
    }

    private static func announcingItsSize(_ file: Data) -> Data {
        var file = file
        let size = file.count - 8
        for index in 0..<4 { file[4 + index] = UInt8(truncatingIfNeeded: size >> (8 * index)) }
        return file
    }

    @Test(
        "a JPEG with plain tables and headers passes through",
        arguments: [
            (0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1]), (0xDD, [0, 0]),
            (0xDB, [15] + [UInt8](repeating: 1, count: 64)), (0xDB, [31] + [UInt8](repeating: 1, count: 128)),
            (0xC4, [3, 1] + [UInt8](repeating: 0, count: 15) + [0]),
        ] as [(UInt8, [UInt8])])
    func needed(marker: UInt8, content: [UInt8]) async throws {
        let file = try Self.jpeg(with: [0xFF, marker, 0, UInt8(content.count + 2)] + content)
        #expect(await passes(file))
    }

    @Test("a JPEG with misplaced markers is re-encoded", arguments: [0x00, 0x01, 0xD8] as [UInt8])
    func markers(marker: UInt8) async throws {
        #expect(!(await passes(try Self.jpeg(with: [0xFF, marker]))))
    }

    @Test("a JPEG variant that few decoders support is re-encoded")
    func rareVariants() async throws {
        let plain = try Pictures.data("clean.jpg")
        let frame = try #require(plain.range(of: Data([0xFF, 0xC0]))).lowerBound
        for (marker, bits, passes) in [
            (0xC0, 8, true), (0xC1, 8, true), (0xC2, 8, true), (0xC1, 12, false), (0xC3, 8, false), (0xC5, 8, false),
            (0xC9, 8, false), (0xCA, 8, false), (0xCB, 8, false), (0xCF, 8, false),
        ] as [(UInt8, UInt8, Bool)] {
            var file = plain
            (file[frame + 1], file[frame + 4]) = (marker, bits)
            #expect(await self.passes(file) == passes, "\(marker), \(bits) bits")
        }
    }

    /// The sRGB primaries in the encoding of PNG.
    private static let primaries: [UInt8] = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000].flatMap {
        [0, 0, UInt8($0 >> 8), UInt8($0 & 255)]
    }

    @Test(
        "a PNG chunk passes through at its valid length, and neither longer nor twice",
        arguments: [
            ("pHYs", [0, 0, 11, 19, 0, 0, 11, 19, 1]), ("gAMA", [0, 0, 0xB1, 0x8F]), ("sRGB", [0]),
            ("sBIT", [8, 8, 8]), ("bKGD", [0, 0, 0, 0, 0, 0]), ("tRNS", [0, 1, 0, 2, 0, 3]), ("PLTE", [1, 2, 3]),
            ("cHRM", primaries),
        ] as [(String, [UInt8])])
    func lengths(name: String, content: [UInt8]) async throws {
        let chunk = Metadata.pngChunk(name, Data(content))
        #expect(await passes(try Self.png(with: chunk), as: .png))
        #expect(!(await passes(try Self.png(with: Metadata.pngChunk(name, Data(content + Self.text))), as: .png)))
        #expect(!(await passes(try Self.png(with: chunk + chunk), as: .png)))
    }

    @Test("a PNG with data in its end chunk, or a histogram without a palette, is re-encoded")
    func pngEnd() async throws {
        let plain = try Pictures.data("clean.png")
        #expect(!(await passes(plain.dropLast(12) + Metadata.pngChunk("IEND", Data(Self.text)), as: .png)))
        #expect(!(await passes(try Self.png(with: Metadata.pngChunk("hIST", Data(Self.text))), as: .png)))
    }

    private func passes(_ file: Data, as format: ImageFormat = .jpeg) async -> Bool {
        var options = ImageProcessor.Options()
        options.format = format
        return (try? await ImageProcessor(options, codec: MissingCodec()).prepare(.data(file)).data) == file
    }

    /// A valid JPEG with an extra segment after its 18-byte first segment.
    private static func jpeg(with segment: [UInt8]) throws -> Data {
        let plain = try Pictures.data("clean.jpg")
        return plain.prefix(20) + segment + plain.dropFirst(20)
    }

    /// A valid PNG with extra chunks after its first chunk.
    private static func png(with chunks: Data) throws -> Data {
        let plain = try Pictures.data("clean.png")
        return plain.prefix(33) + chunks + plain.dropFirst(33)
    }

    @Test(
        "bytes that are no image are rejected as such",
        arguments: ["", "Dear Ada,", "<html><body>Not found</body></html>", "BM is my favourite", "\u{FF}\u{D8}"])
    func notAnImage(text: String) async {
        await #expect(throws: ImageError.notAnImage) { try await processor.prepare(.data(Data(text.utf8))) }
    }

    @Test("image kinds are recognized by their content")
    func kinds() throws {
        let heif = { (brands: String) in Data([0, 0, 0, 24]) + Data("ftyp\(brands)".utf8) + Data(count: 16) }
        #expect(ImageKind(of: heif("mif1\0\0\0\0mif1heic")) == .heic)
        #expect(ImageKind(of: heif("avif\0\0\0\0mif1avif")) == .avif)
        #expect(ImageKind(of: heif("isom\0\0\0\0isommp41")) == nil)
        #expect(ImageKind(of: Data("GIF89a".utf8)) == .gif)
        #expect(ImageKind(of: Data("II*\0".utf8)) == .tiff)
        #expect(ImageKind(of: Data("%PDF-1.7".utf8)) == .pdf)
        #expect(ImageKind(of: Data("<?xml version='1.0'?><svg/>".utf8)) == .svg)
        #expect(ImageKind(of: try Pictures.data("quarters.heic")) == .heic)
    }

    @Test("an unreadable or oversized file is an error that names it")
    func files() async throws {
        await #expect { try await processor.prepare(.file(at: "/no/such/picture.jpg")) } throws: { error in
            guard case ImageError.file(_, let reason) = error else { return false }
            return reason.contains("There is nothing at") && "\(error)".contains("/no/such/picture.jpg")
        }
        await #expect { try await processor.prepare(.file(Pictures.folder)) } throws: { error in
            if case ImageError.file(_, let reason) = error { reason.contains("special file") } else { false }
        }
        var options = ImageProcessor.Options()
        options.maximumInputBytes = 10
        let strict = ImageProcessor(options)
        await #expect(throws: ImageError.tooManyBytes(maximum: 10)) {
            try await strict.prepare(.file(at: Pictures.path("clean.jpg")))
        }
        await #expect(throws: ImageError.tooManyBytes(maximum: 10)) {
            try await strict.prepare(.data(Data(count: 11)))
        }
    }

    @Test("a slice of data is read from its own start")
    func slices() async throws {
        let bytes = try Pictures.data("clean.jpg")
        let slice = (Data(count: 100) + bytes).dropFirst(100)
        let image = try await processor.prepare(.data(slice))
        #expect(image.passedThrough && image.data == bytes)
    }

    @Test("a file name gets the extension of the new format")
    func filenames() {
        let image = PreparedImage(
            data: Data(), format: .jpeg, size: PixelSize(width: 1, height: 1), quality: nil, passedThrough: false)
        #expect(image.filename == "image.jpg" && image.contentType == "image/jpeg")
        #expect(image.filename(for: "me.HEIC") == "me.jpg" && image.filename(for: "me.JPEG") == "me.JPEG")
        #expect(image.filename(for: "/tmp/my.cat.png") == "my.cat.jpg" && image.filename(for: "me") == "me.jpg")
        #expect(image.filename(for: ".png") == ".png.jpg" && image.filename(for: "") == "image.jpg")
    }
}
