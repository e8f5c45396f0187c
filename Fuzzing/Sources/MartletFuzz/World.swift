import Martlet
import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One schedule: processes, callers, a disk, a server, and what befalls them, all of it from one seed.
///
/// `@unchecked Sendable` is right because a schedule runs on one thread.
final class World: @unchecked Sendable {
    let seed: UInt64
    let script: Script
    let time: ManualTimeSource
    let history: History
    let server: SimulatedServer
    let jitter: SharedDice
    private(set) var disk: SimulatedDisk
    private let diskDice: SharedDice
    private var powers: [Life: Power] = [:]
    private var isCalm = false

    init(seed: UInt64) {
        self.seed = seed
        script = Script(seed: seed)
        time = ManualTimeSource()
        history = History(time: time)
        server = SimulatedServer(script, seed: seed, time: time, history: history)
        jitter = SharedDice(seed: seed ^ 0x117E_4A11)
        diskDice = SharedDice(seed: seed ^ 0xD15C_0001)
        disk = SimulatedDisk(time: time)
        disk = SimulatedDisk(
            firstRecord(), time: time,
            conduct: { [unowned self] process, operation in conduct(Life(named: process), operation) },
            report: { [history] process, incident in history.add(Life(named: process), incident) })
        if let record = disk.record { history.learn(record) }
    }

    private func firstRecord() -> StoredSession? {
        let left: Double
        switch script.start {
        case .nothing: return nil
        case .fresh: left = Double(script.lifetime ?? 3600)
        case .expired: left = -60
        }
        let (family, bundle) = server.issue()
        return StoredSession(
            id: SessionID(), bundle: bundle, freshUntil: time.wallClock.addingTimeInterval(left),
            lifetime: script.lifetime.map { .seconds($0) }, account: SessionAccount(userID: "\(family)"))
    }

    func add(_ power: Power, of life: Life) {
        powers[life] = power
    }

    private func conduct(_ life: Life, _ operation: SimulatedDisk.Operation) -> SimulatedDisk.Conduct {
        powers[life]?.touch()
        guard !isCalm else { return SimulatedDisk.Conduct() }
        let delays: [Duration] =
            script.isSlow
            ? [.zero, .zero, .zero, .milliseconds(5), .milliseconds(500), .seconds(2), .seconds(11)] : [.zero]
        var conduct = SimulatedDisk.Conduct(before: diskDice.pick(delays), after: diskDice.pick(delays))
        if diskDice.isTrue(inPercent: script.roughDisk) {
            conduct.trouble = diskDice.pick([
                .unreachable(StorageFailure(.locked, "locked")), .full(StorageFailure(.unreachable, "full")),
                .full(StorageFailure(.unreachable, "full")),
                .doneButFailed(.misleading),
                .unreadable(StorageFailure(.corrupt, "damaged")),
            ])
        }
        return conduct
    }

    /// Lets it all happen.
    func run() throws -> SeededScheduler.Run<Void> {
        var scheduler = SeededScheduler(seed: seed, time: time)
        scheduler.jobLimit = 200_000
        let run = try scheduler.run { await self.happen() }
        for power in powers.values { power.forgetDependents() }
        return run
    }

    private func happen() async {
        let mischief = Task { await self.makeMischief() }
        let survivors = await withTaskGroup(of: SimulatedProcess.self) { group in
            for (index, lives) in script.processes.enumerated() {
                group.addTask { await self.live(lives, process: index + 1) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await mischief.value
        await comeToRest(survivors.sorted { $0.life.process < $1.life.process })
    }

    /// - Returns: The last of its lives.
    private func live(_ lives: [Script.LifeScript], process: Int) async -> SimulatedProcess {
        var last: SimulatedProcess?
        for (index, life) in lives.enumerated() {
            if life.wait > .zero { try? await time.sleep(until: time.uptime + life.wait) }
            let process = SimulatedProcess(Life(process: process, number: index + 1), self, touches: life.touches)
            last = process
            await withTaskGroup(of: Void.self) { group in
                for (caller, steps) in life.callers.enumerated() {
                    group.addTask { await process.run(steps, caller: caller + 1) }
                }
            }
            // A life that was to end and did not goes on: its process is never asked for another one.
            if process.power.isOn { return process }
        }
        return last ?? SimulatedProcess(Life(process: process, number: 1), self, touches: nil)
    }

    private func makeMischief() async {
        for mischief in script.mischief {
            try? await time.sleep(until: time.uptime + mischief.wait)
            switch mischief.what {
            case .jump(let duration):
                history.add(.jumps(duration))
                time.advance(by: duration)
            case .setWallClock(let seconds):
                history.add(.setsWallClock(seconds))
                time.setWallClock(time.wallClock.addingTimeInterval(seconds))
            case .withdrawAccess: server.withdrawAccess()
            case .forget: server.forget()
            }
        }
    }

    /// All is well from now on: what was put off is done, and then what everybody believes must be true.
    private func comeToRest(_ survivors: [SimulatedProcess]) async {
        var processes = survivors
        isCalm = true
        for power in powers.values { power.secure() }
        server.calmDown()
        history.add(.repairs)
        for (index, process) in processes.enumerated() where !process.power.isOn {
            let life = Life(process: process.life.process, number: process.life.number + 1)
            processes[index] = SimulatedProcess(life, self, touches: nil)
        }
        try? await time.sleep(until: time.uptime + .seconds(1_000))
        for process in processes { _ = await process.token() }
        try? await time.sleep(until: time.uptime + .seconds(1))
        for process in processes {
            let reply = await process.token()
            history.add(.rests(process.life, process.tokens.state, reply, stored: disk.record))
        }
    }
}

extension StorageFailure {
    /// What is said of something that was done.
    static let misleading = StorageFailure(.unreachable, "broken down")
}

extension SimulatedDisk.Incident {
    var isMisleading: Bool {
        if case .failed(.update, .misleading, _) = self { true } else { false }
    }
}
