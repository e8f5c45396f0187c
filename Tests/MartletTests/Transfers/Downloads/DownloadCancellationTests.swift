import Foundation
import HTTPTypes
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletStorage

@Suite("Cancelling a download", .noBlockingCalls, .timeLimit(.minutes(10))) struct DownloadCancellationTests {
    private let content: Data
    private let server: DownloadServer

    init() {
        var generator = SeededGenerator(seed: 5)
        content = generator.bytes(10_500)
        server = DownloadServer(content)
    }

    @Test("a download cancelled at any moment leaves the whole file or none", arguments: [false, true])
    func cancelledAnywhere(keepsPartial: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film.bin"
            var keeping = DownloadOptions()
            keeping.keepsPartial = keepsPartial
            let options = keeping
            let call = Locked<Task<Bool, Never>?>(nil)
            var outcomes: Set<Bool> = []
            // Cancel at each piece of a body that breaks once, and then ever later after the last piece.
            for moment in 0..<60 {
                let calls = Locked(0)
                server.change { $0.breaks = [4000] }
                server.beforePiece { _ in
                    let number = calls.withLock { calls in
                        calls += 1
                        return calls
                    }
                    if number == min(moment, 24) {
                        let task = call.withLock { $0 }
                        if moment <= 24 { task?.cancel() } else { Task { task?.cancel() } }
                    }
                }
                let started = Gate()
                let task = Task { [server] in
                    await started.pass()
                    return
                        await error {
                            try await persistentClient(server.transport).download(
                                Get("/film", .none), to: path, options: options)
                        } == nil
                }
                call.withLock { $0 = task }
                if moment == 0 { task.cancel() }
                started.open()
                let isThere = await task.value
                outcomes.insert(isThere)
                let hidden = folder.names.filter { $0 != "film.bin" }
                #expect(folder.names.contains("film.bin") == isThere, "moment \(moment)")
                if isThere { #expect(FileManager.default.contents(atPath: path) == content, "moment \(moment)") }
                // Kept bytes always have their resume data.
                #expect(hidden.isEmpty || keepsPartial && !isThere && hidden.count == 2, "\(moment): \(hidden)")
                try? FileManager.default.removeItem(atPath: path)
            }
            #expect(outcomes == [true, false])
        }
    }

    @Test("a cancelled download leaves nothing behind") func cancelled() async throws {
        try await TemporaryFolder.with { folder in
            let reached = Gate()
            server.beforePiece { position in
                if position >= 5000 {
                    await reached.pass()
                    try await Gate().passUnlessCancelled()
                }
            }
            let call = Task { [server] in
                await error {
                    try await client(server.transport).download(Get("/film", .none), to: folder.path + "/film")
                }
            }
            await reached.waitForArrivals()
            call.cancel()
            reached.open()
            #expect(await call.value?.isCancelled == true)
            #expect(folder.names == [])
        }
    }

    @Test("a download that ends while its resume data is being written leaves none") func abandonedWhileOpening()
        async throws
    {
        try await TemporaryFolder.with { folder in
            var options = DownloadOptions()
            options.keepsPartial = true
            let started = Locked<DownloadReceiver?>(nil)
            let names = Log()
            let receiver = try await DownloadReceiver(
                to: folder.path + "/film", options, of: "film", for: PartialDownloadOwner(),
                steps: FileSteps { step in
                    guard step == .resumeDataWritten else { return }
                    names.add(folder.names.joined(separator: " "))
                    // The next attempt begins here.
                    var next = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/film")
                    started.withLock { $0 }?.addFields(to: &next)
                })
            started.withLock { $0 = receiver }
            defer { started.withLock { $0 = nil } }
            let head = HTTPResponse(status: .ok, headerFields: [.contentLength: "3", .eTag: "\"one\""])
            let response = IncomingResponse(
                attempt: receiver.attempt, head: head, body: ByteStream(Data("abc".utf8)),
                progress: { _ in }, finish: {}, slot: nil, owner: .unbound)
            await #expect(throws: CancellationError.self) { try await receiver.receive(response) }
            let hidden = PartialDownload(folder.path + "/film").destination.hiddenName
            #expect(names.lines == ["\(hidden) \(hidden).json"])
            #expect(folder.names == [hidden])
            await receiver.abandon()
            #expect(folder.names == [])
        }
    }
}
