#if ImageCodecs && os(Linux)
    import CMartletImages
    import Foundation
    import Testing

    @testable import MartletImages

    /// Small files that unpack to gigabytes, and say something else where a size is looked for.
    @Suite("A picture that is larger than it says")
    struct SizeClaimsTests {
        @Test("is refused where a WebP says its size again behind its pixels")
        func laterSize() async {
            let file = Self.webP(Self.chunk("VP8L", Self.hugeBitstream) + Self.chunk("VP8X", Data(count: 10)))
            let size = PixelSize(width: 16_383, height: 16_383)
            await #expect(throws: ImageError.tooManyPixels(size, maximum: 120_000_000)) { try await prepare(file) }
        }

        @Test("is damaged where it is a frame of an animated WebP")
        func frame() async {
            // One pixel at the corner, for no time.
            let frame = Self.chunk("ANMF", Data(count: 16) + Self.chunk("VP8L", Self.hugeBitstream))
            let announced = Self.chunk("VP8X", Data([2]) + Data(count: 9)) + Self.chunk("ANIM", Data(count: 6))
            await #expect(throws: Self.mismatch(.webP)) { try await prepare(Self.webP(announced + frame)) }
        }

        @Test("is damaged where a JPEG hides it behind what is no marker")
        func noMarker() async throws {
            // A progressive frame of 20,000 x 20,000 grey pixels with all that its first scan needs.
            let tables: [UInt8] =
                [0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
                + [0xFF, 0xC4, 0, 20, 0, 1] + [UInt8](repeating: 0, count: 16)
            let hidden =
                tables + [0xFF, 0xC2, 0, 11, 8, 0x4E, 0x20, 0x4E, 0x20, 1, 1, 0x11, 0]
                + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0]
            let honest = try Pictures.data("clean.jpg")
            for marker in [0x00, 0x01, 0xD0] as [UInt8] {
                let length = UInt8(hidden.count + 2)
                let file = honest.prefix(2) + Data([0xFF, marker, 0, length]) + hidden + honest.dropFirst(2)
                await #expect(throws: ImageError.damaged(.jpeg, reason: "it has no size")) {
                    try await prepare(file) { $0.passesThrough = false }
                }
            }
        }

        @Test(
            "is damaged, and not decoded, where the codec finds another size than the headers",
            arguments: [
                "clean.jpg", "progressive.jpg", "cmyk.jpg", "clean.png", "interlaced.png", "clean.webp", "alpha.webp",
                "animated.webp",
            ])
        func codec(name: String) throws {
            let file = try Pictures.data(name)
            let kind = try #require(ImageKind(of: file))
            let honest = try #require(try Headers.describe(file, as: kind))
            for (width, height) in [(-1, 0), (0, -1), (1, 0), (0, 1), (-40, 4000)] {
                var claimed = honest
                claimed.size.width += width
                claimed.size.height += height
                let size = PixelSize(width: 1, height: 1)
                #expect(throws: Self.mismatch(kind)) {
                    try PlatformCodec.standard.decode(file, claimed, to: size, Cancellation())
                }
            }
        }

        @Test(
            "is refused by what a HEIF has coded, not by what is to be shown of it",
            HEIFLibrary.isThere, arguments: ["quarters.heic", "quarters.avif"])
        func coded(name: String) async throws {
            var file = try Pictures.data(name)
            let place = try #require(file.range(of: Data("ispe".utf8))).upperBound + 4
            file.replaceSubrange(place..<place + 8, with: [0, 0, 0, 16, 0, 0, 0, 16])
            let kind = try #require(ImageKind(of: file))
            await #expect(
                throws: ImageError.tooManyPixels(PixelSize(width: 128, height: 96), maximum: 1000)
            ) { try await prepare(file) { $0.maximumPixels = 1000 } }
            // Not every libheif has a decoder for AV1.
            guard kind == .heic else { return }
            // Small enough to be decoded, it is damaged, whoever sees that first.
            do throws(ImageError) {
                let image = try await prepare(file)
                Issue.record("\(image.size) came out")
            } catch {
                guard case .damaged(kind, _) = error else { throw error }
            }
        }

        @Test(
            "is not decoded by a libheif that was told how large its parts are", HEIFLibrary.isThere,
            HEIFLibrary.hasLimits)
        func limits() throws {
            let file = try Self.cropped(Pictures.data("quarters.heic"))
            let codec = PlatformCodec.standard
            var description = try codec.inspect(file, as: .heic)
            let size = PixelSize(width: 64, height: 48)
            #expect(description.size == size && description.codedSize == PixelSize(width: 128, height: 96))
            #expect(try codec.decode(file, description, to: size, Cancellation()).size == size)
            description.codedSize = size
            #expect {
                try codec.decode(file, description, to: size, Cancellation())
            } throws: { error in
                if case ImageError.damaged(.heic, let reason) = error { reason.contains("128x96") } else { false }
            }
        }

        @Test("is refused where a side is too long, however few pixels it has")
        func sides() async throws {
            let plain = try Pictures.data("clean.png")
            for (width, height) in [(1_000_001, 1), (1, 120_000_000)] {
                let sizes = [width, height].flatMap { side in
                    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: side >> $0) }
                }
                let head = Metadata.pngChunk("IHDR", Data(sizes) + plain[24..<29])
                let file = plain.prefix(8) + head + plain.dropFirst(33)
                let size = PixelSize(width: width, height: height)
                await #expect(throws: ImageError.tooLong(size, maximum: 1_000_000)) { try await prepare(file) }
            }
            let longest = PixelSize(width: 1_000_000, height: 1)
            let row = Bitmap(longest, .grey, [UInt8](repeating: 200, count: longest.count))
            let file = try PlatformCodec.standard.encode(row, as: .png, quality: 100)
            #expect(try await prepare(file).size == PixelSize(width: 1024, height: 1))
        }

        @Test("takes no memory for texts in a PNG that unpack to half a gigabyte")
        func texts() async throws {
            let plain = try Pictures.data("clean.png")
            let bomb = (0..<60).reduce(into: plain.prefix(33)) { file, _ in file += Self.text } + plain.dropFirst(33)
            let size = try #require(try Headers.describe(plain, as: .png)).size
            let growth = try bomb.withUnsafeBytes { buffer in
                let bytes = try #require(buffer.assumingMemoryBound(to: UInt8.self).baseAddress)
                var problem = martlet_problem()
                let before = try Self.residentBytes()
                // What is kept of a picture is there for as long as it is open.
                let allowed = martlet_size(width: size.width, height: size.height)
                let reader = try #require(martlet_open_png(bytes, buffer.count, allowed, &problem))
                defer { martlet_close(reader) }
                return try Self.residentBytes() - before
            }
            // Other tests take some meanwhile.
            #expect(growth < 200_000_000)
            #expect(try await prepare(bomb).size == size)
        }

        private func prepare(
            _ file: Data, changing change: (inout ImageProcessor.Options) -> Void = { _ in }
        ) async throws(ImageError) -> PreparedImage {
            var options = ImageProcessor.Options()
            change(&options)
            return try await ImageProcessor(options).prepare(.data(file))
        }

        /// A chunk with a text of 7.9 MB: the letter A, and 30,620 times the 258 bytes up to there again.
        private static let text: Data = {
            let count = 1 + 30_620 * 258
            // A last block with codes that are fixed (RFC 1951, 3.2.6): 01110001 for A, 11000101 00000 for a copy, 0000000.
            var bits: [UInt8] = [1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1]
            for _ in 0..<30_620 { bits += [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0] }
            bits += [UInt8](repeating: 0, count: 7 + 7)
            let bytes = stride(from: 0, to: bits.count - 7, by: 8).map { start in
                (0..<8).reduce(0) { $0 | bits[start + $1] << UInt8($1) }
            }
            // Adler-32 of as many times 65.
            let sum = (1 + count * 65) % 65_521
            let sums = (count + 65 * (count * (count + 1) / 2 % 65_521)) % 65_521
            let check = [sums >> 8, sums & 255, sum >> 8, sum & 255].map { UInt8($0) }
            return Metadata.pngChunk("zTXt", Data("Comment\0\0".utf8) + Data([0x78, 0x01] + bytes + check))
        }()

        /// How much of this process is in memory.
        private static func residentBytes() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 4096
        }

        /// A HEIC with one picture, of which it shows 64 x 48 pixels from the middle.
        private static func cropped(_ whole: Data) throws -> Data {
            var file = whole
            let place = { (name: String) in try #require(file.range(of: Data(name.utf8))) }
            // The tables become longer, and the picture's data stand as much further back.
            let numbers =
                try ["meta", "iprp", "ipco"].map { try place($0).lowerBound - 4 } + [place("iloc").upperBound + 12]
            let (end, table) = try (place("ipma").lowerBound - 4, place("ipma").upperBound)
            for start in numbers {
                let number = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } + 40
                file.replaceSubrange(
                    start..<start + 4, with: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) })
            }
            // The last of four properties that the picture has, to be followed by the new one.
            file[table + 14] = 0x85
            let fractions = [64, 48, 0, 0].flatMap { [0, 0, 0, $0, 0, 0, 0, 1] as [UInt8] }
            file.insert(contentsOf: [0, 0, 0, 40] + Data("clap".utf8) + fractions, at: end)
            return file
        }

        private static func mismatch(_ kind: ImageKind) -> ImageError {
            .damaged(kind, reason: "it is not as large as its headers say")
        }

        /// A lossless bitstream of 16,383 x 16,383 pixels: five codes of one symbol each, which takes no bits.
        private static let hugeBitstream = Data([0x2F, 0xFE, 0xBF, 0xFF, 0x0F, 0x88, 0x88, 0x08]) + Data(count: 8)

        private static func chunk(_ name: String, _ content: Data) -> Data {
            Data(name.utf8) + Data([UInt8(content.count), 0, 0, 0]) + content
        }

        private static func webP(_ chunks: Data) -> Data {
            Data("RIFF".utf8) + Data([UInt8(chunks.count + 4), 0, 0, 0]) + Data("WEBP".utf8) + chunks
        }
    }
#endif
