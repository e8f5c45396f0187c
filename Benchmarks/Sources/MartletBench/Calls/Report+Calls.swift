extension Report {
    func show(_ calls: Calls) {
        if Processors.pair == nil {
            print(
                """
                Server and client are not pinned to a core each: that needs Linux, two cores and the command taskset of \
                the package \(Processors.package).

                """)
        }
        let contests = calls.loads.compactMap { calls.contests[$0] }
        show("Typed GETs with a token, 915 bytes of JSON with 20 structs", "calls at once", contests)
        let compared = ClientName.allCases.filter { $0.rival != nil }
        table(
            "Calls/s relative to the bare transport with JSONDecoder, medians",
            [""] + contests.map(\.label),
            compared.map { client in
                [client.title]
                    + calls.loads.map { load in
                        client.rival.flatMap { calls.ratio(load, client, to: $0) }?.formatted(2) ?? ""
                    }
            })
    }

    /// A table with a row for each client of each contest.
    func show(_ title: String, _ column: String, _ contests: [Contest], row: (Lane) -> String = \.client.title) {
        var rows: [[String]] = []
        for contest in contests {
            for entrant in contest.entrants {
                let slices = entrant.slices
                var cells = [
                    contest.label, row(entrant.lane), slices.callsPerSecond.formatted(0),
                    slices.cpuMicroseconds.formatted(1), (Double(slices.peakBytes) / 1e6).formatted(0),
                ]
                if let rival = contest.rival(of: entrant) {
                    let cpu = Contest.ratios(\.cpuMicroseconds, entrant, to: rival).median
                    cells += [span(Contest.ratios(\.callsPerSecond, entrant, to: rival)), cpu.formatted(2)]
                } else {
                    cells += ["", ""]
                }
                rows.append(cells)
            }
        }
        table(
            title,
            [column, "client", "calls/s", "CPU µs/call", "peak MB", "calls/s to bare, min–median–max", "CPU to bare"],
            rows)
    }

    /// `0.93–0.98–1.02`: the minimum, the median and the maximum of sorted figures.
    func span(_ ratios: [Double]) -> String {
        [ratios.first ?? 0, ratios.median, ratios.last ?? 0].map { $0.formatted(2) }.joined(separator: "–")
    }
}
