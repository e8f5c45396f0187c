/// One expiring activity (``ExpiringActivities``) that several parts of the program share, because each activity blocks
/// a thread of the process while it lasts.
package final class SharedActivity: Sendable {
    /// One share of the activity. Leave it exactly once.
    package struct Membership: Sendable {
        fileprivate let id: Int
        fileprivate let members: Members

        package var isRunning: Bool { members.isRunning }

        /// Ends the activity if no other member is left.
        package func leave() { members.remove(id) }
    }

    /// The activity of all downloads; `nil` on systems that need none.
    package static let downloads = ExpiringActivities.platform.map {
        SharedActivity($0, reason: "A file is downloaded")
    }

    private let activities: ExpiringActivities
    private let reason: String
    /// One member begins the activity, and the others wait for it.
    private let queue = BlockingQueue("martlet.shared-activity")
    private let members = Locked(Members())

    package init(_ activities: ExpiringActivities, reason: String) {
        self.activities = activities
        self.reason = reason
    }

    /// Joins the activity, or begins one. Blocks until the system has decided.
    /// - Parameter expire: Called when the activity expires, on a thread of the system that may block. The system may
    ///   suspend the process when the closures of all members have returned.
    /// - Returns: `nil` if the system grants none. Wait for ``ExpiringActivities/pause`` before the next attempt.
    package func join(onExpiry expire: @escaping @Sendable () -> Void) -> Membership? {
        var membership: Membership?
        queue.wait {
            membership = members.withLock { $0 }.add(expire)
            guard membership == nil else { return }
            let new = Members()
            let first = new.begin(expire)
            guard let activity = activities.beginBlocking(reason, onExpiry: { new.expire() }) else { return }
            new.activity.withLock { $0 = activity }
            members.withLock { $0 = new }
            membership = first
        }
        return membership
    }
}

extension SharedActivity {
    /// The members of one activity.
    fileprivate final class Members: Sendable {
        private struct State {
            var isRunning = false
            var lastID = 0
            var expire: [Int: @Sendable () -> Void] = [:]
        }

        private let state = Locked(State())
        let activity = Locked<ExpiringActivity?>(nil)

        var isRunning: Bool { state.withLock { $0.isRunning } }

        /// Adds the first member, which begins the activity.
        func begin(_ expire: @escaping @Sendable () -> Void) -> Membership {
            state.withLock { state in
                (state.isRunning, state.expire) = (true, [0: expire])
                return Membership(id: 0, members: self)
            }
        }

        /// - Returns: `nil` if the activity is over.
        func add(_ expire: @escaping @Sendable () -> Void) -> Membership? {
            state.withLock { state in
                guard state.isRunning else { return nil }
                state.lastID += 1
                state.expire[state.lastID] = expire
                return Membership(id: state.lastID, members: self)
            }
        }

        func remove(_ id: Int) {
            let isLast = state.withLock { state in
                guard state.isRunning else { return false }
                state.expire[id] = nil
                state.isRunning = !state.expire.isEmpty
                return !state.isRunning
            }
            if isLast { activity.withLock { $0 }?.end() }
        }

        func expire() {
            let users = state.withLock { state in
                defer { (state.isRunning, state.expire) = (false, [:]) }
                return Array(state.expire.values)
            }
            for expire in users { expire() }
        }
    }
}
