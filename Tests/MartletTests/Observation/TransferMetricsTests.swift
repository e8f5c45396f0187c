import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Metrics that an observer sees", .timeLimit(.minutes(10))) struct TransferMetricsTests {
    private final class Watch: NetworkObserver {
        let seen = Locked<[TransferMetrics?]>([])
        let others = Locked<[TransferMetrics?]>([])

        func observe(_ event: CallEvent) {
            switch event {
            case .received(let call, _), .attemptFailed(let call, _): seen.withLock { $0.append(call.metrics) }
            case .started(let call), .attemptStarted(let call), .finished(let call, _):
                others.withLock { $0.append(call.metrics) }
            default: break
            }
        }
    }

    /// Needs two seconds for the head and three for the body, and reports whether it was recorded.
    private struct SlowTransport: Transport {
        let time: ManualTimeSource
        var fails = false
        let isRecorded = Locked<[Bool]>([])

        func send(
            _ request: HTTPRequest, body: OutgoingBody?
        ) async throws -> (head: HTTPResponse, body: ByteStream) {
            let recorder = TransferRecorder.current
            isRecorded.withLock { $0.append(recorder != nil) }
            recorder?.update { $0.protocolName = "h3" }
            time.advance(by: .seconds(2))
            if fails { throw TransportError.connectionLost("reset") }
            let time = time
            return (
                HTTPResponse(status: .ok),
                ByteStream {
                    var chunks = [Data("a".utf8), Data("b".utf8)]
                    return {
                        guard !chunks.isEmpty else {
                            time.advance(by: .seconds(3))
                            return nil
                        }
                        return chunks.removeFirst()
                    }
                }
            )
        }
    }

    private func call(_ transport: SlowTransport, _ observers: [any NetworkObserver]) async {
        var config = NetworkConfig()
        config.observers = observers
        config.time = transport.time
        config.retry = RetryPolicy(maximumAttempts: 1, firstDelay: .zero)
        let client = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        _ = try? await client.data(for: Call<NoContent>.get("/articles", authentication: .none))
    }

    @Test("the client measures any transport, which may add what it knows") func measured() async throws {
        let watch = Watch()
        await call(SlowTransport(time: ManualTimeSource()), [watch])
        let seen = watch.seen.withLock { $0 }
        let metrics = try #require(seen.first ?? nil)
        #expect(seen.count == 1)
        #expect(metrics.firstByte == .seconds(2) && metrics.receiving == .seconds(3))
        #expect(metrics.protocolName == "h3")
        #expect(metrics.isReused == nil && metrics.connecting == nil && metrics.bodyBytesReceived == nil)
        #expect(watch.others.withLock { $0 } == [nil, nil, nil])
    }

    @Test("an attempt that fails has the metrics so far") func failure() async throws {
        let watch = Watch()
        await call(SlowTransport(time: ManualTimeSource(), fails: true), [watch])
        let metrics = try #require(watch.seen.withLock { $0.first } ?? nil)
        #expect(metrics.firstByte == nil && metrics.receiving == nil && metrics.protocolName == "h3")
    }

    @Test("without an observer, nothing is recorded") func unobserved() async {
        let transport = SlowTransport(time: ManualTimeSource())
        await call(transport, [])
        #expect(transport.isRecorded.withLock { $0 } == [false])
    }

    @Test("a log shows them if asked") func logged() async {
        let lines = Locked<[String]>([])
        await call(
            SlowTransport(time: ManualTimeSource()),
            [.log(showsMetrics: true) { _, line in lines.withLock { $0.append(line) } }])
        #expect(
            lines.withLock { $0 } == ["GET /articles 200, 5 s, 2 B, first byte 2 s, received in 3 s, h3"])
    }
}
