#if ImageCodecs || canImport(ImageIO)
    import Foundation
    import Testing

    @testable import MartletImages

    @Suite("Damaged and unsupported pictures", .timeLimit(.minutes(10))) struct DamagedPicturesTests {
        @Test(
            "a picture that declares an excessive size is rejected by its header", arguments: ["bomb.png", "bomb.jpg"])
        func bombs(name: String) async throws {
            let side = name == "bomb.png" ? 60_000 : 65_500
            await #expect(
                throws: ImageError.tooManyPixels(PixelSize(width: side, height: side), maximum: 120_000_000)
            ) { try await prepare(name) }
        }

        @Test(
            "a truncated picture is reported as damaged",
            arguments: ["clean.jpg", "progressive.jpg", "clean.png", "clean.webp"])
        func truncated(name: String) async throws {
            let whole = try Pictures.data(name)
            let image = ImageSource.data(whole.prefix(whole.count * 2 / 3))
            do {
                let prepared = try await ImageProcessor().prepare(image)
                Issue.record("\(prepared.size) was decoded from a truncated file")
            } catch {
                guard case .damaged = error else { throw error }
                #expect(error.description.contains("truncated or damaged"))
            }
        }

        #if os(Linux)
            @Test("a small file whose scans would take hours to decode is reported as damaged")
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

        @Test("a GIF is unsupported, or its first picture is decoded")
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
    }
#endif
