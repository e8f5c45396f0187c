#if ImageCodecs || canImport(ImageIO)
    import Foundation
    import Testing

    @testable import MartletImages

    @Suite("Difficult pictures", .timeLimit(.minutes(10)))
    struct DifficultPicturesTests {
        @Test("each of the eight orientations is turned upright", arguments: 1...8)
        func orientations(orientation: Int) async throws {
            let image = try await prepare("orientation-\(orientation).jpg")
            #expect(image.size == PixelSize(width: 48, height: 32))
            let quarters = try decoded(image.data).quarters
            #expect(isClose(quarters, Pictures.quarters, within: 14))
            #expect(try describe(image.data).exif == nil)
        }

        @Test(
            "inks, bit depths, greys, palettes, interlacing, scans and animations decode to the same quarters",
            arguments: [
                ("cmyk.jpg", 48, 32), ("ycck.jpg", 48, 32), ("rgb16.png", 48, 32), ("interlaced.png", 45, 31),
                ("progressive.jpg", 96, 64), ("animated.png", 48, 32), ("animated.webp", 48, 32),
                ("clean.webp", 48, 32), ("gps.jpg", 32, 48),
            ])
        func quarters(name: String, width: Int, height: Int) async throws {
            let image = try await prepare(name, changing: { $0.passesThrough = false })
            #expect(image.format == .jpeg && !image.passedThrough)
            #expect(image.size == PixelSize(width: width, height: height))
            let expected = name == "gps.jpg" ? [2, 0, 3, 1].map { Pictures.quarters[$0] } : Pictures.quarters
            let quarters = try decoded(image.data).quarters
            #expect(isClose(quarters, expected, within: 16))
        }

        @Test("a first frame that covers a part of its animation keeps its place on a transparent picture")
        func croppedFrame() async throws {
            let still = try Pictures.data("clean.webp")
            func number(_ value: Int, _ bytes: Int) -> Data {
                Data((0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
            }
            func chunk(_ name: String, _ content: Data) -> Data {
                Data(name.utf8) + number(content.count, 4) + content + Data(count: content.count % 2)
            }
            func animation(left: Int) -> Data {
                let frame = number(left / 2, 3) + number(8, 3) + number(47, 3) + number(31, 3) + Data(count: 4)
                let body =
                    Data("WEBP".utf8) + chunk("VP8X", Data([2, 0, 0, 0]) + number(95, 3) + number(63, 3))
                    + chunk("ANIM", Data(count: 6)) + chunk("ANMF", frame + still.dropFirst(12))
                return Data("RIFF".utf8) + number(body.count, 4) + body
            }
            var options = ImageProcessor.Options()
            options.format = .png
            for scale in [1, 2] {
                options.bounds = PixelSize(width: 96 / scale, height: 64 / scale)
                let image = try await ImageProcessor(options).prepare(.data(animation(left: 32)))
                #expect(image.size == options.bounds)
                let bitmap = try decoded(image.data)
                func alpha(_ x: Int, _ y: Int) -> UInt8 {
                    bitmap.pixels[((y / scale) * bitmap.size.width + x / scale) * bitmap.layout.channels + 3]
                }
                try #require(bitmap.layout == .rgba)
                #expect([alpha(0, 0), alpha(28, 32), alpha(84, 32), alpha(56, 12), alpha(56, 52)] == [0, 0, 0, 0, 0])
                #expect([alpha(34, 18), alpha(56, 32), alpha(77, 45)] == [255, 255, 255])
            }
            await #expect(throws: ImageError.damaged(.webP, reason: "its first frame is larger than the picture")) {
                try await ImageProcessor(options).prepare(.data(animation(left: 50)))
            }
        }

        @Test("a HEIC decodes to the right colors in its four quarters", HEIFLibrary.isThere)
        func heif() async throws {
            let image = try await prepare("quarters.heic")
            #expect(image.format == .jpeg && image.size == PixelSize(width: 128, height: 96))
            let quarters = try decoded(image.data).quarters
            #expect(isClose(quarters, Pictures.quarters, within: 16))
        }

        @Test("a WebP with an EXIF orientation is turned upright, and the EXIF is dropped")
        func webPOrientation() async throws {
            let image = try await prepare("orientation-6.webp")
            #expect(image.size == PixelSize(width: 48, height: 32))
            let quarters = try decoded(image.data).quarters
            #expect(isClose(quarters, Pictures.quarters, within: 16), "\(quarters)")
            #expect(try describe(Pictures.data("orientation-6.webp")).exif != nil)
            #expect(try describe(image.data).exif == nil)
        }

        @Test("a PNG with an EXIF orientation is turned upright, and the EXIF is dropped")
        func pngOrientation() async throws {
            let exif = try #require(try describe(Pictures.data("orientation-6.jpg")).exif)
            let plain = try Pictures.data("clean.png")
            let file = plain.prefix(33) + Metadata.pngChunk("eXIf", exif) + plain.dropFirst(33)
            var options = ImageProcessor.Options()
            options.format = .png
            let image = try await ImageProcessor(options).prepare(.data(file))
            #expect(image.size == PixelSize(width: 32, height: 48))
            #expect(try decoded(image.data).quarters == [2, 0, 3, 1].map { Pictures.quarters[$0] })
            #expect(try describe(image.data).exif == nil)
        }

        @Test("grey pictures stay grey")
        func grey() async throws {
            let greys = [[87], [119], [55], [197]]
            for name in ["grey.jpg", "grey.png"] {
                let image = try await prepare(name, changing: { $0.passesThrough = false })
                let bitmap = try decoded(image.data)
                #expect(isClose(bitmap.quarters.map { [$0[0]] }, greys, within: 8))
            }
        }

        @Test("Display P3 is converted to sRGB, and colors outside sRGB are clipped")
        func wideGamut() async throws {
            for name in ["p3.jpg", "iccp.png"] {
                let quarters = try decoded(await prepare(name).data).quarters
                // Computed with the matrices of both spaces and the sRGB transfer curve.
                let expected = [[240, 0, 0], [0, 183, 0], [27, 40, 208], [234, 209, 0]]
                #expect(isClose(quarters, expected, within: 12), "\(name): \(quarters)")
            }
        }

        @Test("a PNG with a gamma of 1 decodes to its intended brightness")
        func gamma() async throws {
            let quarters = try decoded(await prepare("gamma.png").data).quarters
            // 255 * sRGB(value / 255).
            #expect(
                isClose(quarters, [[239, 96, 96], [96, 219, 110], [96, 110, 229], [244, 234, 110]], within: 10))
        }

        @Test("a long strip keeps its shape as far as whole pixels allow, and a single pixel stays one pixel")
        func extremes() async throws {
            let strip = try await prepare("strip.png")
            #expect(strip.size == PixelSize(width: 1024, height: 1))
            // From black at the left to white at the right, in 256 steps.
            let bitmap = try decoded(strip.data)
            let greys = [0, 256, 512, 768, 1023].map { [bitmap.pixel($0, 0)[0]] }
            #expect(isClose(greys, [[0], [64], [128], [192], [255]], within: 3), "\(greys)")
            for name in ["1x1.png", "1x1.jpg"] {
                let image = try await prepare(name) { $0.passesThrough = false }
                #expect(image.size == PixelSize(width: 1, height: 1))
                #expect(isClose([try decoded(image.data).pixel(0, 0)], [[10, 200, 30]], within: 6))
            }
        }
    }
#endif
