import ServiceLifecycle
import UnixSignals

extension ReferenceBackend {
    /// Starts a backend, runs `work` with it and stops it, even if `work` throws.
    public static func withRunning<Result: Sendable>(
        _ configuration: BackendConfiguration, _ work: (ReferenceBackend) async throws -> Result
    ) async throws -> Result {
        let backend = try await start(configuration)
        do {
            let result = try await work(backend)
            await backend.stop()
            return result
        } catch {
            await backend.stop()
            throw error
        }
    }

    /// Starts a backend and runs it until the process receives SIGINT or SIGTERM, then stops it gracefully.
    /// - Parameter onStart: Called once the backend listens.
    public static func run(
        _ configuration: BackendConfiguration, onStart: @Sendable (ReferenceBackend) -> Void = { _ in }
    ) async throws {
        let backend = try await start(configuration)
        onStart(backend)
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [RunningBackend(backend: backend)], gracefulShutdownSignals: [.sigint, .sigterm],
                logger: configuration.logger))
        try await services.run()
    }
}

/// Adapts a started backend to `ServiceGroup`.
private struct RunningBackend: Service {
    let backend: ReferenceBackend

    func run() async throws {
        try? await gracefulShutdown()
        await backend.stop()
    }
}
