internal import Foundation
internal import Martlet

/// Runs the servers one after another. Several processes share a session of each server.
struct Interop: Sendable {
    let seconds: Int
    let lifetime: Int
    let processes: Int
    let python: String
    let folder: String
    let hidesLock: Bool
    let console: Console

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
        let arguments = ["interop-worker", server.rawValue, "\(port)", record, "\(seconds)"]
        return try await SharedSession(
            title: server.title, port: port, lifetime: lifetime, processes: processes,
            arguments: arguments + (hidesLock ? ["--without-lock"] : [])
        ).run(over: store)
    }
}
