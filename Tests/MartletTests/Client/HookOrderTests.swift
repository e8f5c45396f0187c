import MartletTesting
import Testing

@testable import Martlet

@Suite("Authorization among the hooks", .timeLimit(.minutes(10))) struct HookOrderTests {
    /// Records whether the request carries a token in each hook.
    private struct TokenRecorder: RequestInterceptor {
        let log: Log

        func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            log.add("prepare \(token(in: request))")
        }
        func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            log.add("adapt \(token(in: request))")
        }
        func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
            log.add("validate \(response.status)")
        }
        func retry(
            _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
        ) async -> RetryDecision {
            log.add("retry \(error.response?.status ?? 0)")
            return .noOpinion
        }

        private func token(in request: HTTPRequest) -> String {
            request.headerFields[.authorization] == nil ? "without token" : "with token"
        }
    }

    @Test("a token is attached between prepare and adapt, and replaced before validate and retry")
    func tokens() async throws {
        let log = Log()
        let app = try await App.signedIn { $0.interceptors = [TokenRecorder(log: log)] }
        app.backend.invalidateAccessTokens()
        #expect(await app.call("/me").isSuccess)
        #expect(log.lines == ["prepare without token", "adapt with token", "adapt with token", "validate 200"])
    }

    /// Records the hooks of a call and its events, as a plugin that is an interceptor and an observer sees them.
    private struct Plugin: RequestInterceptor, NetworkObserver {
        let log: Log

        func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            log.add("prepare")
        }
        func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) async throws {
            log.add("adapt")
        }
        func retry(
            _ request: HTTPRequest, for context: inout RequestContext, dueTo error: NetworkError
        ) async -> RetryDecision {
            log.add("retry")
            return .noOpinion
        }
        func process(
            _ response: ServerResponse, for context: inout RequestContext
        ) async throws -> ServerResponse {
            log.add("process")
            return response
        }
        func observe(_ event: CallEvent) {
            switch event {
            case .started: log.add("started")
            case .received: log.add("received")
            case .finished: log.add("finished")
            default: break
            }
        }
    }

    @Test("a plugin's hooks and events have one order, and only those of an attempt are repeated")
    func plugin() async throws {
        let plugin = Plugin(log: Log())
        let transport = StubTransport { $0.number == 1 ? .status(503) : .status(200) }
        let client = client(transport) {
            $0.retry = RetryPolicy(firstDelay: .zero)
            $0.interceptors = [plugin]
            $0.observers = [plugin]
        }
        try await client.send(Get("/feed", .none))
        #expect(
            plugin.log.lines == [
                "prepare", "started", "adapt", "received", "retry", "adapt", "received", "process", "finished",
            ])
    }
}
