import Martlet
import MartletTesting

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One schedule with its processes, callers, disk, server and disturbances, all derived from one seed.
///
/// `@unchecked Sendable`: a schedule runs on one thread.
final class World: @unchecked Sendable {
    let seed: UInt64
    let script: Script
    let time: ManualTimeSource
    let history: History
    let server: SimulatedServer
    let jitter: SharedDice
    let connectivity = ManualConnectivityMonitor()
    let downloads = DownloadFolder()
    /// The oldest refresh token and the newest access token that the server accepts, for each process and account.
    var accountTokens: [[Int]: (first: Int, newest: Int)] = [:]
    private var accountStores: [Int: AccountStore] = [:]
    private(set) var disk: SimulatedDisk
    /// The tokens of a former library; `nil` if the device has none.
    private(set) var former: FormerPlace?
    private let diskDice: SharedDice
    private let interceptorDice: SharedDice
    private var powers: [Life: ProcessLife] = [:]
    /// Whether all faults have ended.
    private(set) var isCalm = false

    init(seed: UInt64) {
        self.seed = seed
        script = Script(seed: seed)
        time = ManualTimeSource()
        history = History(time: time)
        server = SimulatedServer(script, seed: seed, time: time, history: history)
        jitter = SharedDice(seed: seed ^ 0x117E_4A11)
        diskDice = SharedDice(seed: seed ^ 0xD15C_0001)
        interceptorDice = SharedDice(seed: seed ^ 0x1A7E_5CE9)
        disk = SimulatedDisk(time: time)
        disk = SimulatedDisk(
            firstRecord(), time: time,
            behavior: { [unowned self] process, operation in behavior(Life(named: process), operation) },
            report: { [history] process, event in history.add(Life(named: process), event) })
        if let record = disk.record { history.learn(record) }
        former = script.former.map { FormerPlace($0, self) }
    }

    private func firstRecord() -> StoredSession? {
        if script.start == .nothing { return nil }
        let (family, tokens) = server.issue()
        let now = time.wallClock
        let record = StoredSession(storing: tokens, account: SessionAccount(userID: "\(family)"), at: now)
        // Without a lifetime a token never counts as expired. `expired(at:)` makes it expire an hour before its
        // argument.
        let isExpired = script.start == .expired && script.lifetime != nil
        return isExpired ? record.expired(at: now.addingTimeInterval(3600 - 60)) : record
    }

    func add(_ power: ProcessLife, of life: Life) {
        powers[life] = power
    }

    /// The accounts of a process. They outlive it.
    func accountStore(of process: Int) -> AccountStore {
        let store = accountStores[process] ?? .inMemory
        accountStores[process] = store
        return store
    }

    private func behavior(_ life: Life, _ operation: SimulatedDisk.Operation) -> SimulatedDisk.Behavior {
        powers[life]?.touch()
        guard !isCalm else { return SimulatedDisk.Behavior() }
        let delays: [Duration] =
            script.isSlow
            ? [.zero, .zero, .zero, .milliseconds(5), .milliseconds(500), .seconds(2), .seconds(11)] : [.zero]
        var behavior = SimulatedDisk.Behavior(before: diskDice.pick(delays), after: diskDice.pick(delays))
        if diskDice.isTrue(inPercent: script.diskFailurePercent) {
            behavior.fault = diskDice.pick([
                .unreachable(StorageError(.locked, "locked")), .full(StorageError(.unreachable, "full")),
                .full(StorageError(.unreachable, "full")),
                .failedAfterCommit(.falseFailure),
                .unreadable(StorageError(.corrupt, "damaged")),
            ])
        }
        return behavior
    }

    func interceptorDelay() -> Duration {
        isCalm ? .zero : interceptorDice.pick([.zero, .zero, .zero, .milliseconds(30), .seconds(2), .seconds(40)])
    }

    /// The delay before a client that repeats requests on its own does so.
    func repetitionDelay() -> Duration {
        isCalm ? .zero : interceptorDice.pick([.zero, .milliseconds(500), .seconds(1), .seconds(5)])
    }

    /// Records that a caller of a process makes a call.
    func begin(_ call: Int, of life: Life, caller: Int, _ kind: CallKind, _ situation: Situation) {
        if case .request(let plan) = kind { server.expect(call, plan) }
        history.add(.asks(life, call: call, caller: caller, kind, situation))
    }

    /// Records the result of a call, unless the process is dead.
    func end(_ call: Int, of life: Life, _ power: ProcessLife, _ reply: Reply) {
        if power.isOn { history.add(.returns(life, call: call, reply)) }
    }

    func run() throws -> SeededScheduler.Run<Void> {
        defer { downloads.remove() }
        var scheduler = SeededScheduler(seed: seed, time: time)
        scheduler.jobLimit = 200_000
        let run = try scheduler.run { await self.play() }
        for power in powers.values { power.forgetDependents() }
        return run
    }

    private func play() async {
        let disturbances = Task { await self.disturb() }
        let survivors = await withTaskGroup(of: SimulatedProcess.self) { group in
            for (index, lives) in script.processes.enumerated() {
                group.addTask { await self.run(lives, process: index + 1) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        await disturbances.value
        await settle(survivors.sorted { $0.life.process < $1.life.process })
    }

    /// Starts a process as an app does: it adopts a former library's tokens, and then creates its manager.
    private func start(_ life: Life, touches: Int?) async -> SimulatedProcess {
        let launch = ProcessLaunch(life, self, touches: touches)
        if let former, let plan = script.former {
            await former.takeOver(into: launch.disk, by: life, launch.power, isRemoved: plan.isRemoved)
        }
        return SimulatedProcess(launch, self)
    }

    /// Runs the lifetimes of a process one after another.
    /// - Returns: The last one.
    private func run(_ lives: [Script.LifeScript], process: Int) async -> SimulatedProcess {
        var last: SimulatedProcess?
        for (index, life) in lives.enumerated() {
            if life.wait > .zero { try? await time.sleep(until: time.uptime + life.wait) }
            let process = await start(Life(process: process, number: index + 1), touches: life.touches)
            last = process
            await withTaskGroup(of: Void.self) { group in
                for (caller, steps) in life.callers.enumerated() {
                    group.addTask { await process.run(steps, caller: caller + 1) }
                }
            }
            // The process survived its planned death, so it needs no further lifetime.
            if process.power.isOn { return process }
        }
        if let last { return last }
        return await start(Life(process: process, number: 1), touches: nil)
    }

    private func disturb() async {
        for disturbance in script.disturbances {
            try? await time.sleep(until: time.uptime + disturbance.wait)
            switch disturbance.what {
            case .jump(let duration):
                history.add(.jumps(duration))
                time.advance(by: duration)
            case .setWallClock(let seconds):
                history.add(.setsWallClock(seconds))
                time.setWallClock(time.wallClock.addingTimeInterval(seconds))
            case .setConnected(let isConnected): setConnected(isConnected)
            case .withdrawAccess: server.withdrawAccess()
            case .forget: server.forget()
            }
        }
    }

    private func setConnected(_ isConnected: Bool) {
        history.add(.connects(isConnected))
        server.isReachable = isConnected
        connectivity.setConnected(isConnected)
    }

    /// Ends all faults, lets pending work finish and records the final state of each process.
    private func settle(_ survivors: [SimulatedProcess]) async {
        var processes = survivors
        isCalm = true
        for power in powers.values { power.secure() }
        server.calmDown()
        if !server.isReachable { setConnected(true) }
        history.add(.repairs)
        for (index, process) in processes.enumerated() where !process.power.isOn {
            let life = Life(process: process.life.process, number: process.life.number + 1)
            processes[index] = await start(life, touches: nil)
        }
        try? await time.sleep(until: time.uptime + .seconds(1_000))
        for process in processes { _ = await process.token() }
        if script.slots != nil { for process in processes { await process.useSlot() } }
        // If one change follows another, the second is reported after the delays of both.
        try? await time.sleep(until: time.uptime + .seconds(1) + (script.newsDelay ?? .zero) * 2)
        for process in processes {
            let reply = await process.token()
            history.add(.settles(process.life, process.tokens.state, reply, stored: disk.record))
        }
    }
}

extension StorageError {
    /// The error that is reported for an update although it was performed.
    static let falseFailure = StorageError(.unreachable, "broken down")
}
