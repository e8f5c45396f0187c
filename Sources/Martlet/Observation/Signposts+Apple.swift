#if canImport(os)
    public import os

    extension OSSignposter {
        /// An observer that shows calls, attempts and refreshes as intervals in Instruments.
        ///
        /// ```swift
        /// let signposter = OSSignposter(subsystem: "com.example.app", category: "network")
        /// config.observers = [signposter.networkObserver(following: tokens)]
        /// ```
        ///
        /// The intervals are named `Call`, `Attempt` and `Refresh`, and end with their outcome. Secrets are masked. An
        /// interval costs next to nothing while nothing records it.
        /// - Parameters:
        ///   - tokens: The owner of the session whose refreshes to show; `nil` for calls and attempts only. It is not
        ///     retained.
        ///   - showsTargets: Whether the intervals show paths and queries, which can identify a person.
        public func networkObserver(
            following tokens: TokenManager? = nil, showsTargets: Bool = false
        ) -> any NetworkObserver {
            let intervals = CallIntervals { kind, text, target in
                begin(kind, showsTargets && !target.isEmpty ? "\(text) \(target)" : text)
            }
            if let events = tokens?.events {
                // It ends with the manager.
                Task { for await event in events { intervals.record(event) } }
            }
            return intervals
        }

        // The name of a signpost is fixed at compile time.
        private func begin(_ kind: CallIntervals.Kind, _ text: String) -> CallIntervals.End {
            let id = makeSignpostID()
            // Apple's class is not marked as Sendable. Only the end of the interval uses it, once.
            switch kind {
            case .call:
                nonisolated(unsafe) let state = beginInterval("Call", id: id, "\(text, privacy: .public)")
                return { endInterval("Call", state, "\($0, privacy: .public)") }
            case .attempt:
                nonisolated(unsafe) let state = beginInterval("Attempt", id: id, "\(text, privacy: .public)")
                return { endInterval("Attempt", state, "\($0, privacy: .public)") }
            case .refresh:
                nonisolated(unsafe) let state = beginInterval("Refresh", id: id, "\(text, privacy: .public)")
                return { endInterval("Refresh", state, "\($0, privacy: .public)") }
            }
        }
    }
#endif
