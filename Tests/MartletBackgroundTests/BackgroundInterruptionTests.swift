import Foundation
import HTTPTypes
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletBackground

@Suite("A transfer in the background that is interrupted", .noBlockingCalls, .timeLimit(.minutes(10)))
struct BackgroundInterruptionTests {
    private let rest = Data("the rest".utf8)

    @Test("a download goes on where it was, with the token that it had") func resumed() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            try await world.launch(tokens).download(film, to: world.path + "/film")
            world.daemon.forceQuit(resumeData: rest)
            let transfers = try await world.launch(tokens)
            await world.run(transfers)
            #expect(world.daemon.state.withLock { $0.requests.map(\.isResumption) } == [true])
            #expect(world.content("film") == "film")
        }
    }

    @Test("a download begins anew if its token was replaced: the system would send the old one") func anew()
        async throws
    {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            try await world.launch(tokens).download(film, to: world.path + "/film")
            world.daemon.forceQuit(resumeData: rest)
            try await tokens.refresh()
            let transfers = try await world.launch(tokens)
            await world.run(transfers)
            let requests = world.daemon.state.withLock { $0.requests }
            #expect(requests.map(\.isResumption) == [false] && requests.map(\.token) == ["Bearer access-1"])
        }
    }

    @Test("a resumed download whose token is rejected begins anew") func rejected() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            try await world.launch(tokens).download(film, to: world.path + "/film")
            world.daemon.forceQuit(resumeData: rest)
            world.oldestAccepted.withLock { $0 = 1 }
            let transfers = try await world.launch(tokens)
            await world.run(transfers)
            #expect(world.daemon.state.withLock { $0.requests.map(\.isResumption) } == [true, false])
            #expect(world.content("film") == "film")
        }
    }

    @Test("an idempotent upload is repeated, and any other is not: the server may have it", arguments: [true, false])
    func uploads(isIdempotent: Bool) async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            let call =
                isIdempotent
                ? Call<NoContent>.put("/films/7", .text("x")) : Call<NoContent>.post("/films", .text("x"))
            try await world.launch(tokens).upload(call)
            world.daemon.forceQuit()
            let transfers = try await world.launch(tokens)
            await world.run(transfers)
            let stage = try await transfers.transfers.first?.stage
            #expect(stage == (isIdempotent ? .finished(status: 200) : .failed(.interrupted)))
            #expect(world.daemon.state.withLock { $0.requests.count } == (isIdempotent ? 1 : 0))
            #expect(world.names.filter { $0.hasSuffix(".body") } == [])
        }
    }

    @Test("the system's own failure ends the transfer") func failed() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.download(film, to: world.path + "/film")
            world.daemon.end(with: -1001)
            await world.run(transfers)
            #expect(try await transfers.transfers.first?.stage == .failed(.connection("URLError -1001")))
        }
    }

    @Test(
        "the loss of the system's own service interrupts a transfer, and does not fail it",
        arguments: [.get, .put, .post] as [HTTPRequest.Method])
    func disconnected(method: HTTPRequest.Method) async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            switch method {
            case .get: try await transfers.download(film, to: world.path + "/film")
            case .put: try await transfers.upload(Call<NoContent>.put("/films/7", .text("x")))
            default: try await transfers.upload(Call<NoContent>.post("/films", .text("x")))
            }
            // NSURLErrorBackgroundSessionWasDisconnected. It has data to go on with if the task was a download.
            world.daemon.end(with: -997, resumeData: method == .get ? rest : nil)
            await world.run(transfers)
            let stage = try await transfers.transfers.first?.stage
            #expect(stage == (method == .post ? .failed(.interrupted) : .finished(status: 200)))
            let resumptions = world.daemon.state.withLock { $0.requests.map(\.isResumption) }
            #expect(resumptions == (method == .post ? [] : [method == .get]))
        }
    }

    @Test(
        "a system that ends a transfer again and again fails it in the end", arguments: [-997, -999])
    func endedAgain(code: Int) async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            let id = try await transfers.download(film, to: world.path + "/film")
            for _ in 0..<5 {
                world.daemon.end(with: code, isCancelledBySystem: code == -999)
                await world.daemon.deliver()
                await transfers.resume()
            }
            guard case .failed(.connection) = try await transfers.transfers.first?.stage else {
                Issue.record("it would start for ever")
                return
            }
            #expect(world.daemon.state.withLock { $0.jobs.isEmpty })
            // The app may start it again.
            await transfers.remove(id)
            try await transfers.download(film, to: world.path + "/film", id: id)
            world.daemon.end(with: -997)
            await world.run(transfers)
            #expect(try await transfers.transfers.first?.stage == .finished(status: 200))
        }
    }

    @Test(
        "a session that another process has, or that lacks its container, says what to change",
        arguments: [(-996, "Give each process"), (-995, "sharedContainerIdentifier")])
    func advice(code: Int, text: String) async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.download(film, to: world.path + "/film")
            world.daemon.end(with: code)
            await world.run(transfers)
            guard case .failed(let error) = try await transfers.transfers.first?.stage else {
                Issue.record("it has not failed")
                return
            }
            #expect(error.description.contains("\(code)") && error.description.contains(text))
        }
    }

    @Test("an end that arrives late is not mistaken for a lost task") func late() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            try await world.launch(tokens).upload(Call<NoContent>.put("/films/7", .text("x")))
            await world.daemon.perform(world.server)
            // At the launch the system names no task, and has not delivered the end yet.
            let transfers = try await world.launch(tokens)
            await transfers.resume()
            await world.time.waitForSleepers()
            world.time.advance(by: .seconds(59))
            await transfers.resume()
            await world.run(transfers)
            #expect(world.daemon.state.withLock { $0.requests.count } == 1)
            #expect(try await transfers.transfers.first?.stage == .finished(status: 200))
        }
    }

    @Test("a task that the system has lost is repeated or given up", arguments: [true, false])
    func lost(isIdempotent: Bool) async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            let call =
                isIdempotent
                ? Call<NoContent>.put("/films/7", .text("x")) : Call<NoContent>.post("/films", .text("x"))
            try await world.launch(tokens).upload(call)
            let jobs = world.daemon.state.withLock { state in
                defer { state.jobs = [:] }
                return state.jobs
            }
            let transfers = try await world.launch(tokens)
            _ = await transfers.session()
            await world.daemon.deliver(tellsEnd: true)
            await transfers.handleEvents()
            await world.run(transfers)
            let stage = try await transfers.transfers.first?.stage
            #expect(stage == (isIdempotent ? .finished(status: 200) : .failed(.interrupted)))
            // It was not lost after all. The server has a request that was given up at most once.
            world.daemon.state.withLock { $0.jobs.merge(jobs) { $1 } }
            await world.daemon.perform(world.server)
            await world.run(transfers)
            #expect(try await transfers.transfers.first?.stage == .finished(status: 200))
        }
    }

    @Test("a task that no record knows is cancelled") func unknown() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            try await world.launch(tokens).download(film, to: world.path + "/film")
            for name in world.names { try Data("{".utf8).write(to: URL(fileURLWithPath: "\(world.folder)/\(name)")) }
            let transfers = try await world.launch(tokens)
            _ = await transfers.session()
            #expect(world.daemon.state.withLock { $0.cancelled.count } == 1)
            await world.run(transfers)
            #expect(world.names == [] && world.content("film") == nil)
        }
    }

    @Test("a response without content fails a download, and leaves the app's file alone", arguments: [204, 205])
    func noContent(status: Int) async throws {
        try await TransferWorld.with { world in
            try Data("before".utf8).write(to: URL(fileURLWithPath: world.path + "/film"))
            let transfers = try await world.launch(world.signedIn())
            try await transfers.download(film, to: world.path + "/film")
            await world.run(transfers) { _, _ in .init(status: status) }
            #expect(try await transfers.transfers.first?.stage == .failed(.unacceptableStatus(status)))
            #expect(world.content("film") == "before")
        }
    }

    @Test("a download whose file the system has lost starts again, but not for ever", arguments: [1, 5])
    func lostFile(times: Int) async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.download(film, to: world.path + "/film")
            for _ in 0..<times {
                await world.daemon.perform(world.server)
                world.daemon.state.withLock { state in
                    state.events = state.events.map { event in
                        if case .download(let end, _) = event { .download(end, content: nil) } else { event }
                    }
                }
                await world.daemon.deliver()
                await transfers.resume()
            }
            await world.run(transfers)
            let stage = try await transfers.transfers.first?.stage
            if times == 1 {
                #expect(stage == .finished(status: 200) && world.content("film") == "film")
            } else if case .failed(.file) = stage {
                #expect(world.content("film") == nil)
            } else {
                Issue.record("\(String(describing: stage))")
            }
        }
    }

    @Test("the status of an upload is noted even if the disk has no room for the response") func fullDiskForResponse()
        async throws
    {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            let id = try await transfers.upload(Call<NoContent>.post("/films", .text("x")))
            await world.daemon.perform(world.server)
            // No file can replace a folder.
            let response = "\(world.folder)/\(id.uuidString).response"
            try FileManager.default.createDirectory(atPath: response + "/x", withIntermediateDirectories: true)
            await world.run(transfers)
            #expect(try await transfers.transfers.first?.stage == .finished(status: 200))
        }
    }

    @Test("a download that a full disk cannot note is kept, and noted at the next launch") func fullDisk() async throws
    {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            let transfers = try await world.launch(tokens)
            try await transfers.download(film, to: world.path + "/film")
            await world.daemon.perform(world.server)
            let file = "\(world.folder)/\(world.names.first ?? "none")"
            let record = FileManager.default.contents(atPath: file) ?? Data()
            // No file can replace a folder.
            try FileManager.default.removeItem(atPath: file)
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
            await world.daemon.deliver()
            #expect(try await transfers.transfers.first?.stage == .underWay)
            try FileManager.default.removeItem(atPath: file)
            try record.write(to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            let relaunched = try await world.launch(tokens)
            await world.run(relaunched)
            #expect(world.daemon.state.withLock { $0.requests.count } == 1)
            #expect(world.content("film") == "film")
        }
    }
}
