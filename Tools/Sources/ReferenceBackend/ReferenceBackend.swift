import Logging
import NIOConcurrencyHelpers

/// A small but complete backend to sign in at, for tests and for trying things out. It is started inside the process
/// that uses it, speaks one ``Dialect``, and can be made to misbehave through its ``controls``.
///
/// ```swift
/// let backend = try await ReferenceBackend.start(.testing(.envelope))
/// // … requests to backend.baseURL …
/// await backend.stop()
/// ```
public final class ReferenceBackend: Sendable {
    /// Why a backend does not start.
    public enum StartError: Error, Hashable {
        /// Controls that break things are served to this machine only.
        case hostileControlsNeedLoopback(host: String)
    }

    /// What the backend was started with.
    public let configuration: BackendConfiguration
    /// The port that it listens on.
    public let port: Int
    /// Makes the backend misbehave and says what it has seen. Code in the same process may always use them;
    /// ``BackendConfiguration/hostileControls`` decides whether they are served over HTTP.
    public let controls: BackendControls
    /// In TLS mode, the certificate of the authority that clients have to trust.
    public let certificateAuthorityPEM: String?

    private let server: ServerRunner
    private let serverTask: Task<Void, any Error>
    private let registry: ConnectionRegistry
    private let core: BackendCore
    private let stopTask = NIOLockedValueBox<Task<Void, Never>?>(nil)

    private init(core: BackendCore, identity: ServerIdentity?) async throws {
        self.core = core
        configuration = core.configuration
        controls = core.controls
        certificateAuthorityPEM = identity?.authorityPEM
        let registry = ConnectionRegistry(state: core.state)
        let (ports, port) = AsyncStream<Int>.makeStream()
        let server = try ServerRunner(
            RequestPipeline(core: core, routes: core.routes()), identity: identity, registry: registry,
            onBound: { port.yield($0) })
        let serverTask = Task {
            defer { port.finish() }
            try await server.run()
        }
        self.registry = registry
        self.server = server
        self.serverTask = serverTask
        var bound: Int?
        for await number in ports {
            bound = number
            break
        }
        guard let bound else {
            // Without a port the server is over, with the error that says why.
            try await serverTask.value
            throw CancellationError()
        }
        self.port = bound
        core.state.baseURL = baseURL
    }

    /// Starts a backend and returns as soon as it listens.
    public static func start(_ configuration: BackendConfiguration) async throws -> ReferenceBackend {
        if configuration.hostileControls, !["127.0.0.1", "::1", "localhost"].contains(configuration.host) {
            throw StartError.hostileControlsNeedLoopback(host: configuration.host)
        }
        let identity = configuration.tls == .selfSigned ? try ServerIdentity() : nil
        let core = try await BackendCore(configuration)
        do {
            return try await ReferenceBackend(core: core, identity: identity)
        } catch {
            try? core.store.close()
            throw error
        }
    }

    /// Where requests go, without a slash at the end: `http://127.0.0.1:49152`
    public var baseURL: String {
        let scheme = configuration.tls == .none ? "http" : "https"
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        return "\(scheme)://\(host):\(port)"
    }

    /// Stops the backend: requests in progress may finish for a moment, those that are held or hang are dropped, and
    /// nothing is left behind. Calling it again waits for the same stop.
    public func stop() async {
        let task = stopTask.withLockedValue { task -> Task<Void, Never> in
            let running = task ?? Task { await shutDown() }
            task = running
            return running
        }
        await task.value
    }

    private func shutDown() async {
        controls.gateKeeper.close()
        controls.hangs.close()
        await withTaskGroup { group in
            group.addTask { [server] in try? await server.shutDown() }
            group.addTask { [configuration, registry, serverTask] in
                guard (try? await Task.sleep(for: configuration.shutdownGrace)) != nil else { return }
                serverTask.cancel()
                await registry.closeAll()
            }
            await group.next()
            group.cancelAll()
        }
        await registry.closeAll()
        _ = try? await serverTask.value
        try? core.store.close()
    }
}
