@testable import Martlet

/// The worlds from which searches start, each reached by events from an app that has just been started.
enum SearchStarts {
    /// Each phase of a session's life.
    static func main(hasGrace: Bool, sharesStore: Bool, isPrompt: Bool) -> [World] {
        let nothing = World(grace: hasGrace, sharesStore: sharesStore, isPrompt: isPrompt)
        let fresh = stored(nothing)
        let signedIn = after(restore, in: fresh)
        return [
            nothing, fresh,
            after([.clockJumps], in: fresh),
            cutShort(fresh, isSpent: false), cutShort(fresh, isSpent: true),
            after([.asks(.token), .storeAnswers(.isUnavailable)], in: fresh),
            after(restore, in: nothing),
            signedIn,
            after([.clockJumps], in: signedIn),
            after(send + [.serverAnswers(0, .isOffline), .storeAnswers(.works)], in: signedIn),
            after(send + [.serverAnswers(0, .refuses), .storeAnswers(.works)], in: signedIn),
        ]
    }

    /// Those, and the midst of things.
    static func all(hasGrace: Bool, sharesStore: Bool, isPrompt: Bool) -> [World] {
        let signedIn = after(
            restore, in: stored(World(grace: hasGrace, sharesStore: sharesStore, isPrompt: isPrompt)))
        return main(hasGrace: hasGrace, sharesStore: sharesStore, isPrompt: isPrompt) + [
            after([.clockTicks], in: signedIn),
            after(send, in: signedIn),
            after(send + [.serverAnswers(0, .isCutOffAfter)], in: signedIn),
            after(send + [.serverAnswers(0, .answers), .storeAnswers(.works)], in: signedIn),
            after(send + [.serverAnswers(0, .answers), .storeAnswers(.cannotWrite)], in: signedIn),
            after([.signsOut, .storeAnswers(.cannotWrite)], in: signedIn),
            after([.signsIn, .storeAnswers(.cannotWrite)], in: signedIn),
        ]
    }

    private static let restore: [SearchEvent] = [.asks(.token), .storeAnswers(.works), .asksAgain(0)]
    private static let send: [SearchEvent] = [.asks(.forcedRefresh), .takesLock(0), .storeAnswers(.works)]

    private static func stored(_ world: World) -> World {
        var world = world
        world.stored = world.newSession()
        return world
    }

    /// A process that refreshed died before it had written what it got.
    private static func cutShort(_ world: World, isSpent: Bool) -> World {
        var world = world
        guard let record = world.stored else { return world }
        world.stored?.journal = World.journal(for: record)
        world[record.bundle].isInDoubt = true
        if isSpent { _ = world.rotate(record.bundle) }
        return world
    }

    private static func after(_ events: [SearchEvent], in world: World) -> World {
        events.reduce(world) { world, event in
            // What comes at once in a prompt world has come already.
            let isDone = world.isPrompt && (event == .asksAgain(0) || event == .takesLock(0))
            return isDone ? world : SearchStep(event, in: world).after
        }
    }
}
