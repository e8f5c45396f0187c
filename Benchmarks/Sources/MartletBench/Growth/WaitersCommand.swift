internal import ArgumentParser
internal import Foundation
internal import HTTPTypes
internal import Martlet

/// Lets many tasks wait in a process of its own, to measure their memory. ``Waiters`` starts it and parses its output.
struct WaitersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "waiters", shouldDisplay: false)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
        /// Tasks that wait for a continuation.
        case tasks
        /// Tasks that make a call, which waits for a refresh.
        case calls
    }

    @Argument var kind: Kind
    @Argument var count: Int

    func run() async throws {
        let gate = Gate()
        let refreshes = Gate()
        let refresher = HTTPTokenRefresher.custom { _, _ in
            await refreshes.arrive()
            await gate.pass()
            return Tokens(accessToken: "fresh", refreshToken: "next", lifetime: .seconds(3600))
        }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: refresher, transport: Instant())
        try await tokens.signIn(with: Tokens(accessToken: "old", refreshToken: "first", lifetime: .seconds(1)))
        // Wait until the token has expired. A shorter lifetime would be treated as a mistake.
        try await Task.sleep(for: .seconds(1.1))
        let client = NetworkClient(tokens: tokens)
        let kind = kind
        await Self.settle()
        let idle = Usage.residentBytes
        let bytes = try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    switch kind {
                    case .tasks: await gate.pass()
                    case .calls: _ = try await client.send(Ping())
                    }
                }
            }
            await Self.settle()
            let bytes = Usage.residentBytes - idle
            await gate.open()
            try await group.waitForAll()
            return bytes
        }
        let result = Waiters.Measurement(bytes: bytes, refreshes: await refreshes.arrivals)
        FileHandle.standardOutput.write(try JSONEncoder().encode(result))
    }

    /// Returns when the process has had nothing to do for a moment.
    private static func settle() async {
        var last = -1.0
        while Usage.now().cpuSeconds - last > 0.001 {
            last = Usage.now().cpuSeconds
            // On a busy machine, too short a pause makes the measured memory too small but makes nothing fail.
            try? await Task.sleep(for: .milliseconds(200))
        }
    }
}

/// Holds tasks back until it is opened.
private actor Gate {
    private(set) var arrivals = 0
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func arrive() { arrivals += 1 }

    func pass() async {
        guard !isOpen else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

private struct Ping: APIRequest {
    typealias Response = NoContent
    let path: RequestPath = "/ping"
    var authentication: AuthenticationRequirement { .required }
}

/// Responds at once, without a network.
private struct Instant: Transport {
    func send(
        _ request: HTTPRequest, body: OutgoingBody?
    ) async throws -> (head: HTTPResponse, body: ByteStream) {
        (HTTPResponse(status: .noContent), ByteStream(Data()))
    }
}
