#if ImageCodecs && os(Linux)
    import CMartletImages
    import Foundation
    import Testing

    @testable import MartletImages

    /// Small files that unpack to gigabytes and declare a smaller size elsewhere.
    @Suite("A picture larger than it claims", .timeLimit(.minutes(10)))
    struct SizeClaimsTests {
        @Test("a WebP that declares a second size after its pixels is rejected")
        func laterSize() async {
            let file = Self.webP(Self.chunk("VP8L", Self.hugeBitstream) + Self.chunk("VP8X", Data(count: 10)))
            let size = PixelSize(width: 16_383, height: 16_383)
            await #expect(throws: ImageError.tooManyPixels(size, maximum: 120_000_000)) { try await prepare(file) }
        }

        @Test("an oversized frame of an animated WebP is damaged")
        func frame() async {
            // One pixel at the corner, with a duration of zero.
            let frame = Self.chunk("ANMF", Data(count: 16) + Self.chunk("VP8L", Self.hugeBitstream))
            let announced = Self.chunk("VP8X", Data([2]) + Data(count: 9)) + Self.chunk("ANIM", Data(count: 6))
            await #expect(throws: Self.mismatch(.webP)) { try await prepare(Self.webP(announced + frame)) }
        }

        @Test("a JPEG header hidden behind an invalid marker is damaged")
        func noMarker() async throws {
            // A progressive frame of 20,000 x 20,000 grey pixels, with everything its first scan needs.
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
            "a size that differs between the codec and the headers is damaged, and nothing is decoded",
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
            "a HEIF is rejected by its coded size, not by its displayed size",
            HEIFLibrary.isThere, arguments: ["quarters.heic", "quarters.avif"])
        func coded(name: String) async throws {
            var file = try Pictures.data(name)
            let offset = try #require(file.range(of: Data("ispe".utf8))).upperBound + 4
            file.replaceSubrange(offset..<offset + 8, with: [0, 0, 0, 16, 0, 0, 0, 16])
            let kind = try #require(ImageKind(of: file))
            await #expect(
                throws: ImageError.tooManyPixels(PixelSize(width: 128, height: 96), maximum: 1000)
            ) { try await prepare(file) { $0.maximumPixels = 1000 } }
            // Not every libheif has an AV1 decoder.
            guard kind == .heic else { return }
            // A picture within the limit is decoded, and either side reports the damage.
            do throws(ImageError) {
                let image = try await prepare(file)
                Issue.record("\(image.size) was decoded from a damaged file")
            } catch {
                guard case .damaged(kind, _) = error else { throw error }
            }
        }

        @Test(
            "libheif refuses parts larger than the limit it was given", HEIFLibrary.isThere,
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

        @Test("a side that is too long is rejected, however few pixels there are")
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

        @Test("text chunks of a PNG that unpack to half a gigabyte take no memory")
        func texts() async throws {
            let plain = try Pictures.data("clean.png")
            let bomb = (0..<60).reduce(into: plain.prefix(33)) { file, _ in file += Self.text } + plain.dropFirst(33)
            let size = try #require(try Headers.describe(plain, as: .png)).size
            let growth = try bomb.withUnsafeBytes { buffer in
                let bytes = try #require(buffer.assumingMemoryBound(to: UInt8.self).baseAddress)
                var problem = martlet_problem()
                let before = try Self.residentBytes()
                // The reader keeps its memory until it is closed.
                let allowed = martlet_size(width: size.width, height: size.height)
                let reader = try #require(martlet_open_png(bytes, buffer.count, allowed, &problem))
                defer { martlet_close(reader) }
                return try Self.residentBytes() - before
            }
            // Other tests allocate at the same time.
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

        /// A zTXt chunk that unpacks to 7.9 MB: the letter A, and then 30,620 copies of 258 bytes.
        private static let text: Data = {
            let count = 1 + 30_620 * 258
            // One final block with fixed codes (RFC 1951, section 3.2.6): 01110001 for A, 11000101 00000 for a copy,
            // 0000000.
            var bits: [UInt8] = [1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1]
            for _ in 0..<30_620 { bits += [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0] }
            bits += [UInt8](repeating: 0, count: 7 + 7)
            let bytes = stride(from: 0, to: bits.count - 7, by: 8).map { start in
                (0..<8).reduce(0) { $0 | bits[start + $1] << UInt8($1) }
            }
            // Adler-32 of `count` bytes of value 65.
            let sum = (1 + count * 65) % 65_521
            let sums = (count + 65 * (count * (count + 1) / 2 % 65_521)) % 65_521
            let check = [sums >> 8, sums & 255, sum >> 8, sum & 255].map { UInt8($0) }
            return Metadata.pngChunk("zTXt", Data("Comment\0\0".utf8) + Data([0x78, 0x01] + bytes + check))
        }()

        /// The resident memory of this process.
        private static func residentBytes() throws -> Int {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 4096
        }

        /// A HEIC with one picture, cropped to 64 x 48 pixels at the center.
        private static func cropped(_ whole: Data) throws -> Data {
            var file = whole
            let range = { (name: String) in try #require(file.range(of: Data(name.utf8))) }
            // The tables grow by 40 bytes, and the picture's data moves back by as much.
            let numbers =
                try ["meta", "iprp", "ipco"].map { try range($0).lowerBound - 4 } + [range("iloc").upperBound + 12]
            let (end, table) = try (range("ipma").lowerBound - 4, range("ipma").upperBound)
            for start in numbers {
                let number = file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } + 40
                file.replaceSubrange(
                    start..<start + 4, with: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) })
            }
            // The last of the picture's four properties; the new one follows it.
            file[table + 14] = 0x85
            let fractions = [64, 48, 0, 0].flatMap { [0, 0, 0, $0, 0, 0, 0, 1] as [UInt8] }
            file.insert(contentsOf: [0, 0, 0, 40] + Data("clap".utf8) + fractions, at: end)
            return file
        }

        private static func mismatch(_ kind: ImageKind) -> ImageError {
            .damaged(kind, reason: "it is not as large as its headers say")
        }

        /// A lossless bitstream of 16,383 x 16,383 pixels: five codes of one symbol each, which take no bits.
        private static let hugeBitstream = Data([0x2F, 0xFE, 0xBF, 0xFF, 0x0F, 0x88, 0x88, 0x08]) + Data(count: 8)

        private static func chunk(_ name: String, _ content: Data) -> Data {
            Data(name.utf8) + Data([UInt8(content.count), 0, 0, 0]) + content
        }

        private static func webP(_ chunks: Data) -> Data {
            Data("RIFF".utf8) + Data([UInt8(chunks.count + 4), 0, 0, 0]) + Data("WEBP".utf8) + chunks
        }
    }
#endif
