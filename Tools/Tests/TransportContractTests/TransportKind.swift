import Foundation
import HTTPTypes
import Martlet
import Testing

/// The behavior that every transport has on every platform. Serialized, because some tests send hundreds of megabytes.
@Suite("Transport contract", .serialized, .timeLimit(.minutes(10)))
enum TransportContract {}

/// The transports under test, with their known limits on this platform.
enum TransportKind: String, CaseIterable, Sendable, Codable, CustomTestStringConvertible {
    case asyncHTTPClient
    case urlSession
    /// Their exchanges in memory, which typed calls use.
    case asyncHTTPClientInMemory
    case urlSessionInMemory

    var testDescription: String { rawValue }

    /// All transports, or the one that the environment variable `MARTLET_TRANSPORT` names.
    static let allCases: [TransportKind] =
        ProcessInfo.processInfo.environment["MARTLET_TRANSPORT"].flatMap { TransportKind(rawValue: $0) }.map { [$0] }
        ?? [.asyncHTTPClient, .urlSession, .asyncHTTPClientInMemory, .urlSessionInMemory]

    func make() -> any Transport {
        switch self {
        case .asyncHTTPClient: AsyncHTTPClientTransport()
        case .urlSession: URLSessionTransport()
        case .asyncHTTPClientInMemory: InMemoryTransport(AsyncHTTPClientTransport())
        case .urlSessionInMemory: InMemoryTransport(URLSessionTransport())
        }
    }

    /// A feature beyond the core of the contract.
    enum Feature: Hashable {
        case repeatedFieldsOfResponses
        case backPressureOfResponses
        case streamedRequests
        case chunkedRequests
        case bodyOfGet
        case headsCutShort
        case boundedHeads
        case boundedInflation
        case askingFirst
        case brokenOffFiles
        case streamedResponses
    }

    /// The missing features of each transport, with the reason that is reported when a test is skipped.
    static let limits: [TransportKind: [Feature: Comment]] = {
        #if canImport(FoundationNetworking)
            let limits: [Feature: Comment] = [
                .repeatedFieldsOfResponses: "HTTPURLResponse joins repeated fields",
                .backPressureOfResponses: "FoundationNetworking cannot pause: suspend() and resume() repeat bytes",
                .streamedRequests: "FoundationNetworking would block its only queue, so a stream is read in advance",
                .chunkedRequests: "a stream is read in advance, so its length is known and sent",
                .boundedInflation: "libcurl decompresses without a limit; the reader's limit applies",
                .bodyOfGet: "FoundationNetworking refuses a GET with a body",
                .brokenOffFiles: "FoundationNetworking 6.3 may end the process: \"'try!' … libcurl.Easy Code=43\"",
                .headsCutShort: "FoundationNetworking 6.3 ends the process: \"completed, but there's no response\"",
            ]
        #else
            let limits: [Feature: Comment] = [
                .repeatedFieldsOfResponses: "HTTPURLResponse joins repeated fields",
                .askingFirst: "URLSession's behavior is undocumented",
                .bodyOfGet: "URLSession refuses a GET with a body",
                .boundedInflation: "URLSession decompresses without a limit; the reader's limit applies",
            ]
        #endif
        let nioLimits: [Feature: Comment] = [
            .askingFirst: "async-http-client does not wait for a 100 and does not report it"
        ]
        let inMemory: [Feature: Comment] = [
            .streamedResponses: "a response is returned when it is complete",
            .backPressureOfResponses: "a response is returned when it is complete",
        ]
        return [
            .urlSession: limits, .asyncHTTPClient: nioLimits,
            .asyncHTTPClientInMemory: inMemory.merging(nioLimits) { $1 },
            .urlSessionInMemory: inMemory.merging(limits) { $1 },
        ]
    }()

    /// Skips the test if the transport lacks a feature.
    func needs(_ feature: Feature, sourceLocation: SourceLocation = #_sourceLocation) throws {
        guard let reason = Self.limits[self]?[feature] else { return }
        // The console does not show why a case of a parameterized test was cancelled, so a warning is recorded too.
        Issue.record("\(rawValue) skips \(feature): \(reason)", severity: .warning, sourceLocation: sourceLocation)
        try Test.cancel(reason, sourceLocation: sourceLocation)
    }
}

func request(
    _ method: HTTPRequest.Method = .get, _ path: String = "/", to server: WireServer, _ fields: HTTPFields = [:]
) -> HTTPRequest {
    HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path, headerFields: fields)
}

/// A stream of pieces that counts the bytes it has returned.
struct Pieces: AsyncSequence, Sendable {
    let pieces: [Data]
    let asked = Locker(0)

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Data>
        let asked: Locker<Int>
        mutating func next() async throws -> Data? {
            guard let piece = rest.popFirst() else { return nil }
            asked.with { $0 += piece.count }
            return piece
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: pieces[...], asked: asked) }
}

/// Runs an action when it is released.
final class OnDeinit: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    deinit { action() }
}

/// The resident memory of this process in bytes; 0 if unknown.
func residentBytes() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
}

/// Creates a gzip file of zeros from one literal and its longest repetitions.
enum GzipBomb {
    static func make(megabytes: Int) -> Data? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "head -c \(megabytes << 20) /dev/zero | gzip -9n"]
        let pipe = Pipe()
        process.standardOutput = pipe
        guard (try? process.run()) != nil else { return nil }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return data
    }
}
