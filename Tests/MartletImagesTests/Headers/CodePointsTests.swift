#if ImageCodecs && os(Linux)
    import Foundation
    import Testing

    @testable import MartletImages

    @Suite("A PNG with cICP code points", .timeLimit(.minutes(10)))
    struct CodePointsTests {
        /// Expected colors of `Pictures.quarters`, computed in double precision with the matrices and curves of H.273.
        private static let expected: [(code: [UInt8], quarters: [[Int]])] = [
            ([12, 13, 0, 1], [[240, 0, 0], [0, 183, 0], [27, 40, 208], [234, 209, 0]]),
            ([11, 13, 0, 1], [[234, 0, 1], [0, 184, 0], [26, 38, 208], [233, 209, 0]]),
            ([9, 13, 0, 1], [[255, 0, 1], [0, 190, 0], [0, 36, 210], [247, 208, 0]]),
            ([9, 1, 0, 1], [[255, 0, 32], [0, 198, 0], [0, 53, 216], [249, 213, 0]]),
            ([9, 14, 0, 1], [[255, 0, 32], [0, 198, 0], [0, 53, 216], [249, 213, 0]]),
            ([6, 6, 0, 1], [[218, 56, 45], [64, 185, 54], [52, 62, 206], [231, 214, 53]]),
            ([1, 4, 0, 1], [[221, 24, 24], [24, 181, 35], [24, 35, 201], [231, 211, 35]]),
            ([1, 5, 0, 1], [[212, 8, 8], [8, 165, 17], [8, 17, 189], [224, 200, 17]]),
            ([1, 8, 0, 1], [[239, 96, 96], [96, 219, 110], [96, 110, 229], [244, 234, 110]]),
            ([1, 13, 0, 0], [[238, 16, 16], [16, 191, 28], [16, 28, 214], [249, 226, 28]]),
        ]

        @Test("is converted to sRGB and looks the same", arguments: expected)
        func converts(code: [UInt8], quarters: [[Int]]) async throws {
            let image = try await prepare(Self.marked(Pictures.data("clean.png"), code))
            #expect(!image.passedThrough)
            let found = try decoded(image.data).quarters
            #expect(isClose(found, quarters, within: 3), "\(found)")
        }

        @Test("code points take precedence over an ICC profile and a gamma", arguments: ["iccp.png", "gamma.png"])
        func comesFirst(name: String) async throws {
            let image = try await prepare(Self.marked(Pictures.data(name), [1, 13, 0, 1]))
            let quarters = try decoded(image.data).quarters
            #expect(!image.passedThrough)
            #expect(isClose(quarters, Pictures.quarters, within: 1))
        }

        @Test("an sRGB picture passes through untouched")
        func sRGB() async throws {
            let image = try await prepare(Self.marked(Pictures.data("clean.png"), [1, 13, 0, 1]))
            #expect(image.passedThrough)
        }

        @Test(
            "unknown code points are ignored and dropped, and the other color information applies",
            arguments: [[2, 13, 0, 1], [1, 2, 0, 1], [12, 13, 1, 1], [12, 13, 0, 2], [12, 13, 0], []] as [[UInt8]])
        func unknown(code: [UInt8]) async throws {
            let plain = try await prepare(Self.marked(Pictures.data("clean.png"), code))
            #expect(!plain.passedThrough && plain.data.range(of: Data("cICP".utf8)) == nil)
            let quarters = try decoded(plain.data).quarters
            #expect(isClose(quarters, Pictures.quarters, within: 1))
            let gamma = try await prepare(Self.marked(Pictures.data("gamma.png"), code))
            let light = try decoded(gamma.data).pixel(12, 8)
            #expect(isClose([light], [[239, 96, 96]], within: 3))
        }

        @Test("high dynamic range is clipped above paper white")
        func highDynamicRange() async throws {
            // Computed with the curves of PQ and HLG. White is 203 cd/m2: 0.581 in PQ and 0.75 in HLG.
            let cases: [(code: [UInt8], greys: [UInt8], expected: [Int])] = [
                ([9, 16, 0, 1], [0, 60, 100, 130, 148, 149, 200, 255], [0, 39, 107, 188, 255, 255, 255, 255]),
                ([9, 18, 0, 1], [0, 60, 100, 130, 191, 192, 220, 255], [0, 57, 104, 140, 254, 255, 255, 255]),
            ]
            for (code, greys, expected) in cases {
                let size = PixelSize(width: greys.count, height: 1)
                let picture = Bitmap(size, .rgb, greys.flatMap { [$0, $0, $0] })
                let file = try PlatformCodec.standard.encode(picture, as: .png, quality: 100)
                let bitmap = try decoded(try await prepare(Self.marked(file, code)).data)
                let found = greys.indices.map { bitmap.pixel($0, 0)[0] }
                #expect(isClose([found], [expected], within: 2), "\(code): \(found)")
            }
        }

        @Test("a grey picture decodes to its intended brightness")
        func grey() async throws {
            let picture = Bitmap(PixelSize(width: 2, height: 1), .grey, [30, 200])
            let file = try PlatformCodec.standard.encode(picture, as: .png, quality: 100)
            let bitmap = try decoded(try await prepare(Self.marked(file, [1, 8, 0, 1])).data)
            #expect(isClose([bitmap.pixel(0, 0), bitmap.pixel(1, 0)].map { [$0[0]] }, [[96], [229]], within: 2))
        }

        private func prepare(_ file: Data) async throws(ImageError) -> PreparedImage {
            var options = ImageProcessor.Options()
            options.format = .png
            return try await ImageProcessor(options).prepare(.data(file))
        }

        /// The PNG with the cICP chunk inserted after its first chunk.
        private static func marked(_ png: Data, _ code: [UInt8]) -> Data {
            png.prefix(33) + Metadata.pngChunk("cICP", Data(code)) + png.dropFirst(33)
        }
    }

    @Suite("A HEIF with nclx code points", HEIFLibrary.isThere, .timeLimit(.minutes(10)))
    struct HEIFCodePointsTests {
        /// Primaries, transfer curve and matrix, in the order of the file.
        private static let nclx: [UInt8] = [0, 1, 0, 13, 0, 6]

        @Test(
            "is converted to sRGB like a PNG with the same code points",
            arguments: [[12, 13], [12, 8], [9, 13], [9, 16], [9, 18], [6, 13], [1, 4]] as [[UInt8]])
        func converts(code: [UInt8]) async throws {
            let plain = try await prepare([1, 13])
            let png = plain.data.prefix(33) + Metadata.pngChunk("cICP", Data(code + [0, 1])) + plain.data.dropFirst(33)
            var options = ImageProcessor.Options()
            options.format = .png
            let expected = try decoded(try await ImageProcessor(options).prepare(.data(png)).data)
            let found = try decoded(try await prepare(code).data)
            #expect(found == expected)
            #expect(!isClose(found.quarters, Pictures.quarters, within: 6))
        }

        @Test(
            "counts as sRGB if the code points are those of sRGB, of a camera curve, or unknown",
            arguments: [[1, 1], [1, 6], [1, 14], [1, 15], [2, 2], [2, 16], [12, 2], [22, 13], [0, 0]] as [[UInt8]])
        func sRGB(code: [UInt8]) async throws {
            let plain = try await prepare([1, 13])
            let found = try await prepare(code)
            #expect(found.data == plain.data)
            #expect(isClose(try decoded(found.data).quarters, Pictures.quarters))
        }

        private func prepare(_ code: [UInt8]) async throws -> PreparedImage {
            var file = try Pictures.data("quarters.heic")
            let offset = try #require(file.range(of: Data("nclx".utf8) + Data(Self.nclx))).lowerBound
            (file[offset + 5], file[offset + 7]) = (code[0], code[1])
            var options = ImageProcessor.Options()
            options.format = .png
            return try await ImageProcessor(options).prepare(.data(file))
        }
    }
#endif
