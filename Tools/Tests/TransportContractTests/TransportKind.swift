import Foundation
import HTTPTypes
import Martlet
import Testing

/// What every transport does, on every platform. One test at a time: some look at the memory of the process.
@Suite("Transport contract", .serialized, .timeLimit(.minutes(2)))
enum TransportContract {}

/// The transports, and what one of them cannot do here.
enum TransportKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case asyncHTTPClient
    case urlSession

    var testDescription: String { rawValue }

    /// All of them, or the one that `MARTLET_TRANSPORT` names.
    static let allCases: [TransportKind] =
        ProcessInfo.processInfo.environment["MARTLET_TRANSPORT"].flatMap { TransportKind(rawValue: $0) }.map { [$0] }
        ?? [.asyncHTTPClient, .urlSession]

    func make() -> any Transport {
        switch self {
        case .asyncHTTPClient: AsyncHTTPClientTransport()
        case .urlSession: URLSessionTransport()
        }
    }

    /// What a test needs beyond the contract's core.
    enum Feature: Hashable {
        case repeatedFieldsOfAnswers
        case backPressureOfAnswers
        case streamedRequests
        case chunkedRequests
        case bodyOfGet
        case headsCutShort
        case boundedHeads
        case boundedInflation
        case askingFirst
        case brokenOffFiles
    }

    /// Known limits, by name and reason: each is reported where it skips a test.
    static let limits: [TransportKind: [Feature: Comment]] = {
        #if canImport(FoundationNetworking)
            let limits: [Feature: Comment] = [
                .repeatedFieldsOfAnswers: "HTTPURLResponse joins repeated fields",
                .backPressureOfAnswers: "FoundationNetworking cannot pause: suspend() and resume() repeat bytes",
                .streamedRequests: "FoundationNetworking would block its one queue on a stream: it is read in advance",
                .chunkedRequests: "a stream is read in advance, so that its length is known and sent",
                .boundedInflation: "libcurl inflates what comes; the reader's own limit ends it",
                .bodyOfGet: "FoundationNetworking refuses a GET with a body",
                .brokenOffFiles: "FoundationNetworking 6.3 may end the process: \"'try!' … libcurl.Easy Code=43\"",
                .headsCutShort: "FoundationNetworking 6.3 ends the process: \"completed, but there's no response\"",
            ]
        #else
            let limits: [Feature: Comment] = [
                .repeatedFieldsOfAnswers: "HTTPURLResponse joins repeated fields",
                .askingFirst: "nothing is documented about it",
                .bodyOfGet: "URLSession refuses a GET with a body",
                .boundedInflation: "URLSession inflates what comes; the reader's own limit ends it",
            ]
        #endif
        let nioLimits: [Feature: Comment] = [
            .askingFirst: "async-http-client keeps a 100 to itself, and does not wait for one"
        ]
        return [.urlSession: limits, .asyncHTTPClient: nioLimits]
    }()

    /// Skips the test where the transport is known not to be able.
    func needs(_ feature: Feature, sourceLocation: SourceLocation = #_sourceLocation) throws {
        guard let reason = Self.limits[self]?[feature] else { return }
        // The console is silent about a cancelled case of a test with arguments; a warning is told.
        Issue.record("\(rawValue) skips \(feature): \(reason)", severity: .warning, sourceLocation: sourceLocation)
        try Test.cancel(reason, sourceLocation: sourceLocation)
    }
}

func request(
    _ method: HTTPRequest.Method = .get, _ path: String = "/", to server: WireServer, _ fields: HTTPFields = [:]
) -> HTTPRequest {
    HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path, headerFields: fields)
}

/// A stream of the pieces, which counts those that were asked for.
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

/// Does something when it is released.
final class OnDeinit: Sendable {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    deinit { action() }
}

/// How much memory the process holds, in bytes; 0 where it is not to be known.
func residentBytes() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
}

/// A gzip file of zeros, written by hand: blocks of one literal and its longest repetitions.
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
