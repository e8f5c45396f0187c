import Foundation
import HTTPTypes
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletBackground

/// Copies the device after each step of a transfer, and launches the app on each copy: as if the process had been
/// killed there.
@Suite("A process that is killed during a transfer in the background", .noBlockingCalls, .timeLimit(.minutes(10)))
struct BackgroundCrashTests {
    /// A device as it was after a step.
    private struct Snapshot: Sendable {
        let path: String
        let daemon: TransferDaemon.State
        let session: StoredSession?
        let step: TransferSteps.Step
    }

    enum Kind: CaseIterable, Sendable { case post, put, download }

    /// Whether the system delivers an event again that it has delivered to the killed process. Apple does not say.
    enum Redelivery: CaseIterable, Sendable { case never, later, atOnce }

    @Test(
        "nothing is lost, doubled or left behind, whichever step was the last one", arguments: Kind.allCases,
        [0, 1])
    func sameUser(kind: Kind, oldestAccepted: Int) async throws {
        try await TransferWorld.withFolder { folder in
            let snapshots = try await snapshots(kind, oldestAccepted, in: folder)
            #expect(snapshots.count > 5)
            for snapshot in snapshots {
                for redelivery in Redelivery.allCases {
                    let copy = "\(snapshot.path)-\(redelivery)"
                    try FileManager.default.copyItem(atPath: snapshot.path, toPath: copy)
                    try await check(kind, snapshot, at: copy, redelivery, oldestAccepted)
                }
            }
        }
    }

    @Test("another user who signs in after the kill gets nothing of the transfer", arguments: Kind.allCases, [0, 1])
    func otherUser(kind: Kind, oldestAccepted: Int) async throws {
        try await TransferWorld.withFolder { folder in
            for snapshot in try await snapshots(kind, oldestAccepted, in: folder) {
                let world = try TransferWorld(
                    snapshot.path, daemon: snapshot.daemon, oldestAccepted: oldestAccepted)
                let wasPublished = world.content("film") != nil
                let sent = snapshot.daemon.requests.count
                let transfers = try await world.launch(world.signedIn("bob", number: 70))
                await world.run(transfers)
                #expect(try await transfers.transfers == [], "\(snapshot.step)")
                #expect(world.names == [], "\(snapshot.step)")
                #expect((world.content("film") != nil) == wasPublished, "\(snapshot.step)")
                let later = world.daemon.state.withLock { $0.requests.dropFirst(sent).map(\.token) }
                // A task that was resumed before the launch may still send its request, with the token of its own user.
                #expect(later.allSatisfy { $0 != "Bearer access-70" }, "\(snapshot.step)")
            }
        }
    }

    private func check(
        _ kind: Kind, _ snapshot: Snapshot, at path: String, _ redelivery: Redelivery, _ oldestAccepted: Int
    ) async throws {
        var daemon = snapshot.daemon
        if redelivery == .never { daemon.events = [] }
        let world = try TransferWorld(path, daemon: daemon, oldestAccepted: oldestAccepted)
        world.daemon.deliversAtOnce.withLock { $0 = redelivery == .atOnce }
        // A file that the killed process has moved is gone.
        if world.content("film") != nil || world.names.contains(where: { $0.hasSuffix(".download") }) {
            world.daemon.state.withLock { $0.events = $0.events.map(\.withoutFile) }
        }
        let hasRecord = world.names.contains { $0.hasSuffix(".record.json") }
        let wasRemoved = snapshot.step == .recordRemoved
        let tokens = await world.manager(snapshot.session.map { .inMemory(holding: $0) } ?? .inMemory)
        let transfers = try await world.launch(tokens)
        _ = await transfers.session()
        // Without the events that were lost with the process, the system says when there are no more.
        await world.daemon.deliver(tellsEnd: true)
        await transfers.handleEvents()
        await world.run(transfers)
        let (accepted, all) = (world.daemon.state.withLock { $0.accepted }, try await transfers.transfers)
        let place = "\(kind) \(redelivery) \(snapshot.step)"
        guard hasRecord, !wasRemoved else {
            // The call had not returned yet, or the app has removed the transfer.
            #expect(all == [] && world.names == [], "\(place)")
            #expect(wasRemoved || accepted == 0, "\(place)")
            return
        }
        #expect(all.count == 1, "\(place)")
        switch kind {
        case .post:
            // The server must not get it twice. If its response was lost, the app learns that.
            #expect(accepted <= 1, "\(place)")
            let isHonest = all.first?.stage == .finished(status: 200) ? accepted == 1 : redelivery == .never
            #expect(isHonest, "\(place) \(String(describing: all.first?.stage))")
            #expect([.finished(status: 200), .failed(.interrupted)].contains(all.first?.stage), "\(place)")
        case .put, .download:
            #expect(all.first?.stage == .finished(status: 200), "\(place)")
            #expect(accepted >= 1, "\(place)")
        }
        if kind == .download { #expect(world.content("film") == "film", "\(place)") }
        for transfer in all { await transfers.remove(transfer.id) }
        #expect(world.names == [], "\(place)")
    }

    /// Runs a transfer, and copies the device after each of its steps.
    private func snapshots(
        _ kind: Kind, _ oldestAccepted: Int, in folder: String
    ) async throws -> [Snapshot] {
        let origin = folder + "/origin"
        try FileManager.default.createDirectory(atPath: origin, withIntermediateDirectories: true)
        let world = try TransferWorld(origin, oldestAccepted: oldestAccepted)
        let tokens = await world.signedIn()
        let found = Locked<[Snapshot]>([])
        // The ends that were delivered last, which the system may deliver again.
        let delivered = Locked<[TransferDaemon.Event]>([])
        let steps = TransferSteps { step in
            let path = "\(folder)/\(found.withLock { $0.count })"
            try? FileManager.default.copyItem(atPath: origin, toPath: path)
            var daemon = world.daemon.state.withLock { $0 }
            daemon.events = delivered.withLock { $0 }
            let rest = world.daemon.state.withLock { $0.jobs }
            daemon.jobs = rest.mapValues { $0.moved(from: origin, to: path) }
            let session = tokens.inspect { $0.machine.currentRecord }
            let snapshot = Snapshot(path: path, daemon: daemon, session: session, step: step)
            found.withLock { $0.append(snapshot) }
        }
        let transfers = try await world.launch(tokens, steps: steps)
        switch kind {
        case .post: try await transfers.upload(Call<NoContent>.post("/films", .text("the wing")))
        case .put: try await transfers.upload(Call<NoContent>.put("/films/7", .text("the wing")))
        case .download: try await transfers.download(film, to: origin + "/film")
        }
        for _ in 0..<4 {
            await world.daemon.perform(world.server)
            let events = world.daemon.state.withLock { $0.events }
            if !events.isEmpty {
                delivered.withLock { $0 = events }
                // The process that gets the events dies before it takes any step.
                await BlockingQueue.run { steps.reached(.taskResumed) }
            }
            await world.daemon.deliver()
            await transfers.resume()
        }
        for transfer in try await transfers.transfers { await transfers.remove(transfer.id) }
        return found.withLock { $0 }
    }
}

extension TransferDaemon.Event {
    fileprivate var withoutFile: TransferDaemon.Event {
        if case .download(let end, _) = self { .download(end, content: nil) } else { self }
    }
}

extension TransferDaemon.Job {
    /// The same job of a copied device.
    fileprivate func moved(from origin: String, to path: String) -> TransferDaemon.Job {
        guard case .upload(let file) = plan.work, file.hasPrefix(origin) else { return self }
        let work = BackgroundTask.Plan.Work.upload(path: path + file.dropFirst(origin.count))
        return .init(plan: .init(name: plan.name, request: plan.request, work: work), isResumed: isResumed)
    }
}
