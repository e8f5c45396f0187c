import Foundation
import HTTPTypes

@testable import Martlet

/// Sends bodies that are in memory as typed calls do, and all others as streams.
struct InMemoryTransport: Transport {
    private let transport: any DeadlineTransport

    init(_ transport: any DeadlineTransport) {
        self.transport = transport
    }

    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        var bytes: Data?
        if let body {
            guard case .bytes(let content) = body.content else { return try await transport.send(request, body: body) }
            bytes = content
        }
        let limit = 1 << 30
        let response = try await transport.exchange(request, body: bytes, upTo: limit, within: .seconds(100_000))
        return (response.head, ByteStream(try await response.collect(upTo: limit)))
    }

    func makeIsolatedTransport() -> any Transport {
        guard let isolated = transport.makeIsolatedTransport() as? any DeadlineTransport else { return self }
        return InMemoryTransport(isolated)
    }

    func parallelRequests(to origin: Origin) -> Int? { transport.parallelRequests(to: origin) }

    var waitsForContinue: Bool { transport.waitsForContinue }
}
