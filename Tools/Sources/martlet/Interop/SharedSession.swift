internal import Foundation
internal import Martlet

/// Processes that share a session of one server, and the counts of both sides.
struct SharedSession: Sendable {
    let title: String
    /// The port of the server, which serves `/counts`.
    let port: Int
    let lifetime: Int
    let processes: Int
    /// The arguments that make this command one of the processes.
    let arguments: [String]

    /// The counts of a server: responses by status, and the times of requests for a refresh.
    private struct Counts: Decodable, Sendable {
        var calls: [String: Int]
        var refreshes: [String: Int]
        var times: [Double]
    }

    /// Starts the processes and waits for them.
    /// - Parameter store: The record that they share. A session has begun in it.
    func run(over store: any TokenStore) async throws -> InteropFigures {
        // The sign-in itself may have used the token endpoint.
        let before = try await counts()
        let command = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let workers = try (0..<processes).map { _ in try InteropProcess(command, arguments) }
        var figures = InteropFigures(title: title, lifetime: lifetime)
        for worker in workers {
            let (output, status) = await worker.finish()
            if let tally = try? JSONDecoder().decode(InteropTally.self, from: output) {
                figures.seen.add(tally)
            } else {
                figures.seen.failures["a process ended with status \(status)", default: 0] += 1
            }
        }
        let after = try await counts()
        figures.served = after.calls["200", default: 0] - before.calls["200", default: 0]
        figures.rejected = after.calls.values.reduce(0, +) - after.calls["200", default: 0]
        figures.refreshes = after.times.count - before.times.count
        figures.refused = after.refreshes.filter { $0.key != "200" }.values.reduce(0, +)
        let times = after.times.dropFirst(before.times.count).sorted()
        figures.lives = zip(times.dropFirst(), times).map { $0 - $1 }
        if case .found(let session) = await store.read() { figures.rotation = session.stamp.rotation }
        return figures
    }

    private func counts() async throws -> Counts {
        try await NetworkClient(baseURL: BaseURL("http://127.0.0.1:\(port)")).send(Call<Counts>(.get, "/counts"))
    }
}
