import Foundation
import HTTPTypes
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletBackground
@testable import MartletStorage

@Suite("A transfer in the background", .noBlockingCalls, .timeLimit(.minutes(10))) struct BackgroundTransferTests {
    @Test("a body in memory is sent from a private file, which is deleted after the end") func body() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            let id = try await transfers.upload(Call<NoContent>.post("/films", .text("the wing")))
            let body = world.names.first { $0.hasSuffix(".body") }
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(world.folder)/\(body ?? "none")")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            await world.daemon.perform(world.server)
            await world.daemon.deliver()
            let transfer = await first(transfers) { $0.hasEnded }
            #expect(transfer?.id == id && transfer?.stage == .finished(status: 200))
            #expect(transfer?.response == Data("film".utf8) && transfer?.path == nil)
            let request = world.daemon.state.withLock { $0.requests.first }
            #expect(request?.body == Data("the wing".utf8) && request?.token == "Bearer access-0")
            #expect(world.names.filter { $0.hasSuffix(".body") } == [])
            await transfers.remove(id)
            #expect(world.names == [])
            #expect(try await transfers.transfers == [])
        }
    }

    @Test("an app that was launched while its list could not be read works once it can be read")
    func lockedLaunch() async throws {
        try await TransferWorld.with { world in
            let call = Call<NoContent>.post("/films", .text("the wing"))
            let former = try await world.launch(world.signedIn(id: SessionID(rawValue: "A"))).upload(call)
            var transfers: BackgroundTransfers?
            try await SystemFaults.inject(["open": EPERM], in: world.folder) {
                transfers = try await world.launch(world.signedIn(id: SessionID(rawValue: "A")))
                await #expect(throws: StorageError.self) { try await transfers?.transfers }
            }
            #expect(try await transfers?.transfers.map(\.id) == [former])
            let next = try await transfers?.upload(call)
            #expect(try await transfers?.transfers.count { [former, next].contains($0.id) } == 2)
        }
    }

    @Test("the system's file of a download is moved within its callback, and replaces an existing one")
    func download() async throws {
        try await TransferWorld.with { world in
            let path = world.path + "/film"
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            let transfers = try await world.launch(world.signedIn())
            let id = try await transfers.download(film, to: path)
            #expect(world.content("film") == "old")
            await world.run(transfers)
            #expect(world.content("film") == "film")
            let transfer = try await transfers.transfers.first
            #expect(transfer?.id == id && transfer?.path == path && transfer?.stage == .finished(status: 200))
            #expect(world.names.filter { $0.hasSuffix(".download") } == [])
        }
    }

    @Test(
        "a download can go to another volume",
        .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "needs a second volume"))
    func volume() async throws {
        try await TransferWorld.with { world in
            let path = "/dev/shm/martlet-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: path) }
            let transfers = try await world.launch(world.signedIn())
            try await transfers.download(film, to: path)
            await world.run(transfers)
            #expect(FileManager.default.contents(atPath: path) == Data("film".utf8))
            #expect(world.names.filter { !$0.hasSuffix("record.json") } == [])
        }
    }

    @Test(
        "a download does not appear on another volume if its user signs out while it is copied",
        .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm"), "needs a second volume"))
    func signOutDuringCopy() async throws {
        try await TransferWorld.with { world in
            let folder = "/dev/shm/martlet-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let tokens = await world.signedIn()
            let copies = Locked(0)
            let steps = TransferSteps { step in
                guard step == .downloadCopied else { return }
                copies.withLock { $0 += 1 }
                let isSignedOut = DispatchSemaphore(value: 0)
                Task {
                    await tokens.signOut()
                    isSignedOut.signal()
                }
                isSignedOut.wait()
            }
            let transfers = try await world.launch(tokens, steps: steps)
            try await transfers.download(film, to: folder + "/film")
            await world.run(transfers)
            #expect(copies.withLock { $0 } == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
            #expect(world.names == [])
        }
    }

    @Test("a token that would soon expire is refreshed before the start", arguments: [(14, 1), (16, 0)])
    func preflight(minutes: Int, number: Int) async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn(lifetime: .seconds(3600))
            world.time.advance(by: .seconds(3600 - minutes * 60))
            let transfers = try await world.launch(tokens)
            try await transfers.download(film, to: world.path + "/film")
            await world.run(transfers)
            #expect(world.daemon.state.withLock { $0.requests.map(\.token) } == ["Bearer access-\(number)"])
        }
    }

    @Test("without a token nothing begins, and nothing is left") func noToken() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.manager(.inMemory))
            let post = Call<NoContent>.post("/films", .text("x"), authentication: .required)
            let failure = await error { try await transfers.upload(post) }
            guard case .signInRequired = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(world.names == [])
            // An endpoint that needs none goes out without one, and nothing is replayed.
            try await transfers.download(film, to: world.path + "/film")
            await world.run(transfers)
            #expect(world.daemon.state.withLock { $0.requests.map(\.token) } == ["none"])
            let transfer = try await transfers.transfers.first
            #expect(transfer?.stage == .failed(.unacceptableStatus(401)))
            #expect(transfer?.response == Data("who are you?".utf8))
            #expect(world.content("film") == nil)
        }
    }

    @Test("what cannot be transferred is refused before anything begins") func refused() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            let secret = Call<NoContent>(.post, "/films", headers: [.cookie: "a=b"], body: .text("x"))
            let starts: [() async throws -> Void] = [
                { try await transfers.upload(secret) }, { try await transfers.upload(film) },
                { try await transfers.upload(fileAt: world.path + "/none", to: Call<NoContent>.put("/films/7")) },
                { try await transfers.download(film, to: world.path + "/none/film") },
            ]
            for start in starts {
                switch await error(start) {
                case .invalidRequest, .unreadableFile: break
                default: Issue.record("it has begun")
                }
            }
            #expect(world.names == [])
        }
    }

    @Test("a second start with the same ID starts nothing") func sameID() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            let id = UUID()
            for _ in 0..<2 {
                #expect(try await transfers.upload(Call<NoContent>.post("/films", .text("x")), id: id) == id)
            }
            await world.run(transfers)
            #expect(try await transfers.upload(Call<NoContent>.post("/films", .text("x")), id: id) == id)
            await world.run(transfers)
            #expect(world.daemon.state.withLock { $0.accepted } == 1)
        }
    }

    @Test("two objects with one identifier are an error until the first is released") func identifiers() async throws {
        try await TransferWorld.with { world in
            let tokens = await world.signedIn()
            var transfers: BackgroundTransfers? = try await world.launch(tokens, identifier: world.path)
            await #expect(throws: BackgroundTransferError.identifierInUse(world.path)) {
                _ = try await world.launch(tokens, identifier: world.path)
            }
            _ = try await transfers?.transfers
            await transfers?.resume()
            transfers = nil
            // A settlement that was under way may hold it a moment longer.
            var isFree = false
            while !isFree {
                await Task.yield()
                isFree = (try? await world.launch(tokens, identifier: world.path)) != nil
            }
        }
    }

    @Test("the files contain no token, no URL with a secret and no field of the client") func noSecrets() async throws {
        try await TransferWorld.with { world in
            let transfers = try await world.launch(world.signedIn())
            try await transfers.download(Call<NoContent>.get("/films/7"), to: world.path + "/film")
            let signed = "https://cdn.example.com/film?X-Amz-Signature=6f1c9a3be0d24c8f9a7be1d2c3f4a5b6&token=s3cret"
            try await transfers.download(Call<NoContent>.get(.absolute(signed)), to: world.path + "/signed")
            for name in world.names {
                let text = world.content("list/\(name)") ?? ""
                for secret in ["access-", "refresh-", "s3cret", "6f1c9a3be0d2", "Authorization"] {
                    #expect(!text.contains(secret), "\(name)")
                }
            }
            let sent = world.daemon.state.withLock { $0.jobs.values.map(\.plan.request) }
            #expect(sent.contains { $0.path?.contains("s3cret") == true && $0.headerFields[.authorization] == nil })
        }
    }

    @Test("paths follow the app's container when an update moves it") func moved() async throws {
        try await TransferWorld.withFolder { folder in
            let old = try TransferWorld(folder + "/old")
            let new = try TransferWorld(folder + "/new")
            try FileManager.default.createDirectory(atPath: old.path, withIntermediateDirectories: true)
            let session = SessionID(rawValue: "A")
            let transfers = try await old.launch(old.signedIn(id: session))
            try await transfers.download(film, to: old.path + "/film")
            old.daemon.forceQuit()
            try FileManager.default.copyItem(atPath: old.path, toPath: new.path)
            let events = old.daemon.state.withLock { $0.events }
            new.daemon.state.withLock { $0.events = events }
            let relaunched = try await new.launch(new.signedIn(id: session))
            await new.run(relaunched)
            #expect(new.content("film") == "film" && old.content("film") == nil)
        }
    }

    @Test("a file to upload that is gone, and a folder that is gone, fail the transfer") func gone() async throws {
        try await TransferWorld.with { world in
            let source = world.path + "/source"
            try Data("x".utf8).write(to: URL(fileURLWithPath: source))
            try FileManager.default.createDirectory(atPath: world.path + "/films", withIntermediateDirectories: true)
            let transfers = try await world.launch(world.signedIn())
            let upload = try await transfers.upload(fileAt: source, to: Call<NoContent>.put("/films/7"))
            try await transfers.download(film, to: world.path + "/films/7")
            try FileManager.default.removeItem(atPath: world.path + "/films")
            world.oldestAccepted.withLock { $0 = 1 }
            await world.daemon.perform(world.server)
            try FileManager.default.removeItem(atPath: source)
            await world.run(transfers)
            let all = try await transfers.transfers
            #expect(all.count == 2)
            for transfer in all {
                guard case .failed(.file) = transfer.stage else {
                    Issue.record("\(transfer)")
                    continue
                }
            }
            #expect(all.contains { $0.id == upload })
            #expect(world.names.filter { !$0.hasSuffix("record.json") } == [])
        }
    }
}
