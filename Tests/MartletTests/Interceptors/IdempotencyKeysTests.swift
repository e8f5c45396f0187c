import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Idempotency keys", .timeLimit(.minutes(10))) struct IdempotencyKeysTests {
    /// Loses the first response of each path.
    private static func losingFirst() -> StubTransport {
        let seen = Locked<Set<String>>([])
        return StubTransport { request in
            let isFirst = seen.withLock { $0.insert(request.path).inserted }
            if isFirst { throw TransportError.connectionLost("reset by peer") }
            return .status(204)
        }
    }

    private static func client(
        _ transport: StubTransport, _ interceptors: [any RequestInterceptor] = [IdempotencyKeys()]
    ) -> NetworkClient {
        MartletTests.client(transport) {
            $0.interceptors = interceptors
            $0.retry = RetryPolicy(firstDelay: .zero)
        }
    }

    private static func keys(_ transport: StubTransport) -> [String?] {
        transport.requests.map { $0.headers[.idempotencyKey] }
    }

    @Test("a call is sent again after a lost response, with the same key") func retried() async throws {
        let transport = Self.losingFirst()
        let client = Self.client(transport)
        try await client.send(Post("/orders"))
        try await client.send(Post("/payments"))
        let keys = Self.keys(transport)
        #expect(keys.count == 4 && keys.allSatisfy { $0?.count == 36 })
        #expect(keys[0] == keys[1] && keys[2] == keys[3] && keys[0] != keys[2])
    }

    // Another call would get another random key.
    @Test(
        "an error says that a call with a key of the app can be repeated, and that any other may have been performed",
        arguments: [true, false])
    func advice(hasRandomKey: Bool) async throws {
        let transport = StubTransport { _ in throw TransportError.connectionLost("reset by peer") }
        let client = Self.client(transport, hasRandomKey ? [IdempotencyKeys()] : [])
        let repeatable = await result { () async throws(NetworkError) in
            try await client.intercepted(by: IdempotencyKeys("order-7")).send(Post("/orders"))
        }
        let doubtful = await result { () async throws(NetworkError) in try await client.send(Post("/orders")) }
        let (one, other) = (try #require(repeatable.error), try #require(doubtful.error))
        UserText.Language.$override.withValue(.english) {
            #expect(one.localizedDescription == "The connection was lost. Try again.")
            #expect(other.localizedDescription.hasSuffix("check before you try again."))
        }
        #expect(one.explanation.hasSuffix("Try again.") && other.explanation.hasSuffix("before you send it again."))
    }

    @Test("a client's keys give way to that of one call") func both() async throws {
        let transport = Self.losingFirst()
        let client = Self.client(transport)
        try await client.intercepted(by: IdempotencyKeys("order-7")).send(Post("/orders"))
        #expect(Self.keys(transport) == ["order-7", "order-7"])
    }

    @Test("a key that the app knows is that of one call") func known() async throws {
        let transport = Self.losingFirst()
        let client = Self.client(transport, [])
        try await client.intercepted(by: IdempotencyKeys("order-7")).send(Post("/orders"))
        #expect(Self.keys(transport) == ["order-7", "order-7"])
        await #expect(throws: NetworkError.self) { try await client.send(Post("/payments")) }
        #expect(transport.requests.count == 3)
    }

    @Test("a key that the call has set stays, and the call is retried") func ownKey() async throws {
        let transport = Self.losingFirst()
        let client = Self.client(transport)
        var call = Call<NoContent>.post("/orders")
        call.headers[.idempotencyKey] = "own"
        try await client.send(call)
        #expect(Self.keys(transport) == ["own", "own"])
        try await client.intercepted(by: IdempotencyKeys("later")).send(call)
        #expect(Self.keys(transport).last == "own")
    }

    @Test("a call to a third party, which gets no key, is not retried") func thirdParty() async throws {
        let transport = Self.losingFirst()
        let call = Call<NoContent>.post(.absolute("https://pay.example.net/charges"))
        await #expect(throws: NetworkError.self) { try await Self.client(transport).send(call) }
        #expect(Self.keys(transport) == [nil])
    }

    @Test("a call that an interceptor sends to a third party, which gets no key, is not retried") func reroutedCall()
        async throws
    {
        let transport = Self.losingFirst()
        let reroute = ClosureInterceptor(onAdapt: { request, _ in request.authority = "pay.example.net" })
        let client = Self.client(transport, [IdempotencyKeys(), reroute])
        await #expect(throws: NetworkError.self) { try await client.send(Post("/charges")) }
        #expect(Self.keys(transport) == [nil])
    }

    @Test("a key follows a redirect to another origin, so that the retries there have it too") func redirected()
        async throws
    {
        let seen = Locked(0)
        let transport = StubTransport { request in
            if request.path == "/orders" {
                return .status(307, headers: [.location: "https://eu.example.net/orders/new"])
            }
            let count = seen.withLock { count in
                count += 1
                return count
            }
            if count == 1 { throw TransportError.connectionLost("reset by peer") }
            return .status(204)
        }
        try await Self.client(transport).send(Post("/orders"))
        let keys = Self.keys(transport)
        #expect(keys.count == 4 && keys[0] != nil && Set(keys).count == 1)
    }

    @Test("methods without a key are neither marked nor retried, and GET needs none") func otherMethods() async throws {
        let transport = Self.losingFirst()
        let client = Self.client(transport, [IdempotencyKeys(methods: [.patch])])
        await #expect(throws: NetworkError.self) { try await client.send(Post("/orders")) }
        try await client.send(Call<NoContent>.get("/orders/7"))
        #expect(Self.keys(transport) == [nil, nil, nil])
    }

    @Test("without attempts left there is no retry") func never() async throws {
        let transport = Self.losingFirst()
        let client = MartletTests.client(transport) {
            $0.interceptors = [IdempotencyKeys()]
            $0.retry = .never
        }
        await #expect(throws: NetworkError.self) { try await client.send(Post("/orders")) }
        #expect(transport.requests.count == 1)
    }
}
