import Foundation
import HTTPTypes
import Testing

@testable import Martlet

/// The reference backend, which `make apple-test` runs on loopback.
enum Backend {
    static func request(_ path: String, _ method: HTTPRequest.Method = .get) throws -> HTTPRequest {
        // xcodebuild passes TEST_RUNNER_MARTLET_BACKEND on under this name.
        let address = try #require(
            ProcessInfo.processInfo.environment["MARTLET_BACKEND"],
            "Run these tests with make apple-test, which starts the reference backend.")
        let url = try #require(URL(string: address))
        let (host, port) = (try #require(url.host), try #require(url.port))
        return HTTPRequest(method: method, scheme: "http", authority: "\(host):\(port)", path: path)
    }

    /// A body in pieces that can be read only once.
    static func streamed(pieces: Int, of size: Int, announcesLength: Bool) -> OutgoingBody {
        let chunks = AsyncStream<Data> { continuation in
            for index in 0..<pieces { continuation.yield(Data(repeating: UInt8(index % 251), count: size)) }
            continuation.finish()
        }
        return OutgoingBody(ByteStream(chunks), length: announcesLength ? Int64(pieces * size) : nil)
    }
}

/// The backend's description of a request that it received.
struct Echo: Decodable {
    var bodyLength: Int
}
