import Logging
import NIOConcurrencyHelpers

/// An HTTP backend with accounts, sessions and articles, for tests and experiments.
///
/// It runs inside the process that starts it, uses one ``Dialect``, and can be made to fail through its ``controls``.
///
/// ```swift
/// let backend = try await ReferenceBackend.start(.testing(.envelope))
/// // … requests to backend.baseURL …
/// await backend.stop()
/// ```
public final class ReferenceBackend: Sendable {
    /// The reason why a backend could not start.
    public enum StartError: Error, Hashable {
        /// The controls are enabled, but the host is not a loopback address.
        case hostileControlsNeedLoopback(host: String)
        /// There is an OpenID provider, but the host is not a loopback address.
        case openIDNeedsLoopback(host: String)
    }

    /// The configuration that the backend was started with.
    public let configuration: BackendConfiguration
    /// The bound port.
    public let port: Int
    /// Injects faults and reports observations. Always available in this process;
    /// ``BackendConfiguration/hostileControls`` enables them over HTTP too.
    public let controls: BackendControls
    /// In TLS mode, the PEM of the certificate authority that clients have to trust.
    public let certificateAuthorityPEM: String?
    /// In TLS mode, the PEM of the server's own certificate, which clients may pin.
    public let certificatePEM: String?

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
        certificatePEM = identity?.certificatePEM
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
            // Without a port the server has ended; its task throws the reason.
            try await serverTask.value
            throw CancellationError()
        }
        self.port = bound
        core.state.baseURL = baseURL
    }

    /// Starts a backend. Returns once it listens.
    ///
    /// - Throws: ``StartError`` if the configuration is not allowed, or an error if the database or the port is
    ///   unavailable.
    public static func start(_ configuration: BackendConfiguration) async throws -> ReferenceBackend {
        if !["127.0.0.1", "::1", "localhost"].contains(configuration.host) {
            if configuration.hostileControls {
                throw StartError.hostileControlsNeedLoopback(host: configuration.host)
            }
            if configuration.openID != nil { throw StartError.openIDNeedsLoopback(host: configuration.host) }
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

    /// The base URL, without a trailing slash: `http://127.0.0.1:49152`
    public var baseURL: String {
        let scheme = configuration.tls == .none ? "http" : "https"
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        return "\(scheme)://\(host):\(port)"
    }

    /// Stops the backend. Requests in progress may finish within ``BackendConfiguration/shutdownGrace``; held and
    /// hanging requests are dropped. Further calls wait for the same stop.
    public func stop() async {
        let task = stopTask.withLockedValue { task -> Task<Void, Never> in
            let running = task ?? Task { await shutDown() }
            task = running
            return running
        }
        await task.value
    }

    private func shutDown() async {
        controls.requestGates.close()
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
