extension CallPipeline {
    /// Waits until the network returns, if a call could not leave the device.
    ///
    /// If the device seems to have a network after all, such as one without a route to the server, the request is sent
    /// again after a pause, which doubles each time. The wait ends with the call's session.
    /// - Returns: Whether the call may be sent again; `false` if it does not wait, or has waited long enough.
    /// - Throws: ``SessionError`` if the session of the call has ended.
    func waitForConnectivity(_ call: inout CallState) async throws -> Bool {
        guard let limit = call.context.sentEndpoint.connectivityTimeout ?? config.connectivityTimeout else {
            return false
        }
        let deadline = (call.context.progressedAt ?? call.context.startedAt) + limit
        guard time.uptime < deadline else { return false }
        let pause = min(ConnectivityPause.first * (1 << min(call.connectivityWaits, 20)), ConnectivityPause.longest)
        call.countConnectivityWait()
        call.observation?.callIsWaitingForConnectivity(call.context)
        let owner = call.authorization.owner
        await withTaskGroup { [time, tokens, monitor = config.connectivity] group in
            group.addTask { try? await time.sleep(until: deadline) }
            if let tokens, owner.isBound {
                group.addTask { try? await tokens.whileCurrent(owner, Race<Void>(), start: {}, onEnd: {}) }
            }
            group.addTask { await monitor.waitForReturn(atMost: pause, on: time) }
            await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
        if let error = tokens?.endError(for: owner) { throw error }
        return time.uptime < deadline
    }
}

extension ConnectivityMonitor {
    /// Waits until the network returns. If there seems to be one already, or if the monitor reports no more changes,
    /// the wait ends after a pause.
    fileprivate func waitForReturn(atMost pause: Duration, on time: any TimeSource) async {
        let updates = updates
        var wasLost = false
        for await isConnected in updates {
            if isConnected, wasLost { return }
            if isConnected { break }
            wasLost = true
        }
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                try? await time.sleep(until: time.uptime + pause)
                return true
            }
            group.addTask {
                var wasLost = false
                for await isConnected in updates {
                    if isConnected, wasLost { return true }
                    wasLost = wasLost || !isConnected
                }
                return false
            }
            while let isOver = await group.next(), !isOver {}
            group.cancelAll()
        }
    }
}

/// The pauses before a request is sent again by a device that seems to have a network.
private enum ConnectivityPause {
    static let first = Duration.seconds(1)
    static let longest = Duration.seconds(30)
}
