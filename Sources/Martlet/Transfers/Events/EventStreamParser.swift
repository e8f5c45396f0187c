#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An event from a server, sent over a connection that stays open (`text/event-stream`).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` if the server names none.
    public var name: String
    /// The data, with its lines joined by line feeds.
    public var data: String
    /// The id of this event, or else of the last one that had an id; empty if there was none.
    public var lastEventID: String

    init(name: String = "message", data: String, lastEventID: String = "") {
        self.name = name
        self.data = data
        self.lastEventID = lastEventID
    }
}

/// Parses `text/event-stream` (WHATWG HTML standard, section 9.2.6) from chunks of any size.
struct EventStreamParser {
    /// An event is larger than the limit.
    struct TooLargeError: Error {}

    /// The server's reconnection time in milliseconds, if it has sent one.
    private(set) var retry: Int?
    private(set) var lastEventID: String
    /// Whether an event exceeded the limit. The parser then stops.
    private(set) var exceedsLimit = false

    /// The length of "data: " after a byte order mark.
    private static let bytesBeforeData = 9
    private let limit: Int
    private var line: [UInt8] = []
    private var isAtStart = true
    private var endedWithReturn = false
    private var name = ""
    private var data = ""
    private var hasData = false
    private var id: String

    /// - Parameters:
    ///   - lastEventID: The last id of the previous connection.
    ///   - limit: The largest size of an event's data, in bytes.
    init(lastEventID: String = "", limit: Int) {
        self.lastEventID = lastEventID
        self.id = lastEventID
        self.limit = limit
    }

    /// The events that are complete after a chunk. If one of them exceeds the limit, those before it are still
    /// returned.
    mutating func read(_ piece: Data) -> [ServerSentEvent] {
        guard !exceedsLimit else { return [] }
        var events: [ServerSentEvent] = []
        var rest = piece[...]
        if endedWithReturn, rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
        if !piece.isEmpty { endedWithReturn = false }
        while let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            line.append(contentsOf: rest[..<end])
            let isReturn = rest[end] == UInt8(ascii: "\r")
            rest = rest[(end + 1)...]
            if isReturn {
                // Its line feed may arrive with the next chunk.
                if rest.isEmpty { endedWithReturn = true }
                if rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
            }
            do {
                if let event = try endLine() { events.append(event) }
            } catch {
                exceedsLimit = true
                return events
            }
        }
        line.append(contentsOf: rest)
        // The line has a name and may begin with a byte order mark. How the stream is cut into chunks must not matter.
        exceedsLimit = line.count + data.utf8.count - Self.bytesBeforeData > limit
        return events
    }

    private mutating func endLine() throws(TooLargeError) -> ServerSentEvent? {
        var text = line[...]
        if isAtStart, text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        isAtStart = false
        defer { line.removeAll(keepingCapacity: true) }
        guard !text.isEmpty else { return dispatch() }
        let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let field = text[..<colon]
        var value = text[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: field, as: UTF8.self) {
        case "event":
            name = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { data += "\n" }
            guard data.utf8.count + value.count <= limit else { throw TooLargeError() }
            data += String(decoding: value, as: UTF8.self)
            hasData = true
        case "id":
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry":
            let isNumber = !value.isEmpty && value.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            if isNumber { retry = Int(String(decoding: value, as: UTF8.self)) ?? retry }
        default:
            break
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (name, data, hasData) = ("", "", false) }
        lastEventID = id
        guard hasData else { return nil }
        return ServerSentEvent(name: name.isEmpty ? "message" : name, data: data, lastEventID: id)
    }
}
