internal import ArgumentParser
internal import Foundation

/// Makes calls with one client in a process of its own. ``Entrant`` starts it and asks for slices.
struct ClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client", abstract: "Make calls with one client, for use with a profiler.")

    @Argument var client: ClientName
    @Option(help: "The number of calls at once.") var concurrency = 1
    @Option(help: "The number of connections.") var connections = 8
    @Option(help: "The number of structs in a response.") var items = Lane.ordinaryItems
    @Option(help: "The number of interceptors that do nothing.") var interceptors = 0
    @Option(help: "The number of calls.") var calls = 30_000
    @Option(help: .hidden) var port: Int?

    func run() async throws {
        let lane = Lane(
            client: client, concurrency: concurrency, connections: connections, items: items,
            interceptors: interceptors)
        guard let port else {
            let server = try Server()
            let caller = try await lane.caller(to: server.port, try await Server.tokens(port: server.port))
            let slice = await Slice.run(calls, with: caller, in: lane)
            let (speed, time) = (slice.callsPerSecond.formatted(0), slice.cpuMicroseconds.formatted(1))
            print("\(speed) calls/s, \(time) µs of processor time a call, \(slice.failures) failures")
            server.stop()
            return
        }
        let caller = try await lane.caller(to: port, try await Server.tokens(port: port))
        while let calls = readLine().flatMap({ Int($0) }) {
            let slice = await Slice.run(calls, with: caller, in: lane)
            FileHandle.standardOutput.write(try JSONEncoder().encode(slice) + Data("\n".utf8))
        }
    }
}
