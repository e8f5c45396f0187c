#if ImageCodecs || canImport(ImageIO)
    import Foundation
    import Testing

    @testable import MartletImages

    @Suite("Metadata", .timeLimit(.minutes(10))) struct MetadataRemovalTests {
        @Test(
            "metadata recorded with the picture is removed",
            arguments: [
                "gps.jpg", "xmp.jpg", "photoshop.jpg", "comment.jpg", "mpf.jpg", "trailing.jpg", "text.png",
                "orientation-6.webp",
            ])
        func strips(name: String) async throws {
            let image = try await prepare(name) { $0.format = name.hasSuffix("png") ? .png : .jpeg }
            #expect(!image.passedThrough)
            let description = try describe(image.data)
            #expect(!description.hasOtherMetadata && description.exif == nil)
            for word in ["51.5", "GPS", "Martlet Camera", "taken at home", "Photoshop", "moving"] {
                #expect(image.data.range(of: Data(word.utf8)) == nil)
            }
        }

        @Test("a text hidden in an Adobe segment is removed")
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

        @Test("EXIF is kept on request, with an upright orientation", arguments: ImageFormat.allCases)
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

        @Test("on request, only EXIF is kept")
        func keepsNothingElse() async throws {
            let comment = Data([0xFF, 0xFE, 0, 15]) + Data("taken at home".utf8)
            let plain = try Pictures.data("orientation-1.jpg")
            // After the 18-byte first segment, and after the end of the picture.
            for file in [plain.prefix(20) + comment + plain.dropFirst(20), plain + Data("taken at home".utf8)] {
                var options = ImageProcessor.Options()
                options.keepsMetadata = true
                let image = try await ImageProcessor(options).prepare(.data(file))
                let description = try describe(image.data)
                #expect(!image.passedThrough && !description.hasOtherMetadata)
                #expect(description.exif?.range(of: Data("Martlet Camera".utf8)) != nil)
                #expect(image.data.range(of: Data("taken at home".utf8)) == nil)
            }
        }

        @Test("EXIF that is too long for a JPEG is dropped there and kept in a PNG")
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
            "EXIF of a HEIC is removed by default and kept on request", HEIFLibrary.isThere,
            arguments: [false, true])
        func heifMetadata(keeps: Bool) async throws {
            let image = try await prepare("exif.heic") { $0.keepsMetadata = keeps }
            let exif = try describe(image.data).exif
            #expect((exif != nil) == keeps)
            #expect((image.data.range(of: Data("Martlet Camera".utf8)) != nil) == keeps)
        }
    }
#endif
