@testable import Martlet

/// An event that can happen next in a world.
enum SearchEvent: Hashable {
    case asks(World.Ask)
    /// A caller that was told to ask again does so, by index.
    case asksAgain(Int)
    /// A waiting task is cancelled, by index.
    case isCancelled(Int)
    /// A server returned 401 to a request signed with this token, and its caller has not asked for another token yet.
    case requestIsRejected(SessionStamp)
    case signsIn
    case signsOut
    /// The store completes its next task.
    case storeResponds(StoreOutcome)
    /// A pending store task has waited too long for earlier ones, by index.
    case storeTaskIsDelayed(Int)
    /// A refresh acquires the lock, by index.
    case takesLock(Int)
    /// A refresh has waited too long for the lock, by index.
    case lockIsLate(Int)
    /// The server responds to a refresh, by index.
    case serverResponds(Int, ServerOutcome)
    case lateResponseArrives
    case saveRetryIsDue
    case deleteRetryIsDue(Int)
    case anotherProcessRotates
    case anotherProcessSignsOut
    case anotherProcessSignsIn
    /// The notification of a change in the store arrives.
    case noticesChange
    /// The delay before the store is read again has passed.
    case snapshotRetryIsDue
    case clockTicks
    /// The device slept for hours.
    case clockJumps

    enum StoreOutcome: Hashable, CaseIterable {
        case works
        /// The record can be read but not changed.
        case cannotWrite
        /// The record cannot be read.
        case isUnavailable
        /// The record is damaged and can be replaced.
        case isUnreadable
        /// The change succeeds, but so late that it counts as failed.
        case isSlow
    }

    enum ServerOutcome: Hashable, CaseIterable {
        /// It issues new tokens if it accepts the old one.
        case responds
        /// The request did not reach it.
        case isOffline
        /// The connection broke before the request was processed.
        case isCutOffBefore
        /// It issued new tokens, and the response is lost or late.
        case isCutOffAfter
        /// It ends the session.
        case endsSession
    }
}

/// The limits of a search.
struct SearchBounds: Sendable {
    var waiters = 2
    var sessions = 3
    /// The maximum number of pending store tasks.
    var tasks = 6
    /// The maximum number of refreshes in progress, including those of ended sessions.
    var refreshes = 2
    /// Leaves out events that are variants of others, so that the search reaches a greater depth.
    var isBroad = false
}

extension SearchBounds {
    func include(_ world: World) -> Bool {
        world.storeTasks.count <= tasks && world.refreshes.count <= refreshes
    }
}

extension SearchEvent {
    /// Whether the event is only a variant of another one.
    fileprivate var isVariant: Bool {
        switch self {
        case .asks(.forcedRefresh), .asks(.lastingToken), .requestIsRejected, .clockTicks, .anotherProcessSignsIn,
            .anotherProcessSignsOut:
            true
        case .storeResponds(.isSlow), .storeResponds(.isUnreadable), .serverResponds(_, .isCutOffBefore): true
        default: false
        }
    }
}

// MARK: - Possible events

extension World {
    func events(_ bounds: SearchBounds) -> [SearchEvent] {
        var events: [SearchEvent] = []
        if waiters.count + woken.count < bounds.waiters { addAsks(&events) }
        if case .signedIn(let session) = machine.state, session.isVisible {
            events.append(.requestIsRejected(session.record.stamp))
        }
        for (index, ask) in woken.enumerated() where woken.firstIndex(of: ask) == index {
            events.append(.asksAgain(index))
        }
        for (index, waiter) in waiters.enumerated()
        where waiters.firstIndex(where: { $0.ask == waiter.ask }) == index {
            events.append(.isCancelled(index))
        }
        if sessions.count < bounds.sessions, waiters.count <= bounds.waiters { events.append(.signsIn) }
        if isLoaded || !asksToSignOut { events.append(.signsOut) }
        if let task = storeTasks.first { addOutcomes(of: task, &events) }
        for (index, task) in storeTasks.enumerated().dropFirst() where reportsDelay(task) {
            events.append(.storeTaskIsDelayed(index))
        }
        for (index, refresh) in refreshes.enumerated() {
            switch refresh.stage {
            case .waitsForLock:
                if isLockFree { events.append(.takesLock(index)) }
                if machine.sharesStore { events.append(.lockIsLate(index)) }
            case .sending: addOutcomes(ofRefresh: index, &events)
            case .writingJournal, .finishing: break
            }
        }
        if late != nil { events.append(.lateResponseArrives) }
        if saveRetries > 0 { events.append(.saveRetryIsDue) }
        for index in deleteRetries.indices { events.append(.deleteRetryIsDue(index)) }
        if awaitsSnapshot { events.append(.snapshotRetryIsDue) }
        if machine.sharesStore { addOthers(&events, bounds) }
        events += [.clockTicks, .clockJumps]
        return bounds.isBroad ? events.filter { !$0.isVariant } : events
    }

    private func addAsks(_ events: inout [SearchEvent]) {
        events += [.asks(.token), .asks(.lastingToken), .asks(.forcedRefresh)]
        if case .signedIn(let session) = machine.state {
            let stamp = session.record.stamp
            if session.isVisible { events.append(.asks(.tokenInPlaceOf(stamp))) }
            if stamp.rotation > 0 {
                events.append(
                    .asks(.tokenInPlaceOf(SessionStamp(session: stamp.session, rotation: stamp.rotation - 1))))
            }
        }
        if let over = sessions.indices.last(where: { sessions[$0].isOver }) {
            events.append(.asks(.tokenInPlaceOf(SessionStamp(session: Names.session(over + 1), rotation: 0))))
        }
    }

    /// In a prompt world, a refresh that is still writing its journal could as well acquire the lock a moment later.
    private var mayRotateElsewhere: Bool {
        !refreshes.contains { isPrompt ? $0.holdsLock && $0.stage != .writingJournal : $0.holdsLock }
    }

    private var asksToSignOut: Bool {
        waiters.contains { $0.ask == .signOut } || woken.contains(.signOut)
    }

    /// Whether a delay of the task is reported to the machine, because callers wait for it. (The delay of a deletion
    /// has no effect here.)
    private func reportsDelay(_ task: StoreTask) -> Bool {
        switch (task, machine.phase) {
        case (.load, _), (.writeJournal, _): true
        case (.save(let job), .saving(let current)?): job.id == current.id
        case (.confirmExpiry(let job), .confirmingExpiry(let current, _)?): job.id == current.id
        default: false
        }
    }

    private func addOutcomes(of task: StoreTask, _ events: inout [SearchEvent]) {
        switch task {
        case .load:
            events += [.storeResponds(.works), .storeResponds(.isUnavailable)]
        case .snapshot, .flush:
            events.append(.storeResponds(.works))
        case .writeJournal, .save, .confirmExpiry, .delete, .clearJournal:
            events += [.storeResponds(.works), .storeResponds(.isUnavailable)]
            if let change = change(for: task), change(.unavailable(.trouble)) != .keep {
                events.append(.storeResponds(.isUnreadable))
            }
            // A change that keeps the record cannot fail.
            if let change = change(for: task), change(reading) != .keep {
                events += [.storeResponds(.cannotWrite), .storeResponds(.isSlow)]
            }
        }
    }

    private func addOutcomes(ofRefresh index: Int, _ events: inout [SearchEvent]) {
        let outcomes: [SearchEvent.ServerOutcome] =
            accepts(refreshes[index].job.record.bundle)
            ? [.responds, .isOffline, .isCutOffBefore, .isCutOffAfter, .endsSession]
            : [.responds, .isOffline, .isCutOffBefore]
        events += outcomes.map { .serverResponds(index, $0) }
    }

    private func addOthers(_ events: inout [SearchEvent], _ bounds: SearchBounds) {
        if stored != nil {
            if mayRotateElsewhere { events.append(.anotherProcessRotates) }
            events.append(.anotherProcessSignsOut)
        }
        if sessions.count < bounds.sessions { events.append(.anotherProcessSignsIn) }
        if hasNews, isLoaded { events.append(.noticesChange) }
    }
}

extension SessionStateMachine {
    fileprivate var phase: Phase? {
        if case .signedIn(let session) = state { session.phase } else { nil }
    }
}

// MARK: - The way to rest

extension World {
    /// The next event if no caller asks for anything more and everything works; `nil` at rest.
    var nextOnTheWayToRest: SearchEvent? {
        if !woken.isEmpty { return .asksAgain(0) }
        if !storeTasks.isEmpty { return .storeResponds(.works) }
        if isLockFree, let index = refreshes.firstIndex(where: { $0.stage == .waitsForLock }) {
            return .takesLock(index)
        }
        if let index = refreshes.firstIndex(where: { $0.stage == .sending }) {
            return .serverResponds(index, .responds)
        }
        if late != nil { return .lateResponseArrives }
        if saveRetries > 0 { return .saveRetryIsDue }
        if !deleteRetries.isEmpty { return .deleteRetryIsDue(0) }
        if hasNews, isLoaded { return .noticesChange }
        if awaitsSnapshot { return .snapshotRetryIsDue }
        return nil
    }
}

// MARK: - Descriptions

extension SearchEvent: CustomStringConvertible {
    var description: String {
        switch self {
        case .asks(let ask): "a caller asks for \(ask)"
        case .asksAgain(let index): "the caller asks again (\(index))"
        case .isCancelled(let index): "a waiter is cancelled (\(index))"
        case .requestIsRejected(let stamp): "a request of \(stamp) is rejected"
        case .signsIn: "a user signs in"
        case .signsOut: "the user signs out"
        case .storeResponds(let outcome): "the store \(outcome.words)"
        case .storeTaskIsDelayed(let index): "a pending store task is delayed (\(index))"
        case .takesLock(let index): "a refresh acquires the lock (\(index))"
        case .lockIsLate(let index): "a refresh does not acquire the lock (\(index))"
        case .serverResponds(let index, let outcome): "the server, for the refresh (\(index)), \(outcome.words)"
        case .lateResponseArrives: "a late response arrives"
        case .saveRetryIsDue: "the delay before writing again has passed"
        case .deleteRetryIsDue: "the delay before deleting again has passed"
        case .anotherProcessRotates: "another process refreshes"
        case .anotherProcessSignsOut: "another process signs out"
        case .anotherProcessSignsIn: "another process signs a user in"
        case .noticesChange: "a change of the record is noticed"
        case .snapshotRetryIsDue: "the delay before reading again has passed"
        case .clockTicks: "time passes"
        case .clockJumps: "hours pass"
        }
    }
}

extension SearchEvent.StoreOutcome {
    fileprivate var words: String {
        switch self {
        case .works: "completes"
        case .cannotWrite: "cannot be changed"
        case .isUnavailable: "cannot be reached"
        case .isUnreadable: "has a damaged record"
        case .isSlow: "completes, too late"
        }
    }
}

extension SearchEvent.ServerOutcome {
    fileprivate var words: String {
        switch self {
        case .responds: "responds"
        case .isOffline: "cannot be reached"
        case .isCutOffBefore: "is cut off before it processes the request"
        case .isCutOffAfter: "is cut off after it issued new tokens"
        case .endsSession: "ends the session"
        }
    }
}

extension World.Ask: CustomStringConvertible {
    var description: String {
        switch self {
        case .token: "a token"
        case .lastingToken: "a lasting token"
        case .tokenInPlaceOf(let stamp): "a token in place of \(stamp)"
        case .tokenOf(let session): "a token of \(session), which another process has refreshed"
        case .forcedRefresh: "a forced refresh"
        case .signIn(let session): "to sign in as \(session)"
        case .signOut: "to sign out"
        }
    }
}
