import Foundation
import Testing

@testable import MartletImages

@Suite("A picture that Image I/O reads") struct ImageIOReadingTests {
    private let file = Data(FileEndTests.heic)
    private let small = PixelSize(width: 12, height: 9)
    private let description = ImageDescription(kind: .heic, size: PixelSize(width: 40, height: 30))

    private func decode(_ fake: FakeImageIO) throws(ImageError) -> Bitmap {
        try fake.codec.decode(file, description, to: small, Cancellation())
    }

    /// Why a picture is not taken, whether it is to be described or decoded; before any pixel is decoded.
    private func problem(
        _ file: Data, _ kind: ImageKind = .heic, _ change: (inout FakeImageIO.State) -> Void
    ) -> ImageError? {
        let fake = FakeImageIO(change)
        var problems: Set<ImageError?> = []
        do throws(ImageError) {
            _ = try fake.codec.inspect(file, as: kind)
        } catch {
            problems.insert(error)
        }
        do throws(ImageError) {
            var description = description
            description.kind = kind
            _ = try fake.codec.decode(file, description, to: small, Cancellation())
        } catch {
            problems.insert(error)
            #expect(fake.state.calls.isEmpty)
        }
        #expect(problems.count <= 1)
        return problems.first ?? nil
    }

    private func damage(_ file: Data, _ change: (inout FakeImageIO.State) -> Void) -> String? {
        guard case .damaged(.heic, let reason) = problem(file, .heic, change) else { return nil }
        return reason
    }

    @Test("says how large it is, and which way up, before anything is decoded") func properties() throws {
        let fake = FakeImageIO { state in
            state.properties = [
                0: ImageIOProperties(size: description.size, orientation: 6, hasAlpha: true, profileName: "Display P3")
            ]
        }
        let found = try fake.codec.inspect(file, as: .heic)
        #expect(found.kind == .heic && found.size == description.size && found.orientation == .right)
        #expect(found.hasAlpha && !found.isSRGB && !found.isAnimated)
        #expect(fake.state.calls.isEmpty)
    }

    @Test("is upright unless it says one of the other ways", arguments: [nil, -1, 0, 9])
    func orientation(_ orientation: Int?) throws {
        let fake = FakeImageIO { $0.properties[0]?.orientation = orientation }
        let found = try fake.codec.inspect(file, as: .heic)
        #expect(found.orientation == .up)
    }

    @Test("is in sRGB if it says so, or nothing", arguments: [nil, "sRGB IEC61966-2.1", "sRGB built-in"])
    func colours(_ profile: String?) throws {
        let fake = FakeImageIO { $0.properties[0]?.profileName = profile }
        let found = try fake.codec.inspect(file, as: .heic)
        #expect(found.isSRGB)
    }

    @Test("is the primary one of its file") func primary() throws {
        let fake = FakeImageIO {
            $0.primaryIndex = 2
            $0.properties[2] = $0.properties[0]
            $0.properties[0] = ImageIOProperties(size: PixelSize(width: 1, height: 1))
            $0.imageStatus = [0: .invalidData]
        }
        let found = try fake.codec.inspect(file, as: .heic)
        #expect(found.size == description.size && found.isAnimated)
        _ = try decode(fake)
        #expect(fake.state.calls == ["draw 2 in 18"])
    }

    @Test("is decoded in the size that was asked for, alpha not multiplied in", arguments: [false, true])
    func decoded(_ hasAlpha: Bool) throws {
        let fake = FakeImageIO { $0.properties[0]?.hasAlpha = hasAlpha }
        let bitmap = try decode(fake)
        let pixels = (0..<small.count).flatMap { _ in [255, 255, 255, hasAlpha ? 128 : 255] as [UInt8] }
        #expect(bitmap == Bitmap(small, .rgba, pixels))
        #expect(fake.state.calls == ["draw 0 in 18"])
    }

    @Test(
        "is made smaller by Image I/O as far as leaves the last step to the library's own filter",
        arguments: [
            (4_032, 3_024, 1_024, 1_536), (3_024, 4_032, 1_024, 1_536), (2_048, 9, 1_024, 1_536),
            (1_537, 9, 1_024, 1_536), (1_500, 9, 1_024, 1_500), (1_024, 9, 1_024, 1_024), (3, 1, 1, 2), (9, 9, 1, 2),
        ])
    func longestSide(_ width: Int, _ height: Int, _ bound: Int, _ expected: Int) {
        let size = PixelSize(width: width, height: height)
        let newSize = size.fitted(in: PixelSize(width: bound, height: bound))
        #expect(ImageIOCodec.longestSide(of: size, for: newSize) == expected)
    }

    @Test("is of a kind that this system reads", arguments: [ImageKind.heic, .avif, .jpegXL, .tiff])
    func unknown(_ kind: ImageKind) {
        let expected = ImageError.unsupported(
            kind, advice: "This system does not read them. Choose a JPEG, PNG, WebP or HEIC.")
        #expect(problem(file, kind) { $0.opens = false } == expected)
        #expect(problem(file, kind) { $0.status = .unknownType } == expected)
        #expect(problem(file, kind) { $0.imageStatus = [0: .unknownType] } == expected)
    }

    @Test("may be of a kind that nobody else knows") func otherKind() async throws {
        let photoshop = Data("8BPS".utf8) + Data(count: 60)
        let fake = FakeImageIO()
        let picture = try await ImageProcessor(ImageProcessor.Options(), codec: fake.codec).prepare(.data(photoshop))
        #expect(picture.size == PixelSize(width: 40, height: 30))
        #expect(fake.state.calls.first == "draw 0 in 40")
        for change in [
            { $0.opens = false }, { $0.status = .unknownType }, { $0.status = .readingHeader },
            { $0.imageStatus = [0: .invalidData] }, { $0.properties = [:] },
        ] as [@Sendable (inout FakeImageIO.State) -> Void] {
            let processor = ImageProcessor(ImageProcessor.Options(), codec: FakeImageIO(change).codec)
            await #expect(throws: ImageError.notAnImage) { try await processor.prepare(.data(photoshop)) }
        }
    }

    @Test("is no drawing, whatever this system makes of those", arguments: [ImageKind.svg, .pdf])
    func drawing(_ kind: ImageKind) {
        guard case .unsupported(kind, _) = problem(Data("<svg/>".utf8), kind, { _ in }) else {
            Issue.record("It was taken.")
            return
        }
    }

    @Test("is all there", arguments: [ImageIOStatus.incomplete, .readingHeader, .unexpectedEnd])
    func cutShort(_ status: ImageIOStatus) {
        #expect(damage(file) { $0.status = status } == "it ends too early")
        #expect(damage(file) { $0.imageStatus = [0: status] } == "it ends too early")
    }

    @Test("ends where its format says, even if Image I/O is content with less") func cutOff() {
        #expect(damage(file.dropLast()) { _ in } == "it ends too early")
        #expect(problem(file) { _ in } == nil)
        #expect(problem(Data("GIF89a".utf8), .gif) { _ in } == nil)
    }

    @Test("makes sense") func damaged() {
        #expect(damage(file) { $0.status = .invalidData } == "its data are not valid")
        #expect(damage(file) { $0.imageStatus = [0: .invalidData] } == "its data are not valid")
        #expect(damage(file) { $0.status = .other(-9) } == "Image I/O calls its status -9")
        #expect(damage(file) { $0.properties = [:] } == "it does not say how large it is")
        for size in [PixelSize(width: 0, height: 30), PixelSize(width: 40, height: -1)] {
            let reason = damage(file) { $0.properties = [0: ImageIOProperties(size: size)] }
            #expect(reason == "it does not say how large it is")
        }
    }

    @Test("is not decoded where it is larger than it was described") func largerThanDescribed() {
        let fake = FakeImageIO { $0.properties[0]?.size.width = 41 }
        #expect(throws: ImageError.damaged(.heic, reason: "it has more pixels than its headers say")) {
            try decode(fake)
        }
        #expect(fake.state.calls.isEmpty)
    }

    @Test(
        "is not taken where decoding finds that some of it is missing or wrong",
        arguments: [(ImageIOStatus.unexpectedEnd, "it ends too early"), (.invalidData, "its data are not valid")])
    func foundWhileDecoding(_ status: ImageIOStatus, _ reason: String) {
        let fake = FakeImageIO { $0.statusAfterDrawing = status }
        #expect(throws: ImageError.damaged(.heic, reason: reason)) { try decode(fake) }
    }

    @Test("is damaged where decoding gives nothing") func notDecoded() {
        let fake = FakeImageIO { $0.drawn = .some(nil) }
        #expect(throws: ImageError.damaged(.heic, reason: "Image I/O cannot decode it")) { try decode(fake) }
    }

    @Test(
        "is not taken on its side, smaller than it was wanted, or with too few bytes",
        arguments: [(9, 12, 432), (18, 27, 1_944), (11, 9, 396), (12, 8, 384), (12, 9, 428), (.max, .max, 0)])
    func wrongSize(_ width: Int, _ height: Int, _ bytes: Int) {
        let size = PixelSize(width: width, height: height)
        let fake = FakeImageIO { $0.drawn = DrawnImage(size: size, pixels: [UInt8](repeating: 0, count: bytes)) }
        #expect(
            throws: ImageError.failed(
                reason: "Image I/O gave \(size) pixels of a picture that was to have 12 x 9.")
        ) { try decode(fake) }
    }

    @Test(
        "may have sides that Image I/O has rounded in its own way", arguments: [(18, 13), (18, 14), (17, 14), (19, 14)])
    func rounded(_ width: Int, _ height: Int) throws {
        let size = PixelSize(width: width, height: height)
        let fake = FakeImageIO {
            $0.drawn = DrawnImage(size: size, pixels: [UInt8](repeating: 255, count: size.count * 4))
        }
        #expect(try decode(fake) == Bitmap(small, .rgba, [UInt8](repeating: 255, count: small.count * 4)))
    }

    @Test("is not decoded where nobody waits for it any more") func cancelled() {
        let fake = FakeImageIO()
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(throws: ImageError.cancelled) {
            try fake.codec.decode(file, description, to: small, cancellation)
        }
        #expect(fake.state.calls.isEmpty)
    }

    @Test("is turned upright, put on the background and written, on its way to a server") func wholeWay() async throws {
        let fake = FakeImageIO { state in
            state.properties[0] = ImageIOProperties(
                size: PixelSize(width: 4_000, height: 3_000), orientation: 6, hasAlpha: true)
        }
        let image = try await ImageProcessor(ImageProcessor.Options(), codec: fake.codec).prepare(.data(file))
        #expect(image.size == PixelSize(width: 768, height: 1_024) && image.format == .jpeg && !image.isUntouched)
        #expect(fake.state.calls == ["draw 0 in 1536", "write 768 x 1024 public.jpeg 0.8"])
        #expect(fake.state.layouts == [.rgb])
    }

    @Test("is not decoded at all where it has too many pixels") func tooManyPixels() async {
        let size = PixelSize(width: 40_000, height: 30_000)
        let fake = FakeImageIO { $0.properties[0] = ImageIOProperties(size: size) }
        let processor = ImageProcessor(ImageProcessor.Options(), codec: fake.codec)
        await #expect(throws: ImageError.tooManyPixels(size, maximum: 120_000_000)) {
            try await processor.prepare(.data(file))
        }
        #expect(fake.state.calls.isEmpty)
    }
}
