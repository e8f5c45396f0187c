// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of swift-openapi-runtime 1 that the documentation uses, so that its Swift blocks compile without that
// package. Sources: Sources/OpenAPIRuntime/Interface/ClientTransport.swift and HTTPBody.swift.

public import Foundation
public import Martlet

public enum IterationBehavior: Sendable {
    case single
    case multiple
}

public final class HTTPBody: Sendable {
    public typealias ByteChunk = ArraySlice<UInt8>

    public enum Length: Sendable {
        case unknown
        case known(Int64)
    }

    public let iterationBehavior: IterationBehavior
    fileprivate let bytes: @Sendable () async -> Data

    public init(_ data: Data) {
        iterationBehavior = .multiple
        bytes = { data }
    }

    public init(_ stream: AsyncStream<ByteChunk>, length: Length) {
        iterationBehavior = .single
        bytes = { await stream.reduce(into: Data()) { $0.append(contentsOf: $1) } }
    }
}

extension Data {
    public init(collecting body: HTTPBody, upTo maxBytes: Int) async throws { self = await body.bytes() }
}

public protocol ClientTransport: Sendable {
    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}

public protocol ClientMiddleware: Sendable {
    func intercept(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String,
        next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?)
}
