internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers
internal import ReferenceBackend
internal import Testing

extension EndToEnd {
    @Suite("Uploads and downloads over the wire", .timeLimit(.minutes(10)))
    struct TransferTests {
        private static let size = 3_000_000
        private static let content = Data((0..<size).map { UInt8($0 % 251) })

        /// Runs a test with a signed-in user and a temporary folder.
        private func run(_ wire: Wire, _ test: (App, String) async throws -> Void) async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try await App.run(
                .reissue, over: wire, configure: { $0.retry = RetryPolicy(maximumAttempts: 3, firstDelay: .zero) }
            ) { app in
                try await app.signUp()
                try await test(app, folder.path)
            }
        }

        @Test("C51: a rejected download is refreshed and replayed, and the file is complete", arguments: Wire.allCases)
        func refused(wire: Wire) async throws {
            try await run(wire) { app, folder in
                try await app.controls.expireAccessTokens()
                try await app.client.download(AnyCall.get("/files/\(Self.size)"), to: folder + "/a")
                #expect(app.counters.refreshesCalled == 1)
                #expect(FileManager.default.contents(atPath: folder + "/a") == Self.content)
            }
        }

        @Test("C51: a download resumes after a lost connection, with a new token", arguments: Wire.allCases)
        func midway(wire: Wire) async throws {
            try await run(wire) { app, folder in
                let position = NIOLockedValueBox(Int64(0))
                let monitor = TransferMonitor(interval: .zero)
                let expiring = Task {
                    for await event in monitor.events {
                        // Invalidate the token once the first bytes have arrived.
                        guard case .received(let count) = event, count.completed > 0 else { continue }
                        try await app.controls.expireAccessTokens()
                        position.withLockedValue { $0 = count.completed }
                        return
                    }
                }
                let response = try await app.client.download(
                    AnyCall.get("/files/\(Self.size)", query: ["breakAt": 1_000_000]), to: folder + "/a",
                    monitor: monitor)
                try await expiring.value
                #expect(position.withLockedValue { $0 } > 0)
                #expect(response.attempts >= 2)
                #expect(response.value.size == Int64(Self.size))
                #expect(FileManager.default.contents(atPath: folder + "/a") == Self.content)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
            }
        }

        @Test("a partial download is kept for the next call, and the whole file is verified", arguments: Wire.allCases)
        func kept(wire: Wire) async throws {
            try await run(wire) { app, folder in
                var options = DownloadOptions()
                options.keepsPartial = true
                options.check = .fromServer(required: true)
                let call = AnyCall.get("/files/\(Self.size)", query: ["breakAt": 1_000_000])
                var config = app.client.config
                config.retry = .never
                let client = NetworkClient(tokens: app.tokens, config: config)
                await #expect(throws: NetworkError.self) {
                    try await client.download(call, to: folder + "/a", options: options)
                }
                let response = try await client.download(call, to: folder + "/a", options: options)
                #expect(response.value.resumedBytes > 0)
                #expect(FileManager.default.contents(atPath: folder + "/a") == Self.content)

                await #expect(throws: NetworkError.self) {
                    try await client.download(call, to: folder + "/b", options: options)
                }
                await client.discardPartialDownload(to: folder + "/b")
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
            }
        }

        @Test("event streams reconnect, with a token that expires between the connections", arguments: Wire.allCases)
        func events(wire: Wire) async throws {
            try await run(wire) { app, _ in
                var heard: [String] = []
                let call = AnyCall.get("/events", query: ["count": 7, "each": 3])
                for try await event in app.client.serverSentEvents(from: call) {
                    #expect(event.name == "count" && event.data == event.lastEventID)
                    heard.append(event.data)
                    if heard.count == 3 { try await app.controls.expireAccessTokens() }
                }
                #expect(heard == (1...7).map(String.init))
                #expect(app.counters.refreshesCalled == 1)
            }
        }

        @Test(
            "C40: a large form is replayed completely after a 401 at its end, with progress for each attempt",
            arguments: Wire.allCases)
        func largeForm(wire: Wire) async throws {
            try await run(wire) { app, folder in
                let size = 24 << 20
                let path = folder + "/film"
                try Data(repeating: 7, count: size).write(to: URL(fileURLWithPath: path))
                var form = MultipartForm()
                form.append("a film", named: "title")
                form.append(fileAt: path, named: "film")
                let total = try #require(try form.contentLength())
                try await app.controls.expireAccessTokens()
                app.controls.update { $0.authenticatesAfterBody = true }
                let monitor = TransferMonitor(interval: .zero)
                let events = monitor.events
                let listening = Task {
                    var attempts: [[Int64]] = []
                    for await event in events {
                        switch event {
                        case .attempt: attempts.append([])
                        case .sent(let count): attempts[attempts.count - 1].append(count.completed)
                        case .received: break
                        }
                    }
                    return attempts
                }
                let parts: [Upload] = try await app.client.send(
                    AnyCall.post("/uploads", .multipart(form)), monitor: monitor)
                #expect(parts.map(\.size).contains(size))
                let attempts = await listening.value
                #expect(attempts.count == 2)
                for counts in attempts {
                    #expect(counts == counts.sorted())
                    #expect(counts.last == total)
                }
                #expect(app.counters["POST /uploads"] == 2)
            }
        }

        @Test("a streamed response is read piece by piece", arguments: Wire.allCases)
        func streamed(wire: Wire) async throws {
            try await run(wire) { app, _ in
                try await app.controls.expireAccessTokens()
                let response = try await app.client.stream(AnyCall.get("/files/\(Self.size)"))
                var bytes = Data()
                for try await piece in response.value { bytes.append(piece) }
                #expect(bytes == Self.content)
            }
        }

        @Test(
            "a dropped stream and a cancelled download end the request, and the client stays usable",
            arguments: Wire.allCases)
        func dropped(wire: Wire) async throws {
            try await run(wire) { app, folder in
                for _ in 0..<20 {
                    let response = try await app.client.stream(AnyCall.get("/files/\(Self.size)"))
                    for try await _ in response.value { break }
                    let call = Task {
                        try await app.client.download(AnyCall.get("/files/\(Self.size)"), to: folder + "/a")
                    }
                    call.cancel()
                    _ = await call.result
                }
                let _: User = try await app.client.send(Me())
            }
        }
    }
}
