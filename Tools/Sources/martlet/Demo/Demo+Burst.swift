internal import Martlet
internal import ReferenceBackend

extension Demo {
    /// The centrepiece.
    /// - Returns: When it took place.
    mutating func fiftyCallsMeetADeadToken() async throws -> ClosedRange<Duration> {
        let count = 50
        report.step("Fifty calls at once, on a token that the server has just invalidated")
        try await controls.expireAccessTokens()
        controls.resetCounters()
        let refusedBefore = recorder.refusals
        let start = recorder.elapsed
        let results = await app.burst(count)
        let end = recorder.elapsed
        let refused = recorder.refusals - refusedBefore
        let successes = results.count { (try? $0.get()) != nil }
        let counters = controls.counters

        report.check(
            successes == count, "\(successes) of \(count) calls succeeded, in \((end - start).forPeople).",
            else: "\(count) of \(count)")
        report.check(
            refused > 0 && counters["GET /me"] == count + refused,
            "\(refused) of them met a 401 and were sent once more: \(counters["GET /me"]) requests in all.",
            else: "at least one 401, and one more request for each")
        report.check(
            counters.refreshesCalled == 1, "\(counters.refreshesCalled) refresh reached the server, for all of them.",
            else: "exactly 1")
        report.check(
            counters.reuseDetected == 0,
            "\(counters.reuseDetected) reuse detections: a second refresh would have ended the session.", else: "0")
        _ = await recorder.sees(since: start) { if case .refreshSucceeded = $0 { true } else { false } }
        return start...recorder.elapsed
    }
}
