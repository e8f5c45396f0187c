@testable import Martlet

/// What can happen next in a world.
enum SearchEvent: Hashable {
    case asks(World.Ask)
    /// Somebody who was told to ask again does so, by place.
    case asksAgain(Int)
    /// A task that waits is cancelled, by place.
    case isCancelled(Int)
    /// A server answered 401 to a request signed so; its sender has not asked for another token yet.
    case isRefused(SessionStamp)
    case signsIn
    case signsOut
    /// The store does the next thing that it has been asked for.
    case storeAnswers(StoreOutcome)
    /// Something has waited too long for its turn with the store, by place.
    case turnIsLate(Int)
    /// A refresh takes the lock, by place.
    case takesLock(Int)
    /// A refresh has waited too long for the lock, by place.
    case lockIsLate(Int)
    /// The server answers a refresh, by place.
    case serverAnswers(Int, ServerOutcome)
    case lateAnswerCame
    case saveRetryIsDue
    case deleteRetryIsDue(Int)
    case anotherProcessRotates
    case anotherProcessSignsOut
    case anotherProcessSignsIn
    /// The sign of a change in the store has come.
    case noticesChange
    /// The wait before looking once more is over.
    case lookAgainIsDue
    case clockTicks
    /// The device slept for hours.
    case clockJumps

    enum StoreOutcome: Hashable, CaseIterable {
        case works
        /// The record can be read and not be changed.
        case cannotWrite
        /// The record cannot even be read.
        case isUnavailable
        /// The record is damaged, and can be replaced.
        case isUnreadable
        /// The change is made, and takes so long that it counts as failed.
        case isSlow
    }

    enum ServerOutcome: Hashable, CaseIterable {
        /// It gives new tokens, if it takes the old one.
        case answers
        /// Nothing reached it.
        case isOffline
        /// The connection broke before it had done anything.
        case isCutOffBefore
        /// It gave new tokens, and they were lost, or come late.
        case isCutOffAfter
        /// It ends the session.
        case refuses
    }
}

/// How far a search goes.
struct SearchBounds: Sendable {
    var waiters = 2
    var sessions = 3
    /// How much the store may be behind.
    var tasks = 6
    /// How many refreshes may be under way, those of sessions that are over included.
    var refreshes = 2
    /// Leaves out what is only a shade of something else, so that a search gets deeper.
    var isBroad = false
}

extension SearchBounds {
    func include(_ world: World) -> Bool {
        world.lane.count <= tasks && world.refreshes.count <= refreshes
    }
}

extension SearchEvent {
    /// Whether another event is much the same.
    fileprivate var isShade: Bool {
        switch self {
        case .asks(.forcedRefresh), .asks(.lastingToken), .isRefused, .clockTicks, .anotherProcessSignsIn,
            .anotherProcessSignsOut:
            true
        case .storeAnswers(.isSlow), .storeAnswers(.isUnreadable), .serverAnswers(_, .isCutOffBefore): true
        default: false
        }
    }
}

// MARK: - What can happen

extension World {
    func events(_ bounds: SearchBounds) -> [SearchEvent] {
        var events: [SearchEvent] = []
        if waiters.count + woken.count < bounds.waiters { addAsks(&events) }
        if case .signedIn(let session) = machine.state, session.isAnnounced {
            events.append(.isRefused(session.record.stamp))
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
        if let task = lane.first { addOutcomes(of: task, &events) }
        for index in lane.indices.dropFirst() where isAwaited(lane[index]) { events.append(.turnIsLate(index)) }
        for (index, refresh) in refreshes.enumerated() {
            switch refresh.stage {
            case .waitsForLock:
                if isLockFree { events.append(.takesLock(index)) }
                if machine.sharesStore { events.append(.lockIsLate(index)) }
            case .sending: addOutcomes(ofRefresh: index, &events)
            case .noting, .finishing: break
            }
        }
        if late != nil { events.append(.lateAnswerCame) }
        if saveRetries > 0 { events.append(.saveRetryIsDue) }
        for index in deleteRetries.indices { events.append(.deleteRetryIsDue(index)) }
        if awaitsLook { events.append(.lookAgainIsDue) }
        if machine.sharesStore { addOthers(&events, bounds) }
        events += [.clockTicks, .clockJumps]
        return bounds.isBroad ? events.filter { !$0.isShade } : events
    }

    private func addAsks(_ events: inout [SearchEvent]) {
        events += [.asks(.token), .asks(.lastingToken), .asks(.forcedRefresh)]
        if case .signedIn(let session) = machine.state {
            let stamp = session.record.stamp
            if session.isAnnounced { events.append(.asks(.tokenInPlaceOf(stamp))) }
            if stamp.rotation > 0 {
                events.append(
                    .asks(.tokenInPlaceOf(SessionStamp(session: stamp.session, rotation: stamp.rotation - 1))))
            }
        }
        if let over = sessions.indices.last(where: { sessions[$0].isOver }) {
            events.append(.asks(.tokenInPlaceOf(SessionStamp(session: Names.session(over + 1), rotation: 0))))
        }
    }

    /// A prompt refresh that has only noted that it wants the lock may as well have got it a moment later.
    private var mayRotateElsewhere: Bool {
        !refreshes.contains { isPrompt ? $0.holdsLock && $0.stage != .noting : $0.holdsLock }
    }

    private var asksToSignOut: Bool {
        waiters.contains { $0.ask == .signOut } || woken.contains(.signOut)
    }

    /// Whether somebody waits for the task who is told where its turn does not come. (Who waits for a deletion only hears of
    /// it, and nothing else comes of that.)
    private func isAwaited(_ task: StoreTask) -> Bool {
        switch (task, machine.phase) {
        case (.load, _), (.note, _): true
        case (.save(let order), .saving(let current)?): order.id == current.id
        case (.condemn(let order), .condemning(let current, _)?): order.id == current.id
        default: false
        }
    }

    private func addOutcomes(of task: StoreTask, _ events: inout [SearchEvent]) {
        switch task {
        case .load:
            events += [.storeAnswers(.works), .storeAnswers(.isUnavailable)]
        case .look, .flush:
            events.append(.storeAnswers(.works))
        case .note, .save, .condemn, .delete, .clearJournal:
            events += [.storeAnswers(.works), .storeAnswers(.isUnavailable)]
            if let change = change(for: task), change(.unavailable(.trouble)) != .keep {
                events.append(.storeAnswers(.isUnreadable))
            }
            // Where nothing is to be changed, changing it cannot fail.
            if let change = change(for: task), change(reading) != .keep {
                events += [.storeAnswers(.cannotWrite), .storeAnswers(.isSlow)]
            }
        }
    }

    private func addOutcomes(ofRefresh index: Int, _ events: inout [SearchEvent]) {
        let outcomes: [SearchEvent.ServerOutcome] =
            accepts(refreshes[index].order.record.bundle)
            ? [.answers, .isOffline, .isCutOffBefore, .isCutOffAfter, .refuses]
            : [.answers, .isOffline, .isCutOffBefore]
        events += outcomes.map { .serverAnswers(index, $0) }
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

// MARK: - What ends everything that is under way

extension World {
    /// What happens next where nobody asks for anything more and everything works; `nil` where all is done.
    var nextOnTheWayToRest: SearchEvent? {
        if !woken.isEmpty { return .asksAgain(0) }
        if !lane.isEmpty { return .storeAnswers(.works) }
        if isLockFree, let index = refreshes.firstIndex(where: { $0.stage == .waitsForLock }) {
            return .takesLock(index)
        }
        if let index = refreshes.firstIndex(where: { $0.stage == .sending }) { return .serverAnswers(index, .answers) }
        if late != nil { return .lateAnswerCame }
        if saveRetries > 0 { return .saveRetryIsDue }
        if !deleteRetries.isEmpty { return .deleteRetryIsDue(0) }
        if hasNews, isLoaded { return .noticesChange }
        if awaitsLook { return .lookAgainIsDue }
        return nil
    }
}

// MARK: - In words

extension SearchEvent: CustomStringConvertible {
    var description: String {
        switch self {
        case .asks(let ask): "somebody asks: \(ask)"
        case .asksAgain(let index): "somebody asks again (\(index))"
        case .isCancelled(let index): "a waiter is cancelled (\(index))"
        case .isRefused(let stamp): "a request of \(stamp) is refused"
        case .signsIn: "somebody signs in"
        case .signsOut: "the user signs out"
        case .storeAnswers(let outcome): "the store \(outcome.words)"
        case .turnIsLate(let index): "the store does not get to what it was asked for (\(index))"
        case .takesLock(let index): "a refresh has the lock (\(index))"
        case .lockIsLate(let index): "a refresh does not get the lock (\(index))"
        case .serverAnswers(let index, let outcome): "the server, to the refresh (\(index)), \(outcome.words)"
        case .lateAnswerCame: "the answer that was given up comes"
        case .saveRetryIsDue: "the wait before writing again is over"
        case .deleteRetryIsDue: "the wait before deleting again is over"
        case .anotherProcessRotates: "another process refreshes"
        case .anotherProcessSignsOut: "another process signs out"
        case .anotherProcessSignsIn: "another process signs somebody in"
        case .noticesChange: "a change of the record is noticed"
        case .lookAgainIsDue: "the wait before looking again is over"
        case .clockTicks: "time passes"
        case .clockJumps: "hours pass"
        }
    }
}

extension SearchEvent.StoreOutcome {
    fileprivate var words: String {
        switch self {
        case .works: "does it"
        case .cannotWrite: "cannot be changed"
        case .isUnavailable: "cannot be reached"
        case .isUnreadable: "has a damaged record"
        case .isSlow: "does it, too late"
        }
    }
}

extension SearchEvent.ServerOutcome {
    fileprivate var words: String {
        switch self {
        case .answers: "answers"
        case .isOffline: "is not to be reached"
        case .isCutOffBefore: "is cut off before it has done anything"
        case .isCutOffAfter: "is cut off after it gave new tokens"
        case .refuses: "says that the session is over"
        }
    }
}

extension World.Ask: CustomStringConvertible {
    var description: String {
        switch self {
        case .token: "a token"
        case .lastingToken: "a token that lasts"
        case .tokenInPlaceOf(let stamp): "a token in place of \(stamp)"
        case .tokenOf(let session): "a token of \(session), which others have renewed"
        case .forcedRefresh: "a new token, in any case"
        case .signIn(let session): "to be signed in as \(session)"
        case .signOut: "to be signed out"
        }
    }
}
