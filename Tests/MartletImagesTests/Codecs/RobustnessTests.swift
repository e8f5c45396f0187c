#if ImageCodecs || canImport(ImageIO)
    import Foundation
    import Testing

    @testable import MartletImages

    @Suite("Robustness", .timeLimit(.minutes(10)))
    struct RobustnessTests {
        @Test("a picture truncated anywhere yields a picture or a typed error")
        func cutOff() async throws {
            for name in try Pictures.all {
                let whole = try Pictures.data(name)
                for length in stride(from: 0, to: whole.count, by: max(1, whole.count / 60)) {
                    await Self.process(whole.prefix(length))
                }
            }
        }

        @Test("a picture with corrupted bytes yields a picture or a typed error")
        func broken() async throws {
            // A fixed seed corrupts the same bytes in every run.
            var state: UInt64 = 0x9E37_79B9_7F4A_7C15
            func next(_ bound: Int) -> Int {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Int(state >> 33) % bound
            }
            for name in try Pictures.all {
                let whole = try Pictures.data(name)
                for _ in 0..<60 {
                    var bytes = whole
                    for _ in 0...next(4) { bytes[next(bytes.count)] = UInt8(next(256)) }
                    await Self.process(bytes)
                }
            }
        }

        private static func process(_ bytes: Data) async {
            var options = ImageProcessor.Options()
            // Small enough that pictures with a corrupted size are still tried.
            options.maximumPixels = 2_000_000
            options.passesThrough = false
            options.keepsMetadata = true
            do throws(ImageError) {
                let image = try await ImageProcessor(options).prepare(.data(bytes))
                #expect(image.size.width >= 1 && image.size.width <= 1024 && image.data.count > 0)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }

        @Test("the same picture always encodes to the same bytes", arguments: ImageFormat.allCases)
        func deterministic(format: ImageFormat) async throws {
            var options = ImageProcessor.Options()
            options.format = format
            options.bounds = PixelSize(width: 30, height: 30)
            let processor = ImageProcessor(options)
            for name in ["gps.jpg", "alpha.png", "p3.jpg", "interlaced.png", "alpha.webp"] {
                let first = try await processor.prepare(.file(at: Pictures.path(name)))
                let all = try await withThrowingTaskGroup(of: PreparedImage.self) { group in
                    for _ in 0..<4 { group.addTask { try await processor.prepare(.file(at: Pictures.path(name))) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(all.allSatisfy { $0 == first })
            }
        }

        @Test("a large picture is fitted into a byte limit at the best possible quality")
        func fitsBytes() async throws {
            let codec = PlatformCodec.standard
            let size = PixelSize(width: 1200, height: 900)
            // Noise, which no codec compresses well.
            var state: UInt32 = 1
            let pixels = (0..<size.count * 3).map { _ in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(state >> 24)
            }
            let large = try codec.encode(Bitmap(size, .rgb, pixels), as: .jpeg, quality: 95)
            for limit in [200_000, 60_000, 3_000] {
                var options = ImageProcessor.Options()
                options.maximumBytes = limit
                let image = try await ImageProcessor(options).prepare(.data(large))
                #expect(image.data.count <= limit)
                #expect(image.size.width == 1024 || image.quality.map { $0 <= 0.8 } == true)
                #expect(try decoded(image.data).size == image.size)
            }
        }

        @Test(
            "a large picture matches the library's filter applied to all of its pixels",
            arguments: ImageFormat.allCases)
        func scaledDecoding(format: ImageFormat) throws {
            let codec = PlatformCodec.standard
            let size = PixelSize(width: 900, height: 600)
            var pixels: [UInt8] = []
            for y in 0..<600 {
                for x in 0..<900 {
                    for frequency in [0.05, 0.09, 0.31] {
                        let wave: Double = sin(Double(x) * frequency) + cos(Double(y) * frequency)
                        pixels.append(UInt8(127.5 + 60 * wave))
                    }
                }
            }
            let picture = Bitmap(size, .rgb, pixels)
            let file = try codec.encode(picture, as: format, quality: 95)
            let kind: ImageKind = format == .jpeg ? .jpeg : format == .png ? .png : .webP
            let description = try #require(try Headers.describe(file, as: kind))
            #expect(description.size == size)
            let target = PixelSize(width: 225, height: 150)
            let bitmap = try codec.decode(file, description, to: target, Cancellation())
            let expected = try picture.reduced(to: target, Cancellation())
            #expect(ImageSimilarity.psnr(bitmap.pixels, expected.pixels) > (format == .png ? 45 : 33))
        }
    }
#endif
