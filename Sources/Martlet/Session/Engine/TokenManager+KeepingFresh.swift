extension TokenManager {
    /// Refreshes the access token shortly before it expires, until the task is cancelled.
    ///
    /// Without it, the first call after that time starts the refresh. A screen that stays open, or a process that answers
    /// requests, can call it so that no call waits:
    ///
    /// ```swift
    /// ContentView()
    ///     .task(id: scenePhase) { if scenePhase == .active { await tokens.keepFresh() } }
    /// ```
    ///
    /// It follows the session: the tokens of a later sign-in are kept fresh, too. A refresh that fails is tried again
    /// after its backoff. A token whose lifetime the server does not state is refreshed only when the server rejects it.
    /// Several callers, and several processes, still share one refresh. Do not call it in the background, where each refresh
    /// wakes the radio.
    public func keepFresh() async {
        await restore()
        var earliest = Duration.zero
        while !Task.isCancelled {
            // Subscribed before the time is read, so that no change is missed in between.
            let changes = events
            let now = time.uptime
            let due = nextRefresh().map { max($0, earliest) }
            if let due, due <= now {
                // A refresh that cannot start now, for example because the budget is used up, is not asked for again at once.
                earliest = now + .seconds(1)
                _ = await credential(for: currentOwner)
            } else {
                await waitForChange(changes, until: due)
            }
        }
    }

    private func waitForChange(_ changes: AsyncStream<SessionEvent>, until deadline: Duration?) async {
        await withTaskGroup { [time] group in
            if let deadline { group.addTask { try? await time.sleep(until: deadline) } }
            group.addTask { for await _ in changes { return } }
            await group.next()
            group.cancelAll()
        }
    }
}
