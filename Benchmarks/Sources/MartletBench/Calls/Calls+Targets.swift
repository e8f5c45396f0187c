extension Calls {
    /// The targets of the loads that were measured.
    var targets: [Target] {
        let single = measured(1)
        let many = measured(8) + measured(64) + measured(256)
        let crowded = [Self.crowded]
        return throughput(.martlet, single + many + crowded, atLeast: 0.97)
            + throughput(.martletJSON, single, atLeast: 1.2)
            + throughput(.martletJSON, many, atLeast: 1.8)
            + throughput(.martletJSON, crowded, atLeast: 1.5)
            + (measured(64) + crowded).map { load in
                Target(
                    what: "processor time a call of \(ClientName.martletJSON.title) at \(load.label)",
                    bound: .atMost(0.6), measured: ratio(load, .martletJSON, to: .bare, of: \.cpuMicroseconds))
            }
            + throughput(.martletURLSession, measured(8) + measured(64), atLeast: 0.97)
            + measured(64).map { load in
                Target(
                    what: "\(ClientName.martletJSON.title) to \(ClientName.actor.title) at \(load.label)",
                    bound: .atLeast(4), measured: ratio(load, .martletJSON, to: .actor))
            }
    }

    /// The load with a connection for each call, pinned if possible; empty if it was left out.
    private func measured(_ concurrency: Int) -> [Load] {
        Array(loads.filter { $0.concurrency == concurrency && $0.connections >= concurrency }.prefix(1))
    }

    private func throughput(_ client: ClientName, _ loads: [Load], atLeast bound: Double) -> [Target] {
        loads.map { load in
            Target(
                what: "calls/s of \(client.title) at \(load.label)", bound: .atLeast(bound),
                measured: client.rival.flatMap { ratio(load, client, to: $0) })
        }
    }
}
