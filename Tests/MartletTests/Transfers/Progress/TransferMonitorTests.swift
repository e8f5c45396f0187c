import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("The transfer monitor", .timeLimit(.minutes(10))) struct TransferMonitorTests {
    @Test("counts are throttled, except the first and last count and every attempt")
    func throttled() async {
        let time = ManualTimeSource()
        let monitor = TransferMonitor(interval: .milliseconds(100), time: time)
        let log = Log()
        let listening = Task {
            for await event in monitor.events { log.add("\(event)") }
        }
        await monitor.waitForListeners(1)
        var expected: [TransferEvent] = []
        func tell(_ event: TransferEvent, _ isPublished: Bool) async {
            switch event {
            case .attempt(let number): monitor.start(attempt: number)
            case .sent(let count): monitor.send(count)
            case .received(let count): monitor.receive(count)
            }
            if isPublished { expected.append(event) }
            // Wait for each event to be heard, because a newer one would replace it.
            while log.lines.count < expected.count { await Task.yield() }
        }
        await tell(.attempt(1), true)
        await tell(.sent(TransferCount(completed: 0, total: 1000)), true)
        await tell(.sent(TransferCount(completed: 100, total: 1000)), false)
        time.advance(by: .milliseconds(100))
        await tell(.sent(TransferCount(completed: 200, total: 1000)), true)
        await tell(.sent(TransferCount(completed: 300, total: 1000)), false)
        await tell(.sent(TransferCount(completed: 1000, total: 1000)), true)
        await tell(.attempt(2), true)
        await tell(.sent(TransferCount(completed: 0, total: 1000)), true)
        monitor.finish()
        await listening.value
        #expect(log.lines.prefix(expected.count) == expected.map { "\($0)" }[...])
    }

    @Test("a second call with the same monitor reports only its own progress") func secondCall() async throws {
        let client = client(StubTransport { _ in .status(204) })
        let monitor = TransferMonitor()
        for size in [Int64(10), 20, 20] {
            let counts = Locked<[TransferCount]>([])
            let body = RequestBody.bytes(Data(count: Int(size)), contentType: "text/plain")
            try await client.send(
                Call<NoContent>(.put, "/a", body: body, authentication: AuthenticationRequirement.none),
                monitor: monitor
            ) { count in counts.withLock { $0.append(count) } }
            #expect(counts.withLock { $0.last } == TransferCount(completed: size, total: size))
            #expect(counts.withLock { $0.allSatisfy { $0.total == size } })
        }
    }

    @Test("a slow listener can miss counts, but no attempt") func coalesced() async {
        let monitor = TransferMonitor(interval: .zero)
        let events = monitor.events
        for attempt in 1...3 {
            monitor.start(attempt: attempt)
            for count in 1...1000 { monitor.send(TransferCount(completed: Int64(count), total: 2000)) }
        }
        monitor.finish()
        var heard: [TransferEvent] = []
        for await event in events { heard.append(event) }
        #expect(
            heard == [.attempt(1), .attempt(2), .attempt(3), .sent(TransferCount(completed: 1000, total: 2000))])
    }

    @Test("a count held back by the interval is published when the call ends") func lastWord() async {
        let monitor = TransferMonitor(interval: .seconds(10), time: ManualTimeSource())
        let events = monitor.events
        monitor.start(attempt: 1)
        for count in 1...5 { monitor.receive(TransferCount(completed: Int64(count), total: 10)) }
        monitor.finish()
        var last: TransferEvent?
        for await event in events { last = event }
        #expect(last == .received(TransferCount(completed: 5, total: 10)))
    }

    @Test("no count is published twice when the call ends") func lastWordOnce() async {
        let monitor = TransferMonitor(interval: .zero)
        var events = monitor.events.makeAsyncIterator()
        monitor.start(attempt: 1)
        monitor.send(TransferCount(completed: 10, total: 10))
        #expect(await events.next() == .attempt(1))
        #expect(await events.next() == .sent(TransferCount(completed: 10, total: 10)))
        monitor.finish()
        #expect(await events.next() == nil)
    }

    @Test("a late listener gets the current state, and one after the end gets the final state") func late() async {
        let monitor = TransferMonitor()
        monitor.start(attempt: 2)
        monitor.send(TransferCount(completed: 7, total: 10))
        let late = monitor.events
        monitor.finish()
        var heard: [TransferEvent] = []
        for await event in late { heard.append(event) }
        #expect(heard == [.attempt(2), .sent(TransferCount(completed: 7, total: 10))])
        heard = []
        for await event in monitor.events { heard.append(event) }
        #expect(heard == [.attempt(2), .sent(TransferCount(completed: 7, total: 10))])
    }

    @Test("late counts of an abandoned attempt are ignored") func stale() {
        let monitor = TransferMonitor()
        let first = monitor.start(attempt: 1)
        monitor.send(TransferCount(completed: 9, total: 10), in: first)
        let second = monitor.start(attempt: 2)
        monitor.send(TransferCount(completed: 10, total: 10), in: first)
        #expect(monitor.sent == TransferCount())
        monitor.send(TransferCount(completed: 1, total: 10), in: second)
        #expect(monitor.sent.completed == 1)
    }

    @Test("the stream ends if a call fails before it starts") func neverBegun() async throws {
        let monitor = TransferMonitor()
        let events = monitor.events
        _ = await error {
            try await client(StubTransport { _ in .status(200) }).download(
                Get("/film", .none), to: "/nowhere/film", monitor: monitor)
        }
        for await event in events { Issue.record("\(event)") }
        let signedOut = App()
        let more = TransferMonitor()
        let moreEvents = more.events
        _ = await error { try await signedOut.client.send(Get("/me"), monitor: more) }
        for await event in moreEvents { Issue.record("\(event)") }
    }

    @Test("a cancelled listener ends at once and is removed") func cancelled() async {
        let monitor = TransferMonitor()
        let listening = Task { for await _ in monitor.events {} }
        await monitor.waitForListeners(1)
        listening.cancel()
        await listening.value
        await monitor.waitForListeners(0)
    }
}

extension TransferMonitor {
    func send(_ count: TransferCount) { send(count, in: pass) }
    func receive(_ count: TransferCount) { receive(count, in: pass) }

    func waitForListeners(_ count: Int) async {
        while subscriberCount != count { await Task.yield() }
    }
}
