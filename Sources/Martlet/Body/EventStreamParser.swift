#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An event that a server sends over a connection that stays open.
public struct ServerSentEvent: Sendable, Hashable {
    /// What kind of event it is; `message` where the server does not say.
    public var name: String
    /// What it says; its lines are joined by line feeds.
    public var data: String
    /// The last id that the server gave, with this event or one before it; empty where it gave none.
    public var lastEventID: String

    /// An event.
    public init(name: String = "message", data: String, lastEventID: String = "") {
        self.name = name
        self.data = data
        self.lastEventID = lastEventID
    }
}

/// Reads `text/event-stream` as the WHATWG's HTML standard says (section 9.2.6), from pieces that end anywhere.
struct EventStreamParser {
    /// An event has more bytes than its reader accepts.
    struct TooLarge: Error {}

    /// How long to wait before the next connection, in milliseconds, where the server has said so.
    private(set) var retry: Int?
    private(set) var lastEventID: String
    /// Whether an event was too large. Nothing can be read any more.
    private(set) var isFull = false

    private let limit: Int
    private var line: [UInt8] = []
    private var isAtStart = true
    private var endedWithReturn = false
    private var name = ""
    private var data = ""
    private var hasData = false
    private var id: String

    /// - Parameters:
    ///   - lastEventID: The id that the connection before ended with.
    ///   - limit: How many bytes one event may have at most.
    init(lastEventID: String = "", limit: Int) {
        self.lastEventID = lastEventID
        self.id = lastEventID
        self.limit = limit
    }

    /// The events that end within a piece; those before one that is too large, too.
    mutating func read(_ piece: Data) -> [ServerSentEvent] {
        guard !isFull else { return [] }
        var events: [ServerSentEvent] = []
        var rest = piece[...]
        if endedWithReturn, rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
        if !piece.isEmpty { endedWithReturn = false }
        while let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            line.append(contentsOf: rest[..<end])
            let isReturn = rest[end] == UInt8(ascii: "\r")
            rest = rest[(end + 1)...]
            if isReturn {
                // Its line feed, if it has one, may come with the next piece.
                if rest.isEmpty { endedWithReturn = true }
                if rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
            }
            do {
                if let event = try endLine() { events.append(event) }
            } catch {
                isFull = true
                return events
            }
        }
        line.append(contentsOf: rest)
        isFull = line.count + data.utf8.count > limit
        return events
    }

    private mutating func endLine() throws(TooLarge) -> ServerSentEvent? {
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
            guard data.utf8.count + value.count < limit else { throw TooLarge() }
            if hasData { data += "\n" }
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
