#if ImageCodecs || canImport(ImageIO)
    import Foundation
    import Testing

    @testable import MartletImages

    @Suite("Awkward pictures")
    struct AwkwardPicturesTests {
        @Test("Each of the eight orientations comes out upright", arguments: 1...8)
        func orientations(orientation: Int) async throws {
            let image = try await prepare("orientation-\(orientation).jpg")
            #expect(image.size == PixelSize(width: 48, height: 32))
            let quarters = try decoded(image.data).quarters
            #expect(isClose(quarters, Pictures.quarters, within: 14))
            #expect(try describe(image.data).exif == nil)
        }

        @Test(
            "Inks, depths, greys, palettes, interlacing, scans and animations come out as the same quarters",
            arguments: [
                ("cmyk.jpg", 48, 32), ("ycck.jpg", 48, 32), ("rgb16.png", 48, 32), ("interlaced.png", 45, 31),
                ("progressive.jpg", 96, 64), ("animated.png", 48, 32), ("animated.webp", 48, 32),
                ("clean.webp", 48, 32), ("gps.jpg", 32, 48),
            ])
        func quarters(name: String, width: Int, height: Int) async throws {
            let image = try await prepare(name, changing: { $0.passesThrough = false })
            #expect(image.format == .jpeg && !image.isUntouched)
            #expect(image.size == PixelSize(width: width, height: height))
            let expected = name == "gps.jpg" ? [2, 0, 3, 1].map { Pictures.quarters[$0] } : Pictures.quarters
            let quarters = try decoded(image.data).quarters
            #expect(isClose(quarters, expected, within: 16))
        }

        @Test("So does a HEIC", HEIFLibrary.isThere)
        func heif() async throws {
            let image = try await prepare("quarters.heic")
            #expect(image.format == .jpeg && image.size == PixelSize(width: 128, height: 96))
            let quarters = try decoded(image.data).quarters
            #expect(isClose(quarters, Pictures.quarters, within: 16))
        }

        @Test("So does a WebP that its EXIF turns, without that")
        func webPOrientation() async throws {
            let image = try await prepare("orientation-6.webp")
            #expect(image.size == PixelSize(width: 48, height: 32))
            let quarters = try decoded(image.data).quarters
            #expect(isClose(quarters, Pictures.quarters, within: 16), "\(quarters)")
            #expect(try describe(Pictures.data("orientation-6.webp")).exif != nil)
            #expect(try describe(image.data).exif == nil)
        }

        @Test("So does a PNG that its EXIF turns, without that")
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

        @Test("Grey stays grey")
        func grey() async throws {
            let greys = [[87], [119], [55], [197]]
            for name in ["grey.jpg", "grey.png"] {
                let image = try await prepare(name, changing: { $0.passesThrough = false })
                let bitmap = try decoded(image.data)
                #expect(isClose(bitmap.quarters.map { [$0[0]] }, greys, within: 8))
            }
        }

        @Test("What is transparent shows the background, which is white unless said otherwise")
        func flattens() async throws {
            let white = try decoded(await prepare("alpha.png").data)
            // Half transparent, transparent, and opaque from left to right.
            #expect(
                isClose([white.pixel(6, 8), white.pixel(18, 8)], [[237, 142, 142], [255, 255, 255]], within: 10))
            #expect(isClose([white.pixel(36, 24)], [[230, 210, 40]], within: 10))
            let blue = try await prepare("alpha.png") { $0.background = .init(red: 0, green: 0, blue: 255) }
            #expect(isClose([try decoded(blue.data).pixel(18, 8)], [[0, 0, 255]], within: 10))
            let grey = try await prepare("grey-alpha.png") { $0.background = .init(red: 255, green: 0, blue: 0) }
            #expect(isClose([try decoded(grey.data).pixel(18, 8)], [[255, 0, 0]], within: 10))
            let palette = try decoded(await prepare("palette.png").data)
            #expect(
                isClose([palette.pixel(12, 8), palette.pixel(36, 8)], [[255, 255, 255], [30, 180, 40]], within: 14))
        }

        @Test("So does what a WebP with loss has transparent beside its colours")
        func flattensLossyWebP() async throws {
            // From nearly transparent at the top to nearly opaque.
            let places = [(12, 0), (12, 8), (36, 24), (36, 31)]
            let white = try decoded(await prepare("lossy-alpha.webp").data)
            let onWhite = [[254, 252, 252], [246, 195, 195], [236, 220, 90], [230, 211, 43]]
            let found = places.map(white.pixel)
            #expect(isClose(found, onWhite, within: 12), "\(found)")
            let black = try decoded(await prepare("lossy-alpha.webp") { $0.background = .black }.data)
            let onBlack = [[3, 0, 0], [59, 8, 8], [177, 161, 31], [226, 207, 39]]
            #expect(isClose(places.map(black.pixel), onBlack, within: 12), "\(places.map(black.pixel))")
        }

        #if os(Linux)
            @Test("A HEIC that has alpha multiplied in keeps its colours", HEIFLibrary.isThere)
            func premultiplied() async throws {
                let file = try Pictures.data("premultiplied.heic")
                var options = ImageProcessor.Options()
                options.format = .png
                let colours = try decoded(try await ImageProcessor(options).prepare(.data(file)).data).quarters
                let alphas = [128, 255, 128, 255]
                let expected = zip(Pictures.quarters, alphas).map { $0 + [$1] }
                #expect(isClose(colours, expected, within: 8), "\(colours)")
                // What does not say so has the darker colours that are stored.
                var straight = file
                let reference = try #require(file.range(of: Data("prem".utf8)))
                straight.replaceSubrange(reference, with: Data("none".utf8))
                let stored = try decoded(try await ImageProcessor(options).prepare(.data(straight)).data).quarters
                #expect(isClose([stored[0]], [[110, 15, 15, 128]], within: 8), "\(stored)")
            }
        #endif

        @Test(
            "Transparency stays where the format has it",
            arguments: ["alpha.png", "palette.png", "alpha.webp", "lossy-alpha.webp"])
        func keepsAlpha(name: String) async throws {
            for format in [ImageFormat.png, .webP] {
                let image = try await prepare(name) {
                    $0.format = format
                    $0.passesThrough = false
                }
                #expect(image.format == format)
                let bitmap = try decoded(image.data)
                #expect(bitmap.layout == .rgba)
                let fades = name.hasSuffix("webp")
                let alpha = fades ? bitmap.pixel(24, 16)[3] : bitmap.pixel(18, 8)[3]
                #expect(fades ? (100...160).contains(alpha) : alpha == 0)
            }
        }

        @Test("Display P3 becomes sRGB: what sRGB cannot show is cut off, the rest looks the same")
        func wideGamut() async throws {
            for name in ["p3.jpg", "iccp.png"] {
                let quarters = try decoded(await prepare(name).data).quarters
                // By the matrices of both spaces, with the curve of sRGB.
                let expected = [[240, 0, 0], [0, 183, 0], [27, 40, 208], [234, 209, 0]]
                #expect(isClose(quarters, expected, within: 12), "\(name): \(quarters)")
            }
        }

        @Test("A PNG with a gamma of 1 becomes as light as it is meant")
        func gamma() async throws {
            let quarters = try decoded(await prepare("gamma.png").data).quarters
            // 255 * sRGB(value / 255).
            #expect(
                isClose(quarters, [[239, 96, 96], [96, 219, 110], [96, 110, 229], [244, 234, 110]], within: 10))
        }

        @Test("A long strip keeps its shape as far as whole pixels can, and a single pixel stays one")
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

        @Test(
            "What was taken with the picture does not go out",
            arguments: [
                "gps.jpg", "xmp.jpg", "photoshop.jpg", "comment.jpg", "mpf.jpg", "trailing.jpg", "text.png",
                "orientation-6.webp",
            ])
        func strips(name: String) async throws {
            let image = try await prepare(name) { $0.format = name.hasSuffix("png") ? .png : .jpeg }
            #expect(!image.isUntouched)
            let description = try describe(image.data)
            #expect(!description.hasOtherMetadata && description.exif == nil)
            for word in ["51.5", "GPS", "Martlet Camera", "taken at home", "Photoshop", "moving"] {
                #expect(image.data.range(of: Data(word.utf8)) == nil)
            }
        }

        @Test("Neither does what a JPEG has where Adobe's decoders alone look")
        func hiddenInAdobe() async throws {
            let text = Data("taken at home".utf8)
            let plain = try Pictures.data("clean.jpg")
            let segment = Data([0xFF, 0xEE, 0, 27]) + Data("Adobe".utf8) + Data([0, 100, 0, 0, 0, 0, 1]) + text
            let file = plain.prefix(20) + segment + plain.dropFirst(20)
            let image = try await ImageProcessor().prepare(.data(file))
            #expect(image.data.range(of: text) == nil)
            let quarters = try decoded(image.data).quarters
            #expect(isClose(quarters, Pictures.quarters, within: 16))
        }

        @Test("EXIF stays on request, upright", arguments: ImageFormat.allCases)
        func keepsEXIF(format: ImageFormat) async throws {
            let image = try await prepare("gps.jpg") {
                $0.keepsMetadata = true
                $0.format = format
            }
            let description = try describe(image.data)
            #expect(description.orientation == .up && description.exif?.range(of: Data("Martlet Camera".utf8)) != nil)
            #expect(image.size == PixelSize(width: 32, height: 48))
            #expect(try decoded(image.data).size == image.size)
        }

        @Test("Nothing but EXIF stays on request")
        func keepsNothingElse() async throws {
            let comment = Data([0xFF, 0xFE, 0, 15]) + Data("taken at home".utf8)
            let plain = try Pictures.data("orientation-1.jpg")
            // Behind the first segment, which has 18 bytes, and behind the picture.
            for file in [plain.prefix(20) + comment + plain.dropFirst(20), plain + Data("taken at home".utf8)] {
                var options = ImageProcessor.Options()
                options.keepsMetadata = true
                let image = try await ImageProcessor(options).prepare(.data(file))
                let description = try describe(image.data)
                #expect(!image.isUntouched && !description.hasOtherMetadata)
                #expect(description.exif?.range(of: Data("Martlet Camera".utf8)) != nil)
                #expect(image.data.range(of: Data("taken at home".utf8)) == nil)
            }
        }

        @Test("EXIF that is too long for a JPEG goes, and stays in a PNG")
        func longEXIF() async throws {
            let tail = Data(repeating: 0x2E, count: 70_000)
            let exif = try #require(try describe(Pictures.data("gps.jpg")).exif) + tail
            let plain = try Pictures.data("clean.png")
            let file = plain.prefix(33) + Metadata.pngChunk("eXIf", exif) + plain.dropFirst(33)
            for format in [ImageFormat.jpeg, .png] {
                var options = ImageProcessor.Options()
                options.format = format
                options.keepsMetadata = true
                let image = try await ImageProcessor(options).prepare(.data(file))
                #expect((try describe(image.data).exif != nil) == (format == .png))
            }
        }

        @Test(
            "EXIF of a HEIC goes with everything else, and stays on request", HEIFLibrary.isThere,
            arguments: [false, true])
        func heifMetadata(keeps: Bool) async throws {
            let image = try await prepare("exif.heic") { $0.keepsMetadata = keeps }
            let exif = try describe(image.data).exif
            #expect((exif != nil) == keeps)
            #expect((image.data.range(of: Data("Martlet Camera".utf8)) != nil) == keeps)
        }

        @Test("A picture that says it is far too large is refused by its header", arguments: ["bomb.png", "bomb.jpg"])
        func bombs(name: String) async throws {
            let side = name == "bomb.png" ? 60_000 : 65_500
            await #expect(
                throws: ImageError.tooManyPixels(PixelSize(width: side, height: side), maximum: 120_000_000)
            ) { try await prepare(name) }
        }

        @Test(
            "A picture that is cut short is damaged",
            arguments: ["clean.jpg", "progressive.jpg", "clean.png", "clean.webp"])
        func truncated(name: String) async throws {
            let whole = try Pictures.data(name)
            let image = ImageSource.data(whole.prefix(whole.count * 2 / 3))
            do {
                let prepared = try await ImageProcessor().prepare(image)
                Issue.record("\(prepared.size) came out")
            } catch {
                guard case .damaged = error else { throw error }
                #expect(error.description.contains("cut short or damaged"))
            }
        }

        #if os(Linux)
            @Test("A small file whose scans would take hours is damaged")
            func scans() async throws {
                let whole = try Pictures.data("progressive.jpg")
                let start = try #require(whole.range(of: Data([0xFF, 0xDA]), options: .backwards)).lowerBound
                let scan = whole[start..<whole.count - 2]
                var bytes = whole.prefix(start)
                for _ in 0..<1000 { bytes += scan }
                let bomb = ImageSource.data(bytes + Data([0xFF, 0xD9]))
                var options = ImageProcessor.Options()
                options.passesThrough = false
                let processor = ImageProcessor(options)
                await #expect { try await processor.prepare(bomb) } throws: { error in
                    if case ImageError.damaged(.jpeg, _) = error { true } else { false }
                }
            }
        #endif

        @Test("A GIF has no codec here, or its first picture comes out")
        func gif() async throws {
            let image: PreparedImage
            do throws(ImageError) {
                image = try await prepare("animated.gif")
            } catch {
                guard case .unsupported(.gif, _) = error else { throw error }
                return
            }
            let quarters = try decoded(image.data).quarters
            #expect(isClose(quarters, Pictures.quarters, within: 16))
        }

        private func prepare(
            _ name: String, changing change: (inout ImageProcessor.Options) -> Void = { _ in }
        ) async throws(ImageError) -> PreparedImage {
            var options = ImageProcessor.Options()
            change(&options)
            return try await ImageProcessor(options).prepare(.file(at: Pictures.path(name)))
        }

        private func describe(_ data: Data) throws -> ImageDescription {
            let kind = try #require(ImageKind(of: data))
            return try #require(try Headers.describe(data, as: kind))
        }
    }
#endif
