import HTTPTypes
import MartletTesting

@testable import Martlet

/// The error that a call threw, or `nil`.
func error(_ body: () async throws -> Void) async -> NetworkError? {
    do { try await body() } catch { return error as? NetworkError }
    return nil
}

func config(_ change: (inout NetworkConfig) -> Void) -> NetworkConfig {
    var config = NetworkConfig()
    change(&config)
    return config
}

/// A client whose clocks stand still, so that no time limit depends on how busy the machine is.
func client(_ transport: any Transport, _ change: (inout NetworkConfig) -> Void = { _ in }) -> NetworkClient {
    let config = config { config in
        config.time = ManualTimeSource()
        change(&config)
    }
    return NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
}

/// A transport with one connection. It reports each query for its limit, so that a test knows when a call asks for a
/// request slot.
struct SingleConnectionTransport: Transport {
    let stub: StubTransport
    let isQueried: @Sendable () -> Void

    func parallelRequests(to origin: Origin) -> Int? {
        isQueried()
        return 1
    }

    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        try await stub.send(request, body: body)
    }
}

/// A thread-safe list of lines in the order they were added.
final class Log: Sendable {
    private let state = Locked<[String]>([])
    var lines: [String] { state.withLock { $0 } }
    func add(_ line: String) { state.withLock { $0.append(line) } }
}
