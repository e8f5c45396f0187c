import Foundation
import Testing

@testable import MartletImages

@Suite("Reading with Image I/O", .timeLimit(.minutes(10))) struct ImageIOReadingTests {
    private let file = Data(FileEndTests.heic)
    private let small = PixelSize(width: 12, height: 9)
    private let description = ImageDescription(kind: .heic, size: PixelSize(width: 40, height: 30))

    private func decode(_ fake: FakeImageIO) throws(ImageError) -> Bitmap {
        try fake.codec.decode(file, description, to: small, Cancellation())
    }

    /// The error of inspecting and decoding a picture, which must be the same. No pixel may be decoded.
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

    @Test("size and orientation are known before anything is decoded") func properties() throws {
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

    @Test("an invalid orientation counts as upright", arguments: [nil, -1, 0, 9])
    func orientation(_ orientation: Int?) throws {
        let fake = FakeImageIO { $0.properties[0]?.orientation = orientation }
        let found = try fake.codec.inspect(file, as: .heic)
        #expect(found.orientation == .up)
    }

    @Test(
        "a picture without a profile, or with an sRGB profile, is sRGB",
        arguments: [nil, "sRGB IEC61966-2.1", "sRGB built-in"])
    func colors(_ profile: String?) throws {
        let fake = FakeImageIO { $0.properties[0]?.profileName = profile }
        let found = try fake.codec.inspect(file, as: .heic)
        #expect(found.isSRGB)
    }

    @Test("the primary image is read") func primary() throws {
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

    @Test("the picture is decoded at the requested size, with straight alpha", arguments: [false, true])
    func decoded(_ hasAlpha: Bool) throws {
        let fake = FakeImageIO { $0.properties[0]?.hasAlpha = hasAlpha }
        let bitmap = try decode(fake)
        let pixels = (0..<small.count).flatMap { _ in [255, 255, 255, hasAlpha ? 128 : 255] as [UInt8] }
        #expect(bitmap == Bitmap(small, .rgba, pixels))
        #expect(fake.state.calls == ["draw 0 in 18"])
    }

    @Test(
        "Image I/O leaves the last step of a reduction to the library's own filter",
        arguments: [
            (4_032, 3_024, 1_024, 1_536), (3_024, 4_032, 1_024, 1_536), (2_048, 9, 1_024, 1_536),
            (1_537, 9, 1_024, 1_536), (1_500, 9, 1_024, 1_500), (1_024, 9, 1_024, 1_024), (3, 1, 1, 2), (9, 9, 1, 2),
        ])
    func longestSide(_ width: Int, _ height: Int, _ bound: Int, _ expected: Int) {
        let size = PixelSize(width: width, height: height)
        let newSize = size.fitted(in: PixelSize(width: bound, height: bound))
        #expect(ImageIOCodec.longestSide(of: size, for: newSize) == expected)
    }

    @Test("a format that the system cannot read is unsupported", arguments: [ImageKind.heic, .avif, .jpegXL, .tiff])
    func unknown(_ kind: ImageKind) {
        let expected = ImageError.unsupported(
            kind, advice: "This system cannot read it. Choose a JPEG, PNG, WebP or HEIC.")
        #expect(problem(file, kind) { $0.opens = false } == expected)
        #expect(problem(file, kind) { ($0.status, $0.properties) = (.unknownType, [:]) } == expected)
        #expect(problem(file, kind) { ($0.imageStatus, $0.properties) = ([0: .unknownType], [:]) } == expected)
        let fake = FakeImageIO { ($0.statusAfterDrawing, $0.drawn) = (.unknownType, .some(nil)) }
        #expect(
            throws: ImageError.unsupported(
                .heic, advice: "This system cannot read it. Choose a JPEG, PNG, WebP or HEIC.")
        ) { try decode(fake) }
    }

    @Test("formats known only to Image I/O are read") func otherKind() async throws {
        let photoshop = Data("8BPS".utf8) + Data(count: 60)
        let fake = FakeImageIO()
        let picture = try await ImageProcessor(ImageProcessor.Options(), codec: fake.codec).prepare(.data(photoshop))
        #expect(picture.size == PixelSize(width: 40, height: 30))
        #expect(fake.state.calls.first == "draw 0 in 40")
        for change in [
            { $0.opens = false }, { ($0.status, $0.properties) = (.unknownType, [:]) },
            { ($0.status, $0.properties) = (.readingHeader, [:]) }, { $0.imageStatus = [0: .invalidData] },
            { $0.properties = [:] },
        ] as [@Sendable (inout FakeImageIO.State) -> Void] {
            let processor = ImageProcessor(ImageProcessor.Options(), codec: FakeImageIO(change).codec)
            await #expect(throws: ImageError.notAnImage) { try await processor.prepare(.data(photoshop)) }
        }
    }

    @Test("drawings are unsupported, even if the system reads them", arguments: [ImageKind.svg, .pdf])
    func drawing(_ kind: ImageKind) {
        guard case .unsupported(kind, _) = problem(Data("<svg/>".utf8), kind, { _ in }) else {
            Issue.record("The drawing was accepted.")
            return
        }
    }

    @Test(
        "a good picture is read, whatever Image I/O says before it has decoded something",
        arguments: [ImageIOStatus.incomplete, .readingHeader, .unknownType, .other(-9)])
    func undecided(_ status: ImageIOStatus) throws {
        for after in [ImageIOStatus.complete, status] {
            let fake = FakeImageIO { state in
                state.status = status
                state.imageStatus = [0: status]
                state.statusAfterDrawing = after
            }
            #expect(try fake.codec.inspect(file, as: .heic).size == description.size)
            #expect(try decode(fake).size == small)
        }
    }

    @Test("a file that ends early is damaged") func cutShort() {
        #expect(damage(file) { $0.status = .unexpectedEnd } == "it ends early")
        #expect(damage(file) { $0.imageStatus = [0: .unexpectedEnd] } == "it ends early")
        for status in [ImageIOStatus.incomplete, .readingHeader] {
            #expect(damage(file) { ($0.status, $0.properties) = (status, [:]) } == "it ends early")
            let fake = FakeImageIO { ($0.statusAfterDrawing, $0.drawn) = (status, .some(nil)) }
            #expect(throws: ImageError.damaged(.heic, reason: "it ends early")) { try decode(fake) }
        }
    }

    @Test("the first frame of an animation keeps its place, whether Image I/O shows it on its canvas or alone")
    func croppedFrame() throws {
        var description = ImageDescription(kind: .webP, size: PixelSize(width: 80, height: 60))
        description.firstFrame = FrameArea(left: 40, top: 20, size: PixelSize(width: 40, height: 30))
        let file = Data(FileEndTests.webP)
        for (size, opaque) in [(PixelSize(width: 40, height: 30), 20 * 15), (description.size, 40 * 30)] {
            let alone = FakeImageIO()
            let bitmap = try alone.codec.decode(file, description, to: size, Cancellation())
            #expect(bitmap.size == size && bitmap.layout == .rgba)
            #expect(stride(from: 3, to: bitmap.pixels.count, by: 4).count { bitmap.pixels[$0] == 255 } == opaque)
            let onCanvas = FakeImageIO { $0.properties[0]?.size = description.size }
            #expect(try onCanvas.codec.decode(file, description, to: size, Cancellation()).size == size)
        }
    }

    @Test("a truncated file is damaged, even if Image I/O accepts it") func cutOff() {
        #expect(damage(file.dropLast()) { _ in } == "it ends early")
        #expect(problem(file) { _ in } == nil)
        #expect(problem(Data("GIF89a".utf8), .gif) { _ in } == nil)
    }

    @Test("invalid data is damaged") func damaged() {
        #expect(damage(file) { $0.status = .invalidData } == "its data is invalid")
        #expect(damage(file) { $0.imageStatus = [0: .invalidData] } == "its data is invalid")
        #expect(damage(file) { ($0.status, $0.properties) = (.other(-9), [:]) } == "Image I/O reports status -9")
        #expect(damage(file) { $0.properties = [:] } == "it has no size")
        for size in [PixelSize(width: 0, height: 30), PixelSize(width: 40, height: -1)] {
            let reason = damage(file) { $0.properties = [0: ImageIOProperties(size: size)] }
            #expect(reason == "it has no size")
        }
    }

    @Test("a picture larger than described is not decoded") func largerThanDescribed() {
        let fake = FakeImageIO { $0.properties[0]?.size.width = 41 }
        #expect(throws: ImageError.damaged(.heic, reason: "it has more pixels than its headers say")) {
            try decode(fake)
        }
        #expect(fake.state.calls.isEmpty)
    }

    @Test(
        "an error found while decoding rejects the picture",
        arguments: [(ImageIOStatus.unexpectedEnd, "it ends early"), (.invalidData, "its data is invalid")])
    func foundWhileDecoding(_ status: ImageIOStatus, _ reason: String) {
        let fake = FakeImageIO { $0.statusAfterDrawing = status }
        #expect(throws: ImageError.damaged(.heic, reason: reason)) { try decode(fake) }
    }

    @Test("a picture that does not decode is damaged") func notDecoded() {
        let fake = FakeImageIO { $0.drawn = .some(nil) }
        #expect(throws: ImageError.damaged(.heic, reason: "Image I/O cannot decode it")) { try decode(fake) }
    }

    @Test(
        "a bitmap with swapped sides, too few pixels or too few bytes is rejected",
        arguments: [(9, 12, 432), (18, 27, 1_944), (11, 9, 396), (12, 8, 384), (12, 9, 428), (.max, .max, 0)])
    func wrongSize(_ width: Int, _ height: Int, _ bytes: Int) {
        let size = PixelSize(width: width, height: height)
        let fake = FakeImageIO { $0.drawn = DrawnImage(size: size, pixels: [UInt8](repeating: 0, count: bytes)) }
        #expect(
            throws: ImageError.failed(
                reason: "Image I/O returned \(size) pixels instead of 12 x 9. Convert the picture to JPEG or PNG.")
        ) { try decode(fake) }
    }

    @Test(
        "a side rounded differently by Image I/O is accepted", arguments: [(18, 13), (18, 14), (17, 14), (19, 14)])
    func rounded(_ width: Int, _ height: Int) throws {
        let size = PixelSize(width: width, height: height)
        let fake = FakeImageIO {
            $0.drawn = DrawnImage(size: size, pixels: [UInt8](repeating: 255, count: size.count * 4))
        }
        #expect(try decode(fake) == Bitmap(small, .rgba, [UInt8](repeating: 255, count: small.count * 4)))
    }

    @Test("a cancelled picture is not decoded") func cancelled() {
        let fake = FakeImageIO()
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(throws: ImageError.cancelled) {
            try fake.codec.decode(file, description, to: small, cancellation)
        }
        #expect(fake.state.calls.isEmpty)
    }

    @Test("a picture is turned upright, flattened on the background and encoded") func wholeWay() async throws {
        let fake = FakeImageIO { state in
            state.properties[0] = ImageIOProperties(
                size: PixelSize(width: 4_000, height: 3_000), orientation: 6, hasAlpha: true)
        }
        let image = try await ImageProcessor(ImageProcessor.Options(), codec: fake.codec).prepare(.data(file))
        #expect(image.size == PixelSize(width: 768, height: 1_024) && image.format == .jpeg && !image.passedThrough)
        #expect(fake.state.calls == ["draw 0 in 1536", "write 768 x 1024 public.jpeg 0.8"])
        #expect(fake.state.layouts == [.rgb])
    }

    @Test("a picture with too many pixels is not decoded") func tooManyPixels() async {
        let size = PixelSize(width: 40_000, height: 30_000)
        let fake = FakeImageIO { $0.properties[0] = ImageIOProperties(size: size) }
        let processor = ImageProcessor(ImageProcessor.Options(), codec: fake.codec)
        await #expect(throws: ImageError.tooManyPixels(size, maximum: 120_000_000)) {
            try await processor.prepare(.data(file))
        }
        #expect(fake.state.calls.isEmpty)
    }
}
