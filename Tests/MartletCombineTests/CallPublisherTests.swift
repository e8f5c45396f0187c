#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
    #endif
    import Foundation
    import Martlet
    import MartletTesting
    import Testing

    @testable import MartletCombine

    @Suite("A call's publisher", .timeLimit(.minutes(10))) struct CallPublisherTests {
        @Test("publishes the requested type and finishes") func named() async {
            let transport = StubTransport { _ in .json("[1,2,3]") }
            let publisher: AnyPublisher<[Int], NetworkError> = client(transport).publisher(
                for: Get("/numbers", .none), as: [Int].self)
            let recorder = publisher.record()
            await recorder.waitForEnd()
            #expect(recorder.values == [[1, 2, 3]])
            #expect(recorder.isFinished)
        }

        @Test("publishes the bound response type, or Void for an endpoint without one") func others()
            async
        {
            let transport = StubTransport { request in
                request.method == .delete ? .status(204) : .json(#"{"path":"/me"}"#)
            }
            let client = client(transport)
            let bound: AnyPublisher<Echo, NetworkError> = client.publisher(for: Call<Echo>.get("/me"))
            let echo = bound.record()
            await echo.waitForEnd()
            #expect(echo.values == [Echo(path: "/me")])

            struct Delete: APIEndpoint {
                let path: RequestPath = "/articles/7"
                let method = HTTPRequest.Method.delete
            }
            let silent: AnyPublisher<Void, NetworkError> = client.publisher(for: Delete())
            let nothing = silent.record()
            await nothing.waitForEnd()
            #expect(nothing.values.count == 1)
            #expect(nothing.isFinished)
        }

        @Test("publishes the bytes, or the whole response") func responses() async {
            let transport = StubTransport { _ in .json("7", headers: [.eTag: "\"one\""]) }
            let data = client(transport).dataPublisher(for: Get("/number", .none)).record()
            await data.waitForEnd()
            #expect(data.values.map(\.value) == [Data("7".utf8)])
            let response = client(transport).responsePublisher(for: Get("/number", .none), as: Int.self).record()
            await response.waitForEnd()
            #expect(response.values.map(\.value) == [7])
            #expect(response.values.first?.headers[.eTag] == "\"one\"")
        }

        @Test("has the code, the message and the meta of an envelope") func envelopes() async throws {
            let transport = StubTransport { _ in
                .json(
                    #"{"success":true,"code":"OK","message":"Hello","data":{"path":"/me"},"meta":{"requestId":"7f3a"}}"#
                )
            }
            let client = client(transport) { $0.envelope = ResponseEnvelope() }
            let named = client.responsePublisher(for: Get("/me", .none), as: Echo.self).record()
            let bound = client.responsePublisher(for: Call<Echo>.get("/me")).record()
            let upload = client.uploadResponsePublisher(for: Call<Echo>.post("/me", .json([1]))).record()
            let other = client.uploadResponsePublisher(for: Get("/me", .none), as: Echo.self).record()
            for recorder in [named, bound] {
                await recorder.waitForEnd()
                let response = try #require(recorder.values.first)
                #expect(response.value == Echo(path: "/me") && response.code == "OK" && response.message == "Hello")
                #expect(response.meta?.requestID == "7f3a")
            }
            for recorder in [upload, other] {
                await recorder.waitForEnd()
                guard case .finished(let response) = recorder.values.last else {
                    Issue.record("the upload did not finish")
                    return
                }
                #expect(response.value == Echo(path: "/me") && response.meta?.requestID == "7f3a")
            }
        }

        @Test("publishes the response of a sign-in, and fails as it does") func signIn() async throws {
            let app = App()
            let login = AnyPublisher { () throws(NetworkError) in
                try await app.client.signInResponse(for: Call<NoContent>.post("/auth/refresh"))
            }
            #expect(app.transport.requests.isEmpty)
            let recorder = login.record()
            await recorder.waitForEnd()
            #expect(recorder.values.map(\.status) == [200] && recorder.isFinished)
            #expect(app.tokens.currentTokens?.accessToken == "access-1")

            let refused = AnyPublisher { () throws(NetworkError) in
                try await app.client.signIn(Call<NoContent>.post("/login"))
            }.record()
            await refused.waitForEnd()
            #expect(refused.failure?.response?.status == 401 && refused.values.isEmpty)
        }

        @Test("the closure's parameter names the type") func inferred() async throws {
            let transport = StubTransport { _ in .json(#"[{"path":"/a"},{"path":"/b"}]"#) }
            let client = client(transport)
            let (paths, ended) = (Locked<[[String]]>([]), Gate())
            var subscriptions: Set<AnyCancellable> = []
            client.publisher(for: Get("/all", .none))
                .sink { _ in
                    ended.open()
                } receiveValue: { (all: [Echo]) in
                    let found = all.map(\.path)
                    paths.withLock { $0.append(found) }
                }
                .store(in: &subscriptions)
            await ended.pass()
            #expect(paths.withLock { $0 } == [["/a", "/b"]])

            let replaced = Gate()
            client.publisher(for: Get("/all", .none))
                .replaceError(with: [])
                .sink { (all: [Echo]) in
                    paths.withLock { $0.append(all.map(\.path)) }
                    replaced.open()
                }
                .store(in: &subscriptions)
            await replaced.pass()
            #expect(paths.withLock { $0.last } == ["/a", "/b"])

            let mapped = client.publisher(for: Get("/all", .none)).map { (all: [Echo]) in all.count }
                .eraseToAnyPublisher().record()
            let details = client.responsePublisher(for: Get("/all", .none))
                .map { (response: NetworkResponse<[Echo]>) in response.status }
                .eraseToAnyPublisher().record()
            await mapped.waitForEnd()
            await details.waitForEnd()
            #expect(mapped.values == [2] && details.values == [200])
        }

        @Test("fails with the error the call would throw") func failures() async {
            let transport = StubTransport { request in
                switch request.path {
                case "/gone": .status(404)
                case "/odd": .json(#""no number""#)
                default: throw TransportError.offline
                }
            }
            func failure(_ path: RequestPath) async -> NetworkError? {
                let client = client(transport) { $0.retry = .never }
                let recorder = client.publisher(for: Get(path, .none), as: Int.self).record()
                await recorder.waitForEnd()
                #expect(recorder.values.isEmpty)
                return recorder.failure
            }
            let gone = await failure("/gone")
            let odd = await failure("/odd")
            let offline = await failure("/there")
            #expect(gone?.response?.status == 404)
            if case .decoding = odd {} else { Issue.record("\(String(describing: odd))") }
            if case .offline = offline {} else { Issue.record("\(String(describing: offline))") }
        }

        @Test("sends nothing before the first subscription, and one request per subscription") func cold() async {
            let transport = StubTransport { request in .json("\(request.number)") }
            let opened = Locked(0)
            let work = TaskPublisher<Int, NetworkError>(opening: {
                opened.withLock { $0 += 1 }
                return { _ in }
            })
            #expect(opened.withLock { $0 } == 0)
            await work.record().waitForEnd()
            #expect(opened.withLock { $0 } == 1)

            let publisher = client(transport).publisher(for: Get("/number", .none), as: Int.self)
            let one = publisher.record()
            await one.waitForEnd()
            let other = publisher.record()
            await other.waitForEnd()
            #expect(one.values == [1])
            #expect(other.values == [2])
            #expect(transport.requests.count == 2)
        }

        @Test("renews a rejected token and replays the call, like any other call")
        func renewed() async throws {
            let app = try await App.signedIn()
            app.issue()
            let recorder = app.client.publisher(for: Get("/me"), as: Echo.self).record()
            await recorder.waitForEnd()
            #expect(recorder.values == [Echo(path: "/me")])
            #expect(app.transport.requests(to: "/auth/refresh").count == 1)
            #expect(app.transport.requests(to: "/me").count == 2)
        }

        @Test("is available for a mock client") func mock() async {
            let recorder = NumberClient().publisher(for: Get("/number", .none), as: Int.self).record()
            await recorder.waitForEnd()
            #expect(recorder.values == [42])
            let upload = NumberClient().uploadPublisher(for: Get("/number", .none), as: Int.self).record()
            await upload.waitForEnd()
            #expect(upload.values == [.finished(42)])
            #expect(upload.isFinished)
        }

        @Test("works with operators") func operators() async {
            let transport = StubTransport { request in .json(request.path == "/one" ? "1" : "2") }
            let client = client(transport)
            let sum = client.publisher(for: Get("/one", .none), as: Int.self)
                .flatMap { one in client.publisher(for: Get("/two", .none), as: Int.self).map { one + $0 } }
                .eraseToAnyPublisher()
                .record()
            await sum.waitForEnd()
            #expect(sum.values == [3])
            #expect(transport.requests.map(\.path) == ["/one", "/two"])
        }
    }

    /// A client that returns 42 for every call and ignores monitors.
    private struct NumberClient: APIClient {
        func response<Value: Decodable & Sendable>(
            for endpoint: any Endpoint, as type: Value.Type, monitor: TransferMonitor?
        ) async throws(NetworkError) -> NetworkResponse<Value> {
            guard let value = 42 as? Value else {
                throw .cancelled(CallDescription(method: "GET", url: "", attempts: 0))
            }
            return NetworkResponse(
                value: value, head: HTTPResponse(status: .ok), duration: .zero)
        }

        func data(
            for endpoint: any Endpoint, monitor: TransferMonitor?
        ) async throws(NetworkError) -> NetworkResponse<Data> {
            NetworkResponse(
                value: Data("42".utf8), head: HTTPResponse(status: .ok),
                duration: .zero)
        }
    }
#endif
