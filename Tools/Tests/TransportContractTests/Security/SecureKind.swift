import HTTPTypes
import Testing

@testable import Martlet

/// A transport with settings, and how it sends.
enum SecureKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case streamed
    case inMemory

    var testDescription: String { rawValue }

    func withTransport(
        _ tls: TLSSettings, _ proxy: ProxySettings? = nil, _ body: (any Transport) async throws -> Void
    ) async throws {
        let transport = try AsyncHTTPClientTransport(tls: tls, proxy: proxy)
        do {
            try await body(self == .streamed ? transport : InMemoryTransport(transport))
        } catch {
            try await transport.shutdown()
            throw error
        }
        try await transport.shutdown()
    }
}

/// Sends a request with a token, and returns the status.
func get(
    _ authority: String, scheme: String = "https", over transport: any Transport
) async throws -> Int {
    let request = HTTPRequest(
        method: .get, scheme: scheme, authority: authority, path: "/", headerFields: [.authorization: "Bearer s3cret"])
    let (head, body) = try await transport.send(request, body: nil)
    _ = try await body.collect(upTo: 10_000)
    return head.status.code
}

/// Sends a request that must succeed.
func expectAnswer(_ authority: String, over transport: any Transport) async throws {
    let status = try await get(authority, over: transport)
    #expect(status == 200)
}

/// The reason for which TLS fails; `nil` if it does not, or if another error is thrown.
func tlsFailure(_ operation: () async throws -> Int) async throws -> String? {
    do {
        _ = try await operation()
        return nil
    } catch TransportError.tlsFailed(let reason) {
        return reason
    }
}
