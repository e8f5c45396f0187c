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

    @Suite("A transfer's publisher", .timeLimit(.minutes(10))) struct TransferPublisherTests {
        private static let size: Int64 = 2_000_000

        /// An upload of many chunks.
        private struct Film: APIEndpoint {
            let path: RequestPath = "/films"
            let method = HTTPRequest.Method.post
            var authentication = AuthenticationRequirement.none
            var body: RequestBody? {
                .stream(length: size, contentType: "video/mp4") { .zeros(Int(size), pieceSize: 10_000) }
            }
        }

        private typealias Update = TransferUpdate<Int>
        private let whole = TransferEvent.sent(TransferCount(completed: size, total: size))

        @Test("publishes an upload's progress, then the response, then the completion") func upload() async {
            let publisher: AnyPublisher<TransferUpdate<Int>, NetworkError> = client(StubTransport { _ in .json("7") })
                .uploadPublisher(for: Film(), as: Int.self, interval: .zero)
            let recorder = publisher.record()
            await recorder.waitForEnd()
            #expect(recorder.isFinished)
            #expect(recorder.values.first == .progress(.attempt(1)))
            #expect(recorder.values.last == .finished(7))
            #expect(recorder.values.dropLast().last == .progress(whole))
            let counts = recorder.values.compactMap { update -> Int64? in
                if case .progress(.sent(let count)) = update { count.completed } else { nil }
            }
            #expect(counts == counts.sorted())
            #expect(recorder.disorder == 0)
        }

        @Test("late demand receives only the newest count") func conflated() async {
            let gate = Gate()
            let transport = StubTransport { _ in
                await gate.pass()
                return .json("7")
            }
            let recorder = client(transport).uploadPublisher(for: Film(), as: Int.self, interval: .zero).record(.none)
            // By now the whole body has been sent.
            await gate.waitForArrivals()
            #expect(recorder.values.isEmpty)
            recorder.request(.max(1))
            await recorder.waitUntilDemandIsNeeded(after: 1)
            #expect(recorder.values == [.progress(.attempt(1))])
            recorder.request(.max(1))
            await recorder.waitForValues(2)
            #expect(recorder.values == [.progress(.attempt(1)), .progress(whole)])
            gate.open()
            await recorder.waitUntilDemandIsNeeded(after: 2)
            recorder.request(.max(1))
            await recorder.waitForEnd()
            #expect(recorder.values.last == .finished(7))
            #expect(recorder.values.count == 3)
            #expect(recorder.isFinished)
        }

        @Test("announces an attempt that sends the body again after a 401") func again() async throws {
            let app = try await App.signedIn()
            app.issue()
            let film = Film(authentication: .required)
            let recorder = app.client.uploadPublisher(for: film, interval: .zero).record()
            await recorder.waitForEnd()
            #expect(recorder.isFinished)
            let attempts = recorder.values.compactMap { update -> Int? in
                if case .progress(.attempt(let number)) = update { number } else { nil }
            }
            #expect(attempts == [1, 2])
            guard case .finished = recorder.values.last else {
                Issue.record("\(recorder.values)")
                return
            }
        }

        @Test("fails at once, even if values wait for demand") func failure() async {
            let client = client(StubTransport { _ in .status(404) })
            let recorder = client.uploadPublisher(for: Film(), as: Int.self, interval: .zero).record(.none)
            await recorder.waitForEnd()
            #expect(recorder.values.isEmpty)
            #expect(recorder.failure?.response?.status == 404)
        }

        @Test("works for requests with a bound response") func bound() async {
            let call = Call<Int>.post("/films", .bytes(Data(count: 10)))
            let recorder = client(StubTransport { _ in .json("7") }).uploadPublisher(for: call).record()
            await recorder.waitForEnd()
            #expect(recorder.values.last == .finished(7))
        }

        @Test("cancelling the subscription cancels the upload") func cancelled() async {
            let transport = SilentTransport()
            let recorder = client(transport.stub).uploadPublisher(for: Film(), as: Int.self).record()
            await transport.log.waitForLines(1)
            recorder.cancel()
            await transport.log.waitForLines(2)
            await recorder.waitUntilReleased()
            #expect(!recorder.isOver)
            #expect(!recorder.values.contains { if case .finished = $0 { true } else { false } })
        }

        @Test("publishes a download's progress, then the location of the file") func download() async throws {
            try await TemporaryFolder.with { folder in
                let transport = StubTransport { _ in
                    StubTransport.Response(200, headers: [.contentLength: "10500"], stream: .zeros(10_500))
                }
                let path = folder.path + "/film.bin"
                let recorder = client(transport)
                    .downloadPublisher(for: Get("/film", .none), to: URL(fileURLWithPath: path), interval: .zero)
                    .map { update -> TransferUpdate<DownloadedFile> in
                        switch update {
                        case .progress(let event): .progress(event)
                        case .finished(let response): .finished(response.value)
                        }
                    }
                    .record()
                await recorder.waitForEnd()
                #expect(recorder.isFinished)
                let received = TransferCount(completed: 10_500, total: 10_500)
                #expect(recorder.values.contains(.progress(.received(received))))
                #expect(recorder.values.last == .finished(DownloadedFile(path: path, size: 10_500)))
                #expect(folder.names == ["film.bin"])
            }
        }

        @Test(
            "cancelling the subscription cancels the download and leaves no file") func cancelledDownload() async throws
        {
            try await TemporaryFolder.with { folder in
                let log = Log()
                let transport = StubTransport { _ in
                    let body = ByteStream.zeros(10_500) { position in
                        guard position >= 5000 else { return }
                        log.add("came")
                        await waitForCancellation()
                        log.add("cancelled")
                        throw CancellationError()
                    }
                    return StubTransport.Response(200, stream: body)
                }
                let recorder = client(transport)
                    .downloadPublisher(for: Get("/film", .none), to: folder.path + "/film.bin").record()
                await log.waitForLines(1)
                recorder.cancel()
                await log.waitForLines(2)
                await recorder.waitUntilReleased()
                #expect(!recorder.isOver)
                #expect(folder.names == [])
            }
        }

        @Test("a download fails with the error the call would throw") func failedDownload() async {
            let recorder = client(StubTransport { _ in .status(200) })
                .downloadPublisher(for: Get("/film", .none), to: "/nowhere/at/all/film").record(.none)
            await recorder.waitForEnd()
            guard case .downloadFailed = recorder.failure else {
                Issue.record("\(String(describing: recorder.failure))")
                return
            }
        }
    }
#endif
