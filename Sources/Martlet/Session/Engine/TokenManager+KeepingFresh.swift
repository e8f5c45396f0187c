extension TokenManager {
    /// Refreshes the access token shortly before it expires, until the task is cancelled.
    ///
    /// Without this method, the first call in that period starts the refresh. Use it in a screen that stays open, or in
    /// a server process, so that no call has to wait:
    ///
    /// ```swift
    /// ContentView()
    ///     .task(id: scenePhase) { if scenePhase == .active { await tokens.keepFresh() } }
    /// ```
    ///
    /// The tokens of a later sign-in are kept fresh, too. A failed refresh is retried after its backoff. A token of
    /// unknown lifetime is refreshed only when the server rejects it. Several callers, and several processes, still
    /// share one refresh. Do not call it in the background, where each refresh wakes the radio.
    public func keepFresh() async {
        await restore()
        var earliest = Duration.zero
        while !Task.isCancelled {
            // Subscribe before reading the state, so that no change is missed in between.
            let (changes, networkReturns) = (events, self.networkReturns)
            let now = time.uptime
            let due = nextRefresh().map { max($0, earliest) }
            if let due, due <= now {
                // If no refresh can start now, for example because the budget is used up, wait before asking again.
                earliest = now + .seconds(1)
                _ = await credential(for: currentOwner)
            } else {
                await waitForChange(changes, networkReturns, until: due)
            }
        }
    }

    private func waitForChange(
        _ changes: AsyncStream<SessionEvent>, _ networkReturns: AsyncStream<Void>, until deadline: Duration?
    ) async {
        await withTaskGroup { [time] group in
            if let deadline { group.addTask { try? await time.sleep(until: deadline) } }
            group.addTask { for await _ in changes { return } }
            group.addTask { for await _ in networkReturns { return } }
            await group.next()
            group.cancelAll()
        }
    }
}
