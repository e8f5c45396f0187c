internal import Foundation
internal import Testing

@testable import Martlet
@testable import MartletImages

@Suite("A picture in memory", .timeLimit(.minutes(10))) struct DecodedImageTests {
    /// Keeps what it is given to encode.
    private final class Canvas: ImageCodec {
        let bitmaps = Locked<[Bitmap]>([])

        func inspect(_ bytes: Data, as kind: ImageKind) throws(ImageError) -> ImageDescription { throw .notAnImage }
        func decode(
            _ bytes: Data, _ description: ImageDescription, to size: PixelSize, _ cancellation: Cancellation
        ) throws(ImageError) -> Bitmap { throw .notAnImage }
        func encode(_ bitmap: Bitmap, as format: ImageFormat, quality: Int) throws(ImageError) -> Data {
            bitmaps.withLock { $0.append(bitmap) }
            return Data([1, 2, 3])
        }
    }

    /// A row of pixels whose red counts from 1, and which is opaque.
    private static func row(_ count: Int, _ orientation: Orientation) -> DecodedImage {
        DecodedImage(PixelSize(width: count, height: 1), orientation) { size in
            DrawnImage(size: size, pixels: (0..<size.count).flatMap { [UInt8($0 + 1), 0, 0, 255] })
        }
    }

    private func prepare(
        _ image: DecodedImage, _ options: ImageProcessor.Options = .init()
    ) async throws(ImageError) -> (PreparedImage, Bitmap?) {
        let canvas = Canvas()
        let prepared = try await ImageProcessor(options, codec: canvas).prepare(.decoded(image))
        return (prepared, canvas.bitmaps.withLock { $0.last })
    }

    @Test("it is encoded upright, with its size in pixels")
    func upright() async throws {
        let turns: [(Orientation, PixelSize, [UInt8])] = [
            (.up, PixelSize(width: 2, height: 1), [1, 2]), (.upMirrored, PixelSize(width: 2, height: 1), [2, 1]),
            (.down, PixelSize(width: 2, height: 1), [2, 1]), (.right, PixelSize(width: 1, height: 2), [1, 2]),
            (.left, PixelSize(width: 1, height: 2), [2, 1]),
        ]
        for (orientation, size, reds) in turns {
            let image = Self.row(2, orientation)
            let (prepared, bitmap) = try await prepare(image)
            #expect(image.size == size && prepared.size == size, "\(orientation)")
            let pixels = try #require(bitmap).pixels
            #expect(stride(from: 0, to: pixels.count, by: 3).map { pixels[$0] } == reds, "\(orientation)")
            #expect(!prepared.passedThrough && prepared.format == .jpeg)
        }
    }

    @Test("it is scaled into the bounds, and drawn at no more than 1.5 times its new size") func scaled() async throws {
        let drawn = Locked<[PixelSize]>([])
        let image = DecodedImage(PixelSize(width: 4000, height: 3000), .right) { size in
            drawn.withLock { $0.append(size) }
            return DrawnImage(size: size, pixels: [UInt8](repeating: 255, count: size.count * 4))
        }
        var options = ImageProcessor.Options()
        options.bounds = PixelSize(width: 300, height: 400)
        let (prepared, _) = try await prepare(image, options)
        #expect(prepared.size == PixelSize(width: 300, height: 400))
        #expect(drawn.withLock { $0 } == [PixelSize(width: 600, height: 450)])
    }

    @Test("it obeys the limits, and a picture that cannot be drawn is an error") func limits() async throws {
        var options = ImageProcessor.Options()
        options.maximumPixels = 3
        let size = PixelSize(width: 4, height: 1)
        await #expect(throws: ImageError.tooManyPixels(size, maximum: 3)) {
            try await prepare(Self.row(4, .up), options)
        }
        let image = DecodedImage(size, .up) { _ in nil }
        await #expect(throws: ImageError.failed(reason: "the system could not draw its 4 x 1 pixels")) {
            try await prepare(image)
        }
    }

    @Test("only copies are equal, and it has no filename") func identity() {
        let image = Self.row(1, .up)
        let copy = image
        #expect(copy == image && image != Self.row(1, .up))
        #expect(Set([image, copy, Self.row(1, .up)]).count == 2)
        #expect(ImageSource.decoded(image).filename == nil)
    }
}
