import Foundation
import HTTPTypes
import MartletTesting

@testable import Martlet

/// A client over a stub whose bodies count the requests: `1`, `2` and so on.
struct CachingApp {
    let time = ManualTimeSource()
    let cache: HTTPCache
    let transport: StubTransport
    let client: NetworkClient

    /// - Parameter respond: The response, whose body is the number of the request if it is empty; `nil` for a 200.
    init(
        maximumBytes: Int = 1 << 20,
        _ respond: @escaping @Sendable (StubTransport.Request) async throws -> StubTransport.Response
    ) {
        cache = HTTPCache(maximumBytes: maximumBytes)
        transport = StubTransport(respond)
        client = Martlet.NetworkClient(
            baseURL: "https://api.example.com",
            config: config { [cache, time] in
                $0.cache = cache
                $0.time = time
                $0.retry = .never
            }, transport: transport)
    }

    /// The server sends these header fields, and the number of the request as the body.
    init(_ headers: HTTPFields) {
        self.init { .counted($0, headers) }
    }

    func advance(_ seconds: Int) { time.advance(by: .seconds(seconds)) }
}

extension StubTransport.Response {
    static func counted(_ request: StubTransport.Request, _ headers: HTTPFields) -> Self {
        StubTransport.Response(200, headers: headers, body: Data("\(request.number)".utf8))
    }
}
