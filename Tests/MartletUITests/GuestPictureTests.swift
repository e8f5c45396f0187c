import Foundation
import Martlet
import MartletGuests
import MartletTesting
import Testing

@testable import MartletImages
@testable import MartletUI

@Suite("Registering a guest with a picture", .timeLimit(.minutes(10))) struct GuestPictureTests {
    @Test("a guest is registered with a picture")
    func guest() async throws {
        let server = GuestServer()
        let guest = try await server.guests.register(name: "Ada", image: .file(at: Self.path("clean.jpg")))
        #expect(guest.id == "7")
        let body = try #require(server.transport.requests.first?.body)
        let text = String(decoding: body, as: UTF8.self)
        #expect(text.contains("name=\"image\"; filename=\"clean.jpg\"\r\nContent-Type: image/jpeg\r\n"))
        #expect(text.contains("\r\n\r\nAda\r\n"))
    }

    @Test("a guest whose screen has no picture is registered without one") func noPicture() async throws {
        let server = GuestServer()
        let picture: ImageSource? = nil
        #expect(try await server.guests.register(name: "Ada", image: picture).id == "7")
        let body = String(decoding: try #require(server.transport.requests.first?.body), as: UTF8.self)
        #expect(!body.contains("filename") && body.contains("\r\n\r\nAda\r\n"))
        let response = try await server.guests.registrationResponse(
            name: "Ada", image: .file(at: Self.path("clean.jpg")))
        #expect(response.value.id == "7" && response.status == 200)
        #expect(server.transport.requests.last?.body.count ?? 0 > body.utf8.count)
    }

    @Test("a double tap registers one guest, even while the first tap's picture is being prepared")
    func doubleTap() async throws {
        let server = GuestServer()
        let codec = GatedCodec()
        let processor = ImageProcessor(.init(), codec: codec)
        let taps = (0..<3).map { _ in
            Task { try await server.guests.register(name: "Ada", image: Self.needsWork, processor: processor) }
        }
        await codec.started()
        // Leaves time for a second registration to start.
        for _ in 0..<1000 { await Task.yield() }
        codec.release.signal()
        for tap in taps { #expect(try await tap.value.id == "7") }
        #expect(server.transport.requests.count == 1 && codec.decodes == 1)
    }

    @Test("an unusable picture is an error before anything is sent")
    func failure() async throws {
        let server = GuestServer()
        let source = ImageSource.data(Data("Dear Ada,".utf8))
        await #expect { try await server.guests.register(name: "Ada", image: source) } throws: { error in
            guard case NetworkError.invalidRequest(let call, let reason) = error else { return false }
            return call.url == "/auth/guest/register" && reason == ImageError.notAnImage.description
        }
        #expect(server.transport.requests.isEmpty)
    }

    @Test("a caller cancelled while the picture is prepared returns at once, and the others still get their guest")
    func cancelled() async throws {
        let server = GuestServer()
        let codec = GatedCodec()
        let processor = ImageProcessor(.init(), codec: codec)
        let register: @Sendable () async throws -> Guest = {
            try await server.guests.register(name: "Ada", image: Self.needsWork, processor: processor)
        }
        let first = Task { try await register() }
        await codec.started()
        let second = Task { try await register() }
        for _ in 0..<1000 { await Task.yield() }
        first.cancel()
        let outcome = await first.result
        #expect { try outcome.get() } throws: { error in (error as? NetworkError)?.isCancelled == true }
        codec.release.signal()
        #expect(try await second.value.id == "7")
    }

    @Test("the only caller, cancelled while the picture is prepared, gets a cancellation")
    func onlyCallerCancelled() async throws {
        let server = GuestServer()
        let codec = GatedCodec()
        let processor = ImageProcessor(.init(), codec: codec)
        let registration = Task {
            try await server.guests.register(name: "Ada", image: Self.needsWork, processor: processor)
        }
        await codec.started()
        registration.cancel()
        codec.release.signal()
        let outcome = await registration.result
        #expect { try outcome.get() } throws: { error in (error as? NetworkError)?.isCancelled == true }
        #expect(server.transport.requests.isEmpty)
    }

    private static let needsWork = ImageSource.file(at: path("gps.jpg"))

    /// The path of a picture that the tests of MartletImages have.
    private static func path(_ name: String) -> String {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return tests.appendingPathComponent("MartletImagesTests/Fixtures/\(name)").path
    }
}

/// A server that registers every guest as the same user.
private struct GuestServer {
    let transport = StubTransport { _ in
        .json(#"{"user":{"id":"7","name":"Ada"},"accessToken":"a","refreshToken":"r","expiresIn":3600}"#)
    }
    let guests: GuestAuthService

    init() {
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/refresh"),
            transport: transport, time: ManualTimeSource())
        guests = GuestAuthService(NetworkClient(tokens: tokens))
    }
}

/// A codec that reports when it decodes, and then waits for `release`.
private final class GatedCodec: ImageCodec {
    let release = DispatchSemaphore(value: 0)
    private let count = Locked(0)
    private let (starts, starting) = AsyncStream.makeStream(of: Void.self)

    var decodes: Int { count.withLock { $0 } }

    func started() async { for await _ in starts {} }

    func inspect(_ bytes: Data, as kind: ImageKind) throws(ImageError) -> ImageDescription { throw .notAnImage }

    func decode(
        _ bytes: Data, _ description: ImageDescription, to size: PixelSize, _ cancellation: Cancellation
    ) throws(ImageError) -> Bitmap {
        count.withLock { $0 += 1 }
        starting.finish()
        release.wait()
        return Bitmap(size, .grey, [UInt8](repeating: 0, count: size.count))
    }

    func encode(_ bitmap: Bitmap, as format: ImageFormat, quality: Int) throws(ImageError) -> Data { Data(count: 100) }
}
