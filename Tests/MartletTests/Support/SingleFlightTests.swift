import MartletTesting
import Testing

@testable import Martlet

@Suite("Single flight", .timeLimit(.minutes(10))) struct SingleFlightTests {
    @Test("after the only caller was cancelled, a new call starts over") func abandoned() async {
        let flight = SingleFlight<Int>(time: ManualTimeSource(), outlivesCallers: false)
        let gate = Gate()
        let first = Task {
            await flight.run {
                await gate.pass()
                return 1
            }
        }
        await gate.waitForArrivals()
        first.cancel()
        // If the second call joined the first, it would get its value.
        let opening = Task {
            _ = await first.value
            gate.open()
        }
        let second = await flight.run { 2 }
        #expect(second == 2)
        await opening.value
        #expect(await first.value == nil)
    }

    @Test("a caller cancelled twice counts once, and the work continues for the others") func others() async {
        let flight = SingleFlight<Int>(time: ManualTimeSource(), outlivesCallers: false)
        let gate = Gate()
        let work: @Sendable () async -> Int = {
            await gate.pass()
            return Task.isCancelled ? 0 : 1
        }
        let staying = Task { await flight.run(work) }
        await gate.waitForArrivals()
        let going = Task { await flight.run(work) }
        going.cancel()
        going.cancel()
        #expect(await going.value == nil)
        gate.open()
        #expect(await staying.value == 1)
        #expect(gate.arrivals == 1)
    }
}
