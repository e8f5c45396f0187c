@testable import Martlet

/// The worlds in which searches start, each reached by events from a fresh launch.
enum SearchStarts {
    /// One world for each phase of a session's life.
    static func main(hasGrace: Bool, sharesStore: Bool, isPrompt: Bool) -> [World] {
        let nothing = World(grace: hasGrace, sharesStore: sharesStore, isPrompt: isPrompt)
        let fresh = stored(nothing)
        let signedIn = after(restore, in: fresh)
        return [
            nothing, fresh,
            after([.clockJumps], in: fresh),
            interrupted(fresh, isSpent: false), interrupted(fresh, isSpent: true),
            after([.asks(.token), .storeResponds(.isUnavailable)], in: fresh),
            after(restore, in: nothing),
            signedIn,
            after([.clockJumps], in: signedIn),
            after(send + [.serverResponds(0, .isOffline), .storeResponds(.works)], in: signedIn),
            after(send + [.serverResponds(0, .endsSession), .storeResponds(.works)], in: signedIn),
        ]
    }

    /// The main worlds, and worlds in the middle of an operation.
    static func all(hasGrace: Bool, sharesStore: Bool, isPrompt: Bool) -> [World] {
        let signedIn = after(
            restore, in: stored(World(grace: hasGrace, sharesStore: sharesStore, isPrompt: isPrompt)))
        return main(hasGrace: hasGrace, sharesStore: sharesStore, isPrompt: isPrompt) + [
            after([.clockTicks], in: signedIn),
            after(send, in: signedIn),
            after(send + [.serverResponds(0, .isCutOffAfter)], in: signedIn),
            after(send + [.serverResponds(0, .responds), .storeResponds(.works)], in: signedIn),
            after(send + [.serverResponds(0, .responds), .storeResponds(.cannotWrite)], in: signedIn),
            after([.signsOut, .storeResponds(.cannotWrite)], in: signedIn),
            after([.signsIn, .storeResponds(.cannotWrite)], in: signedIn),
        ]
    }

    private static let restore: [SearchEvent] = [.asks(.token), .storeResponds(.works), .asksAgain(0)]
    private static let send: [SearchEvent] = [.asks(.forcedRefresh), .takesLock(0), .storeResponds(.works)]

    private static func stored(_ world: World) -> World {
        var world = world
        world.stored = world.newSession()
        return world
    }

    /// A process died during a refresh, before it stored the new tokens.
    private static func interrupted(_ world: World, isSpent: Bool) -> World {
        var world = world
        guard let record = world.stored else { return world }
        world.stored?.journal = World.journal(for: record)
        world[record.bundle].isInDoubt = true
        if isSpent { _ = world.rotate(record.bundle) }
        return world
    }

    private static func after(_ events: [SearchEvent], in world: World) -> World {
        events.reduce(world) { world, event in
            // A prompt world has already handled this event.
            let isDone = world.isPrompt && (event == .asksAgain(0) || event == .takesLock(0))
            return isDone ? world : SearchStep(event, in: world).after
        }
    }
}
