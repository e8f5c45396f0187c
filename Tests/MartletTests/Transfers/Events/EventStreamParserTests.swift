import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The parser of server-sent events", .timeLimit(.minutes(10))) struct EventStreamParserTests {
    private func events(_ text: String, limit: Int = 10_000) throws -> [ServerSentEvent] {
        var parser = EventStreamParser(limit: limit)
        let events = parser.read(Data(text.utf8))
        if parser.exceedsLimit { throw EventStreamParser.TooLargeError() }
        return events
    }

    @Test("the standard's examples are parsed as specified") func standard() throws {
        #expect(
            try events("data: YHOO\ndata: +2\ndata: 10\n\n") == [ServerSentEvent(data: "YHOO\n+2\n10")])
        #expect(
            try events(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n")
                == [
                    ServerSentEvent(data: "first event", lastEventID: "1"), ServerSentEvent(data: "second event"),
                    ServerSentEvent(data: " third event"),
                ])
        #expect(
            try events("data\n\ndata\ndata\n\ndata:\n") == [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")])
        #expect(try events("data:test\n\ndata: test\n\n").map(\.data) == ["test", "test"])
    }

    @Test("event types, ids and retry times follow the standard") func fields() {
        var parser = EventStreamParser(limit: 1000)
        let events = parser.read(
            Data("event: add\ndata: 1\nid: a\nretry: 250\n\ndata: 2\nretry: soon\nid: b\0c\n\nid: d\n\n".utf8))
        #expect(
            events == [
                ServerSentEvent(name: "add", data: "1", lastEventID: "a"),
                ServerSentEvent(name: "message", data: "2", lastEventID: "a"),
            ])
        #expect(parser.retry == 250)
        #expect(parser.lastEventID == "d")
    }

    @Test("pieces can end anywhere, and lines can end in all three ways") func pieces() throws {
        let text = "\u{FEFF}event: ä\r\ndata: one\rdata: zwei €\n\r\ndata: 3\r\r\n: nothing\r\n\r\n"
        let bytes = Data(text.utf8)
        let whole = try events(text)
        #expect(whole == [ServerSentEvent(name: "ä", data: "one\nzwei €"), ServerSentEvent(data: "3")])
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            var parser = EventStreamParser(limit: 1000)
            var rest = bytes
            var found: [ServerSentEvent] = []
            while !rest.isEmpty {
                let count = Int.random(in: 0...min(rest.count, 5), using: &generator)
                found += parser.read(Data(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(found == whole)
        }
        var parser = EventStreamParser(limit: 1000)
        var found: [ServerSentEvent] = []
        for byte in bytes { found += parser.read(Data([byte])) }
        #expect(found == whole)
    }

    @Test("bytes that are not text are tolerated") func garbage() {
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<200 {
            var parser = EventStreamParser(limit: 100_000)
            _ = parser.read(generator.bytes(500))
            _ = parser.read(Data("\n\ndata: x\n\n".utf8))
            #expect(
                parser.read(Data("data: y\n\n".utf8)) == [
                    ServerSentEvent(data: "y", lastEventID: parser.lastEventID)
                ])
        }
    }

    @Test("an event may be as large as the limit, in chunks of any size", arguments: [1, 3, 7, 1000])
    func limit(size: Int) {
        func event(_ count: Int) -> Data { Data("data: \(String(repeating: "x", count: count))\n\n".utf8) }
        func parse(_ event: Data) -> (events: [ServerSentEvent], exceedsLimit: Bool) {
            var parser = EventStreamParser(limit: 100)
            let events = stride(from: 0, to: event.count, by: size).flatMap {
                parser.read(event[$0..<min($0 + size, event.count)])
            }
            return (events, parser.exceedsLimit)
        }
        #expect(parse(event(100)).events.count == 1)
        #expect(parse(event(100)).exceedsLimit == false)
        #expect(parse(event(101)).events == [])
        #expect(parse(event(101)).exceedsLimit)
    }

    @Test("without a limit, events of any size are read") func withoutLimit() {
        var parser = EventStreamParser(limit: .max)
        #expect(parser.read(Data("data: one\n\ndata: t".utf8)).map(\.data) == ["one"])
        #expect(!parser.exceedsLimit)
    }

    @Test("an endless event is an error") func endless() throws {
        #expect(throws: EventStreamParser.TooLargeError.self) {
            try events(String(repeating: "x", count: 200), limit: 100)
        }
        #expect(throws: EventStreamParser.TooLargeError.self) {
            try events(String(repeating: "data: 12345678\n", count: 20), limit: 100)
        }
    }
}
