internal import Foundation
internal import Martlet

/// Runs the servers one after the other, with processes that share a session of each.
struct Interop: Sendable {
    let seconds: Int
    let lifetime: Int
    let processes: Int
    let python: String
    let folder: String
    let hidesLock: Bool
    let console: Console

    /// The counts of a server: responses by status, and the times at which it was asked for a refresh.
    private struct Counts: Decodable, Sendable {
        var calls: [String: Int]
        var refreshes: [String: Int]
        var times: [Double]
    }

    private struct StartError: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs the servers and prints a table.
    /// - Returns: Whether no rule was violated.
    func run(_ servers: [InteropServer]) async -> Bool {
        console.line(
            console.paint(
                "\(processes) processes share a session for \(seconds) s, with access tokens of \(lifetime) s.", .title)
        )
        console.line(InteropFigures.header)
        var violations: [String] = []
        for server in servers where !Task.isCancelled {
            do {
                let figures = try await run(server)
                console.line(figures.row)
                violations += figures.violations.map { "\(server.title): \($0)" }
            } catch {
                violations.append("\(server.title): \(error)")
            }
        }
        for violation in violations { console.line(console.paint(violation, .bad)) }
        if violations.isEmpty {
            console.line(console.paint("No call failed, one refresh for each token's life.", .good))
        }
        return violations.isEmpty
    }

    private func run(_ server: InteropServer) async throws -> InteropFigures {
        let record = FileManager.default.temporaryDirectory.appending(path: "martlet-interop-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: record) }
        try FileManager.default.createDirectory(at: record, withIntermediateDirectories: true)
        let process = try InteropProcess(python, ["\(folder)/\(server.rawValue).py", "\(lifetime)"])
        do {
            guard let port = await process.line().flatMap({ Int($0) }) else {
                throw StartError(description: "the server did not start; see its output above")
            }
            let figures = try await run(server, port: port, record: record.path)
            await process.finish()
            return figures
        } catch {
            await process.finish()
            throw error
        }
    }

    private func run(_ server: InteropServer, port: Int, record: String) async throws -> InteropFigures {
        let store = TortureStore.encrypted.open(in: record)
        try await server.client(port: port, store: store).client.signIn(server.signIn)
        // The sign-in itself may have used the token endpoint.
        let before = try await counts(port: port)
        let command = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let arguments = ["interop-worker", server.rawValue, "\(port)", record, "\(seconds)"]
        let workers = try (0..<processes).map { _ in
            try InteropProcess(command, arguments + (hidesLock ? ["--without-lock"] : []))
        }
        var figures = InteropFigures(server: server, lifetime: lifetime)
        for worker in workers {
            let (output, status) = await worker.finish()
            if let tally = try? JSONDecoder().decode(InteropTally.self, from: output) {
                figures.seen.add(tally)
            } else {
                figures.seen.failures["a process ended with status \(status)", default: 0] += 1
            }
        }
        let after = try await counts(port: port)
        figures.served = after.calls["200", default: 0] - before.calls["200", default: 0]
        figures.rejected = after.calls.values.reduce(0, +) - after.calls["200", default: 0]
        figures.refreshes = after.times.count - before.times.count
        figures.refused = after.refreshes.filter { $0.key != "200" }.values.reduce(0, +)
        let times = after.times.dropFirst(before.times.count).sorted()
        figures.lives = zip(times.dropFirst(), times).map { $0 - $1 }
        if case .found(let session) = await store.read() { figures.rotation = session.stamp.rotation }
        return figures
    }

    private func counts(port: Int) async throws -> Counts {
        try await NetworkClient(baseURL: BaseURL("http://127.0.0.1:\(port)")).send(Call<Counts>(.get, "/counts"))
    }
}
