import Foundation

/// Runs the steps and prints their cost.
struct Measurement: Sendable {
    let rounds: Int

    func once() async throws {
        let steps = try await Step.all()
        for step in steps { try await step.run(1) }
        print("One iteration of \(steps.count) steps.")
    }

    /// Runs one step without printing anything, for ``InstructionCounter``.
    func `repeat`(_ name: String, _ repetitions: Int) async throws {
        for step in try await Step.all() where step.name == name { try await step.run(repetitions) }
    }

    func all() async throws {
        let counter = InstructionCounter()
        if counter == nil {
            print("Instructions are not counted, because valgrind is not installed (apt-get install valgrind).\n")
        }
        print("step".padded(48) + "ns".leading(10) + "instructions".leading(14))
        for step in try await Step.all() {
            let time = try await nanoseconds(step)
            let count = try counter.map { try "\($0.instructions(of: step))" } ?? ""
            print(step.name.padded(48) + String(format: "%.0f", time).leading(10) + count.leading(14))
        }
    }

    /// The median of rounds of about 20 ms.
    private func nanoseconds(_ step: Step) async throws -> Double {
        var repetitions = 1
        while try await seconds(step, repetitions) < 0.02 { repetitions *= 2 }
        var times: [Double] = []
        for _ in 0..<max(rounds, 1) { times.append(try await seconds(step, repetitions) / Double(repetitions)) }
        return times.sorted()[times.count / 2] * 1e9
    }

    private func seconds(_ step: Step, _ repetitions: Int) async throws -> Double {
        let start = ContinuousClock.now
        try await step.run(repetitions)
        return start.duration(to: .now) / .seconds(1)
    }
}

extension String {
    fileprivate func padded(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate func leading(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
