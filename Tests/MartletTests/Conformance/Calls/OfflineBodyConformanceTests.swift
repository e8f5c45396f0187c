import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: a call with a single-use body does not wait for a network", .timeLimit(.minutes(10)))
struct OfflineBodyConformanceTests {
    /// A device without a network. Nothing reads the body of a request.
    private struct NoNetwork: Transport {
        let requests: Log

        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            requests.add(request.path ?? "")
            throw TransportError.offline
        }
    }

    /// Reports each piece that is read.
    struct WatchedPieces: AsyncSequence, Sendable {
        let log: Log

        struct AsyncIterator: AsyncIteratorProtocol {
            let log: Log

            mutating func next() async -> Data? {
                log.add("read")
                return nil
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(log: log) }
    }

    private final class Observer: NetworkObserver {
        let log = Log()

        func observe(_ event: CallEvent) {
            if case .waitingForConnectivity = event { log.add("waits") }
        }
    }

    enum Body: CaseIterable, Sendable {
        case sequence, form

        func body(_ pieces: WatchedPieces) -> RequestBody {
            switch self {
            case .sequence: return .singleUse(pieces)
            case .form:
                var form = MultipartForm()
                form.append("On the wing", named: "title")
                form.append(singleUse: pieces, named: "film")
                return .multipart(form)
            }
        }
    }

    private func config(_ network: ManualConnectivityMonitor, _ observer: Observer, _ time: ManualTimeSource)
        -> NetworkConfig
    {
        var config = NetworkConfig()
        config.connectivityTimeout = .seconds(60)
        config.connectivity = network
        config.observers = [observer]
        config.time = time
        return config
    }

    /// The result of a call that must not wait, or `nil` if it waits.
    private func failure(_ call: Call<NoContent>, _ client: NetworkClient, _ observer: Observer) async -> NetworkError?
    {
        let result = Locked<NetworkError?>(nil)
        let sending = Task {
            let failure = await error { try await client.send(call) }
            result.withLock { $0 = failure }
        }
        while result.withLock({ $0 == nil }), observer.log.lines.isEmpty { await Task.yield() }
        let failure = result.withLock { $0 }
        sending.cancel()
        await sending.value
        return failure
    }

    @Test(
        "C98: a call with a body that can be sent only once fails at once without a network", arguments: Body.allCases)
    func offline(body: Body) async {
        let (requests, pieces, observer) = (Log(), Log(), Observer())
        let config = config(ManualConnectivityMonitor(isConnected: false), observer, ManualTimeSource())
        let client = NetworkClient(
            baseURL: "https://api.example.com", config: config, transport: NoNetwork(requests: requests))
        let post = Call<NoContent>.post("/films", body.body(WatchedPieces(log: pieces)))
        let failure = await failure(post, client, observer)
        guard case .offline = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(observer.log.lines == [] && requests.lines == ["/films"])
        #expect(pieces.lines == [], "nothing of the body is lost")
    }

    @Test("C98: it fails at once, too, if the token cannot be refreshed without a network") func refresh() async throws
    {
        let (isOffline, pieces, observer, time) = (Locked(false), Log(), Observer(), ManualTimeSource())
        let network = ManualConnectivityMonitor(isConnected: false)
        let transport = StubTransport { _ in isOffline.withLock { $0 } ? .failure(.offline) : .status(204) }
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
            transport: transport, connectivity: network, time: time)
        try await tokens.signIn(
            with: Tokens(accessToken: "access-1", refreshToken: "refresh-1", lifetime: .seconds(60)))
        time.advance(by: .seconds(120))
        isOffline.withLock { $0 = true }
        let client = NetworkClient(tokens: tokens, config: config(network, observer, time))
        let post = Call<NoContent>.post("/films", .singleUse(WatchedPieces(log: pieces)))
        let failure = await failure(post, client, observer)
        #expect(failure?.isOffline == true, "\(String(describing: failure))")
        #expect(observer.log.lines == [] && pieces.lines == [])
        #expect(transport.requests(to: "/films").isEmpty)
        #expect(tokens.isSignedIn)
    }
}
