#if ImageCodecs || canImport(ImageIO)
    import Foundation
    import Testing

    @testable import MartletImages

    @Suite("Transparency", .timeLimit(.minutes(10))) struct TransparencyTests {
        @Test("transparent pixels show the background, which is white by default")
        func flattens() async throws {
            let white = try decoded(await prepare("alpha.png").data)
            // From left to right: half transparent, transparent, opaque.
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

        @Test("transparent parts of a lossy WebP with colors show the background")
        func flattensLossyWebP() async throws {
            // From nearly transparent at the top to nearly opaque at the bottom.
            let points = [(12, 0), (12, 8), (36, 24), (36, 31)]
            let white = try decoded(await prepare("lossy-alpha.webp").data)
            let onWhite = [[254, 252, 252], [246, 195, 195], [236, 220, 90], [230, 211, 43]]
            let found = points.map(white.pixel)
            #expect(isClose(found, onWhite, within: 12), "\(found)")
            let black = try decoded(await prepare("lossy-alpha.webp") { $0.background = .black }.data)
            let onBlack = [[3, 0, 0], [59, 8, 8], [177, 161, 31], [226, 207, 39]]
            #expect(isClose(points.map(black.pixel), onBlack, within: 12), "\(points.map(black.pixel))")
        }

        #if os(Linux)
            @Test("a HEIC with premultiplied alpha keeps its colors", HEIFLibrary.isThere)
            func premultiplied() async throws {
                let file = try Pictures.data("premultiplied.heic")
                var options = ImageProcessor.Options()
                options.format = .png
                let colors = try decoded(try await ImageProcessor(options).prepare(.data(file)).data).quarters
                let alphas = [128, 255, 128, 255]
                let expected = zip(Pictures.quarters, alphas).map { $0 + [$1] }
                #expect(isClose(colors, expected, within: 8), "\(colors)")
                // A file without the premultiplied reference keeps the darker stored colors.
                var straight = file
                let reference = try #require(file.range(of: Data("prem".utf8)))
                straight.replaceSubrange(reference, with: Data("none".utf8))
                let stored = try decoded(try await ImageProcessor(options).prepare(.data(straight)).data).quarters
                #expect(isClose([stored[0]], [[110, 15, 15, 128]], within: 8), "\(stored)")
            }
        #endif

        @Test(
            "transparency is kept if the target format supports it",
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
    }
#endif
