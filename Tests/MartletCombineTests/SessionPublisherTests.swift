#if canImport(Combine) || OpenCombine
    #if canImport(Combine)
        import Combine
    #else
        import OpenCombine
    #endif
    import MartletTesting
    import Testing

    @testable import Martlet
    @testable import MartletCombine

    @Suite("The session publisher", .timeLimit(.minutes(10))) struct SessionPublisherTests {
        @Test("publishes the current state and then each change") func story() async throws {
            let app = App()
            await app.tokens.restore()
            let states: AnyPublisher<SessionState, Never> = app.tokens.statePublisher
            let recorder = states.record()
            await recorder.waitForValues(1)
            #expect(recorder.values == [.signedOut])
            let session = try await app.tokens.signIn(with: app.issue())
            while recorder.values.last != .signedIn(session) { await Task.yield() }
            await app.tokens.signOut()
            while recorder.values.last != .signedOut { await Task.yield() }
            #expect(recorder.values.filter { !$0.isSignedIn } == [.signedOut, .signedOut])
            #expect(!recorder.isOver)

            let late = app.tokens.statePublisher.record()
            await late.waitForValues(1)
            #expect(late.values == [.signedOut])
            late.cancel()
            recorder.cancel()
        }

        @Test("the first subscription loads the store") func loads() async {
            let app = App()
            let publisher = app.tokens.statePublisher
            #expect(app.tokens.state == .loading)
            let recorder = publisher.record()
            while recorder.values.last != .signedOut { await Task.yield() }
            recorder.cancel()
        }

        @Test("late demand skips old states but never the newest") func late() async throws {
            let app = App()
            await app.tokens.restore()
            let recorder = app.tokens.statePublisher.record(.none)
            await recorder.waitUntilDemandIsNeeded()
            for _ in 0..<50 {
                try await app.tokens.signIn(with: app.issue())
                await app.tokens.signOut()
            }
            let last = try await app.tokens.signIn(with: app.issue())
            #expect(recorder.values.isEmpty)
            recorder.request(.unlimited)
            while recorder.values.last != .signedIn(last) { await Task.yield() }
            #expect(recorder.values.count <= 16)
            recorder.cancel()
        }

        @Test("finishes with its manager, which it does not retain") func ends() async {
            weak var gone: TokenManager?
            let recorder: Recorder<SessionState, Never>
            do {
                let tokens = TokenManager(
                    baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"))
                gone = tokens
                await tokens.restore()
                recorder = tokens.statePublisher.record()
                await recorder.waitForValues(1)
            }
            await recorder.waitForEnd()
            #expect(recorder.isFinished)
            #expect(gone == nil)
        }

        @Test("a cancelled subscription is removed from the manager") func cancelled() async {
            let app = App()
            await app.tokens.restore()
            let recorder = app.tokens.statePublisher.record()
            await recorder.waitForValues(1)
            #expect(
                app.tokens.inspect { core in
                    var states = core.states
                    return states.count
                } == 1)
            recorder.cancel()
            while app.tokens.inspect({ core in
                var states = core.states
                return states.count
            }) > 0 { await Task.yield() }
            #expect(!recorder.isOver)
        }

        @Test("the event publisher misses no event after subscribing") func events() async throws {
            let app = try await App.signedIn()
            let recorder = app.tokens.eventPublisher.record()
            try await app.tokens.refresh()
            await app.tokens.signOut()
            func has(_ isIt: (SessionEvent) -> Bool) -> Bool { recorder.values.contains(where: isIt) }
            while !has({ if case .signedOut = $0 { true } else { false } }) { await Task.yield() }
            guard case .refreshStarted(_, .forced) = recorder.values.first else {
                Issue.record("\(recorder.values)")
                return
            }
            #expect(has { if case .refreshSucceeded = $0 { true } else { false } })
            recorder.cancel()
        }
    }
#endif
