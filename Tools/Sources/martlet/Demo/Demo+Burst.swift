internal import Martlet
internal import ReferenceBackend

extension Demo {
    /// Sends fifty calls on an access token that the server has just invalidated.
    /// - Returns: The period in which they ran.
    mutating func burstOnInvalidatedToken() async throws -> ClosedRange<Duration> {
        let count = 50
        report.step("Fifty calls at once, with a token that the server has just invalidated")
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
            successes == count, "\(successes) of \(count) calls succeeded, in \((end - start).readable).",
            else: "\(count) of \(count)")
        report.check(
            refused > 0 && counters["GET /me"] == count + refused,
            "\(refused) of them got a 401 and were replayed: \(counters["GET /me"]) requests in total.",
            else: "at least one 401, and one replay for each")
        report.check(
            counters.refreshesCalled == 1,
            "\(counters.refreshesCalled) refresh reached the server, for all calls together.",
            else: "exactly 1")
        report.check(
            counters.reuseDetected == 0,
            "\(counters.reuseDetected) reuse detections: a second refresh with the same token would have ended the session.",
            else: "0")
        _ = await recorder.waitForEvent(since: start) { if case .refreshSucceeded = $0 { true } else { false } }
        return start...recorder.elapsed
    }
}
