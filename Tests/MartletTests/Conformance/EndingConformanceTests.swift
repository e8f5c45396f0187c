import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: a session that has ended stays ended", .timeLimit(.minutes(10))) struct EndingConformanceTests {
    @Test(
        "C83: a sign-in that was not written does not return after another process has signed in and out",
        arguments: [false, true])
    func unwrittenSignIn(showsAnotherUser: Bool) async throws {
        let (time, broken) = (ManualTimeSource(), Locked(false))
        let disk = SimulatedDisk(time: time, breaking: "one", when: broken)
        let (one, other) = (App(store: disk.open("one"), time: time), App(store: disk.open("other"), time: time))
        if showsAnotherUser {
            try await one.tokens.signIn(with: one.backend.issue())
        } else {
            await one.tokens.restore()
        }
        await other.tokens.restore()
        broken.withLock { $0 = true }
        let unwritten = try await one.tokens.signIn(with: one.backend.issue())
        #expect(!unwritten.isSaved)
        try await other.tokens.signIn(with: other.backend.issue())
        await other.tokens.signOut()
        broken.withLock { $0 = false }
        await one.tokens.finishStoreWork(time)
        #expect(one.tokens.state == .signedOut && other.tokens.state == .signedOut)
        #expect(disk.record == nil)
        let later = App(store: disk.open("later"), time: time)
        #expect(await later.tokens.restore() == .signedOut)
    }

    @Test("C83: the same is true if its clock was ahead") func clockAhead() async throws {
        let (time, broken) = (ManualTimeSource(), Locked(false))
        let disk = SimulatedDisk(time: time, breaking: "one", when: broken)
        let (one, other) = (App(store: disk.open("one"), time: time), App(store: disk.open("other"), time: time))
        await one.tokens.restore()
        await other.tokens.restore()
        broken.withLock { $0 = true }
        let now = time.wallClock
        time.setWallClock(now.addingTimeInterval(86_400))
        try await one.tokens.signIn(with: one.backend.issue())
        time.setWallClock(now)
        try await other.tokens.signIn(with: other.backend.issue())
        await other.tokens.signOut()
        broken.withLock { $0 = false }
        await one.tokens.finishStoreWork(time)
        #expect(one.tokens.state == .signedOut && other.tokens.state == .signedOut && disk.record == nil)
    }

    @Test("C83: nor does it return if a third process signs out without having read the store") func thirdSignOut()
        async throws
    {
        let (time, broken) = (ManualTimeSource(), Locked<Set<String>>([]))
        let disk = SimulatedDisk(time: time) { name, operation in
            let isBroken = broken.withLock { $0.contains(name) } && (name == "one" || operation == .read)
            return .init(fault: isBroken ? .unreachable(StorageError(.unreachable, "broken")) : nil)
        }
        let (one, other) = (App(store: disk.open("one"), time: time), App(store: disk.open("other"), time: time))
        await one.tokens.restore()
        await other.tokens.restore()
        broken.withLock { $0 = ["one", "third"] }
        let now = time.wallClock
        time.setWallClock(now.addingTimeInterval(86_400))
        try await one.tokens.signIn(with: one.backend.issue())
        time.setWallClock(now)
        try await other.tokens.signIn(with: other.backend.issue())
        await other.tokens.signOut()
        time.setWallClock(now.addingTimeInterval(1))
        let third = App(store: disk.open("third"), time: time)
        await third.tokens.signOut()
        broken.withLock { $0 = [] }
        await third.tokens.finishStoreWork(time)
        await one.tokens.finishStoreWork(time)
        #expect(one.tokens.state == .signedOut && other.tokens.state == .signedOut && disk.record == nil)
        #expect(await third.tokens.restore() == .signedOut)
    }

    @Test("a sign-in that was not written gives way to a later one, whatever the clocks say") func laterSignIn()
        async throws
    {
        let (time, broken) = (ManualTimeSource(), Locked(false))
        let disk = SimulatedDisk(time: time, breaking: "one", when: broken)
        let (one, other) = (App(store: disk.open("one"), time: time), App(store: disk.open("other"), time: time))
        await one.tokens.restore()
        broken.withLock { $0 = true }
        let now = time.wallClock
        time.setWallClock(now.addingTimeInterval(86_400))
        try await one.tokens.signIn(with: one.backend.issue())
        time.setWallClock(now)
        let later = try await other.tokens.signIn(with: other.backend.issue())
        broken.withLock { $0 = false }
        await one.tokens.finishStoreWork(time)
        #expect(one.tokens.state == .signedIn(later) && other.tokens.state == .signedIn(later))
    }

    @Test("a sign-out that has read nothing ends a session whose sign-in had a fast clock") func unreadFuture()
        async throws
    {
        let (time, broken) = (ManualTimeSource(), Locked(false))
        let disk = SimulatedDisk(time: time, reads: "one", breakWhen: broken)
        let (one, other) = (App(store: disk.open("one"), time: time), App(store: disk.open("other"), time: time))
        let now = time.wallClock
        time.setWallClock(now.addingTimeInterval(86_400))
        try await other.tokens.signIn(with: other.backend.issue())
        time.setWallClock(now)
        broken.withLock { $0 = true }
        await one.tokens.signOut()
        broken.withLock { $0 = false }
        #expect(disk.record == nil)
        #expect(await App(store: disk.open("later"), time: time).tokens.restore() == .signedOut)
    }

    @Test("so does one whose first attempts fail, even in the same instant", arguments: [0, 86_400])
    func unreadAndUnwritten(ahead: TimeInterval) async throws {
        let (time, broken) = (ManualTimeSource(), Locked(false))
        let disk = SimulatedDisk(time: time, breaking: "one", when: broken)
        let (one, other) = (App(store: disk.open("one"), time: time), App(store: disk.open("other"), time: time))
        let now = time.wallClock
        time.setWallClock(now.addingTimeInterval(ahead))
        try await other.tokens.signIn(with: other.backend.issue())
        time.setWallClock(now)
        broken.withLock { $0 = true }
        await one.tokens.signOut()
        broken.withLock { $0 = false }
        await one.tokens.finishStoreWork(time)
        #expect(one.tokens.state == .signedOut && disk.record == nil)
        #expect(await App(store: disk.open("later"), time: time).tokens.restore() == .signedOut)
    }

    @Test("if the store cannot be read, the clock decides, and an event says so", arguments: [false, true])
    func clockDecides(signsOut: Bool) async throws {
        let store = FailingTokenStore()
        store.fail(.read, times: nil)
        store.fail(.write, times: nil)
        let app = App(store: store)
        let events = app.tokens.events
        if signsOut { await app.tokens.signOut() } else { try await app.tokens.signIn(with: app.backend.issue()) }
        #expect(await events.first { $0 == .orderedByClock } != nil)
    }

    @Test("two sign-ins in a row that cannot be written are ordered by the clock, and an event says so")
    func clockDecidesAfterUnwritten() async throws {
        let store = FailingTokenStore()
        let app = App(store: store)
        #expect(await app.tokens.restore() == .signedOut)
        let events = app.tokens.events
        store.fail(.write, times: nil)
        try await app.tokens.signIn(with: app.backend.issue())
        try await app.tokens.signIn(with: app.backend.issue())
        await app.tokens.signOut()
        let seen = await events.prefix { if case .signedOut = $0 { false } else { true } }
            .reduce(into: []) { $0.append($1) }
        #expect(seen.count { $0 == .orderedByClock } == 1)
    }

    @Test("C86: while a sign-in is being saved, no call goes out as another user than the one that is shown")
    func slowSignIn() async throws {
        let (store, gate) = (FailingTokenStore(), Gate())
        let app = try await App.signedIn(store: store)
        guard case .signedIn(let ada) = app.tokens.state else { return }
        store.hold(.write, at: gate)
        let change = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await gate.waitForArrivals()
        #expect(app.tokens.state == .signedIn(ada))
        guard case .sessionChanged = await app.call().error else {
            Issue.record("a call made while Ada was shown did not fail with sessionChanged")
            return gate.open()
        }
        #expect(app.backend.calls(to: "/me") == 0)
        gate.open()
        let bob = try await change.value
        #expect(app.tokens.state == .signedIn(bob))
        #expect(await app.call().isSuccess)
    }

    @Test(
        "C86: while a sign-in is being saved, a call that the app makes without a user does not go out as that user",
        arguments: [false, true], [AuthenticationRequirement.ifSignedIn, .required])
    func slowSignInWithoutUser(isExpired: Bool, authentication: AuthenticationRequirement) async throws {
        let (store, gate) = (FailingTokenStore(), Gate())
        let app = try await App.signedIn(store: store)
        if isExpired {
            app.backend.revokeSession()
            await #expect(throws: SessionError.self) { try await app.tokens.refresh() }
        } else {
            await app.tokens.signOut()
        }
        let shown = app.tokens.state
        store.hold(.write, at: gate)
        let signIn = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await gate.waitForArrivals()
        #expect(app.tokens.state == shown)
        let call = Task { try? await app.client.text(Visit("/public", .post, authentication)) }
        // Without the check of the owner, the call would wait for the sign-in and go out as the new user.
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        let session = try await signIn.value
        _ = await call.value
        #expect(app.tokens.state == .signedIn(session))
        #expect(app.transport.requests(to: "/public").allSatisfy { $0.bearer == nil })
    }

    @Test("C86: a call that requires a session waits for a sign-in that is being saved, instead of an automatic one")
    func slowSignInAtTheGate() async throws {
        let (store, gate, automatic) = (FailingTokenStore(), Gate(), Locked(0))
        let app = App(store: store) { config in
            config.automaticSignIn = { _ in automatic.withLock { $0 += 1 } }
        }
        await app.tokens.restore()
        store.hold(.write, at: gate)
        let signIn = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await gate.waitForArrivals()
        let call = Task { await app.call() }
        while app.client.gate?.waiting != 1 { await Task.yield() }
        gate.open()
        _ = try await signIn.value
        #expect(await call.value.isSuccess)
        #expect(automatic.withLock { $0 } == 0)
    }

    @Test("C92: a rejection caused by another process's sign-out is reported as the sign-out, not as an expiry")
    func revokedDuringRefresh() async throws {
        let (time, broken, gate) = (ManualTimeSource(), Locked(false), Gate())
        let disk = SimulatedDisk(time: time, reads: "one", breakWhen: broken)
        let backend = SimulatedBackend()
        let one = App(backend, store: disk.open("one"), time: time)
        let other = App(backend, store: disk.open("other"), time: time)
        try await one.tokens.signIn(with: backend.issue())
        await other.tokens.restore()
        backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let refresh = Task { try await one.tokens.refresh() }
        await gate.waitForArrivals()
        // The first process does not learn of the sign-out in time.
        broken.withLock { $0 = true }
        await other.tokens.signOut()
        backend.revokeSession()
        gate.open()
        await #expect(throws: SessionError.self) { try await refresh.value }
        #expect(one.tokens.state == .signedOut && other.tokens.state == .signedOut)
    }

    @Test("an expiry that one process has found is the expiry of all, even after a restart") func sharedExpiry()
        async throws
    {
        let time = ManualTimeSource()
        let disk = SimulatedDisk(time: time)
        let backend = SimulatedBackend()
        let one = App(backend, store: disk.open("one"), time: time)
        let other = App(backend, store: disk.open("other"), time: time)
        try await one.tokens.signIn(with: backend.issue())
        await other.tokens.restore()
        backend.revokeSession()
        await #expect(throws: SessionError.self) { try await one.tokens.refresh() }
        let reason = ExpiryReason.refreshTokenRejected(code: "invalid_grant")
        #expect(one.tokens.state == .expired(reason))
        for await state in other.tokens.states where state == .expired(reason) { break }
        #expect(await App(backend, store: disk.open("later"), time: time).tokens.restore() == .expired(reason))
    }

    @Test("a sign-out after an expiry reaches the other processes, although no record changes")
    func signOutAfterExpiry()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let (path, backend) = (folder.path + "/session", SimulatedBackend())
            let one = App(backend, store: FileTokenStore(path: path))
            let other = App(backend, store: FileTokenStore(path: path))
            try await one.tokens.signIn(with: backend.issue())
            await other.tokens.restore()
            backend.revokeSession()
            await #expect(throws: SessionError.self) { try await one.tokens.refresh() }
            for await state in other.tokens.states { if case .expired = state { break } }
            await one.tokens.signOut()
            for await state in other.tokens.states where state == .signedOut { break }
        }
    }

    @Test("a sign-out whose process is killed before it deletes the record reaches the other processes")
    func killedAfterMark() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session"
            let app = App(store: FileTokenStore(path: path))
            try await app.tokens.signIn(with: app.backend.issue())
            guard case .found(let record) = await FileTokenStore(path: path).read() else {
                Issue.record("there is no record")
                return
            }
            let mark = EndMark(.end(ofGeneration: record.generation))
            _ = try PrivateFile(path: path + ".ended").replace(with: try mark.encoded(), if: { true })
            for await state in app.tokens.states where state == .signedOut { break }
        }
    }

    @Test("a sign-out in a cancelled task has ended the session when it returns", arguments: [true, false])
    func cancelledSignOut(isRead: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session"
            let first = App(store: FileTokenStore(path: path))
            try await first.tokens.signIn(with: first.backend.issue())
            let app = App(first.backend, store: FileTokenStore(path: path))
            if isRead { await app.tokens.restore() }
            let signOut = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await app.tokens.signOut()
                // The process exits.
                return try PrivateFile(path: path).read()
            }
            #expect(try await signOut.value == nil)
            #expect(await App(first.backend, store: FileTokenStore(path: path)).tokens.restore() == .signedOut)
        }
    }

    // A key whose mode has become wrong fails as `unsafePermissions`, a missing one as `unreachable`.
    @Test(
        "C101: after a sign-in whose record could not be written, the earlier user is not signed in again",
        arguments: [StorageError.Kind.unreachable, .unsafePermissions])
    func refusedWrite(kind: StorageError.Kind) async throws {
        try await TemporaryFolder.with { folder in
            let (coding, path) = (LosableCoding(kind: kind), folder.path + "/session")
            let ada = App(store: FileTokenStore(path: path, coding: coding))
            try await ada.tokens.signIn(with: ada.backend.issue())
            coding.isLost.withLock { $0 = true }
            let later = ManualTimeSource(wallClock: ada.time.wallClock.addingTimeInterval(1))
            let app = App(store: FileTokenStore(path: path, coding: coding), time: later)
            await app.tokens.restore()
            let bob = try await app.tokens.signIn(with: app.backend.issue())
            #expect(!bob.isSaved)
            coding.isLost.withLock { $0 = false }
            let restarted = App(store: FileTokenStore(path: path, coding: coding))
            #expect(await restarted.tokens.restore() == .signedOut)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(
        "C76, C101: another program's file in the record's place stays, and the earlier user stays signed out",
        arguments: [0o600, 0o644], [1 << 10, 2 << 20])
    func foreignFile(mode: Int, size: Int) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/session"
            let ada = App(store: FileTokenStore(path: path))
            try await ada.tokens.signIn(with: ada.backend.issue())
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            let film = Data(repeating: 0x47, count: size)
            try film.write(to: URL(filePath: path))
            chmod(path, mode_t(mode))
            let later = ManualTimeSource(wallClock: ada.time.wallClock.addingTimeInterval(1))
            let app = App(store: FileTokenStore(path: path), time: later)
            await app.tokens.restore()
            let bob = try await app.tokens.signIn(with: app.backend.issue())
            #expect(!bob.isSaved)
            #expect(FileManager.default.contents(atPath: path) == film)
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
            #expect(await App(store: FileTokenStore(path: path)).tokens.restore() == .signedOut)
        }
    }

    @Test("a mark needs no folder, and a lower one does not replace it, even if the record cannot be read")
    func marksOfFiles() async throws {
        try await TemporaryFolder.with { folder in
            let (coding, path) = (LosableCoding(), folder.path + "/missing/session")
            let store = FileTokenStore(path: path, coding: coding)
            let (low, high) = (EndMark(.end(ofGeneration: 3)), EndMark(.end(ofGeneration: 7)))
            _ = try await store.update { _ in .mark(high) }
            #expect(await store.read() == .ended(high))
            let record = StoredSession(id: SessionID(), generation: 9, tokens: .fresh())
            try await store.write(record)
            coding.isLost.withLock { $0 = true }
            _ = try await store.update { _ in .mark(low) }
            coding.isLost.withLock { $0 = false }
            try await store.delete()
            #expect(await store.read() == .ended(high))
        }
    }

    @Test("C92: a rejected token that cannot be refreshed is another process's sign-out, if that came first")
    func revokedWithoutRefreshToken() async throws {
        let (time, broken) = (ManualTimeSource(), Locked(false))
        let disk = SimulatedDisk(time: time, reads: "one", breakWhen: broken)
        let backend = SimulatedBackend()
        let one = App(backend, store: disk.open("one"), time: time)
        let other = App(backend, store: disk.open("other"), time: time)
        try await one.tokens.signIn(with: Tokens(accessToken: backend.issue().accessToken, refreshToken: nil))
        await other.tokens.restore()
        broken.withLock { $0 = true }
        await other.tokens.signOut()
        backend.invalidateAccessTokens()
        guard case .sessionChanged = await one.call().error else {
            Issue.record("\(one.tokens.state)")
            return
        }
        #expect(one.tokens.state == .signedOut && other.tokens.state == .signedOut)
    }

    @Test("a rejected token that cannot be refreshed ends the session for all processes")
    func expiredWithoutRefreshToken() async throws {
        let time = ManualTimeSource()
        let (disk, backend) = (SimulatedDisk(time: time), SimulatedBackend())
        let one = App(backend, store: disk.open("one"), time: time)
        try await one.tokens.signIn(with: Tokens(accessToken: backend.issue().accessToken, refreshToken: nil))
        backend.invalidateAccessTokens()
        guard case .sessionExpired = await one.call().error else {
            Issue.record("\(one.tokens.state)")
            return
        }
        #expect(one.tokens.state == .expired(.noRefreshToken))
        let later = App(backend, store: disk.open("later"), time: time)
        #expect(await later.tokens.restore() == .expired(.noRefreshToken))
    }

    @Test("an expiry gives way to the sign-out of a later session, even if this process has not seen that session")
    func expiryThenSignOut() async throws {
        let (time, broken) = (ManualTimeSource(), Locked(false))
        let disk = SimulatedDisk(time: time, reads: "one", breakWhen: broken)
        let backend = SimulatedBackend()
        let one = App(backend, store: disk.open("one"), time: time)
        let other = App(backend, store: disk.open("other"), time: time)
        let ada = try await one.tokens.signIn(with: backend.issue())
        await other.tokens.restore()
        let departures = Locked<[Set<SessionID>]>([])
        let cancel = one.tokens.onDeparture { ended in departures.withLock { $0.append(ended) } }
        defer { cancel() }
        backend.revokeSession()
        await #expect(throws: SessionError.self) { try await one.tokens.refresh() }
        let expired = one.tokens.state
        #expect(expired == .expired(.refreshTokenRejected(code: "invalid_grant")))
        for await state in other.tokens.states where state == expired { break }
        let events = one.tokens.events
        broken.withLock { $0 = true }
        try await other.tokens.signIn(with: backend.issue())
        await other.tokens.signOut()
        broken.withLock { $0 = false }
        await one.tokens.perform(.read)
        try #require(one.tokens.state == .signedOut && other.tokens.state == .signedOut)
        #expect(await events.first { $0 == .signedOutElsewhere(ada.id) } != nil)
        // What the user had begun goes with it.
        #expect(departures.withLock(\.self) == [[ada.id]])
    }

    @Test("the cause of an earlier session's expiry is not that of a later one's sign-out") func causeOfAnEarlierEnd() {
        let record = StoredSession(id: SessionID(), generation: 5, tokens: .fresh())
        var machine = SessionStateMachine.restored(record, sharesStore: true)
        let mark = EndMark(.end(ofGeneration: 3), expiry: .noRefreshToken)
        machine.answer(.read, .ended(mark))
        #expect(machine.visibleState(at: .zero) == .signedOut)
    }

    @Test(
        "an expiry that another process has found with an older token is the session's, and no sign-out",
        arguments: [true, false])
    func causeOfAnOlderRotation(isStoring: Bool) throws {
        let record = StoredSession(id: SessionID(), generation: 5, tokens: .fresh())
        var machine = SessionStateMachine.restored(record, sharesStore: true)
        let epoch = machine.epoch
        _ = machine.refreshForced(by: 9, at: .zero)
        let taken = machine.takeRefresh()
        let job = try #require(taken)
        #expect(machine.answer(preparing: job, .found(record)) == .send)
        _ = machine.refreshFinished(job, .success(.fresh(1), nil, estimatedExpiry: nil), at: .zero, jitter: 0)
        let mark = StoreReading.ended(EndMark(record.position, expiry: .rotationLost))
        if isStoring {
            machine.answer(.write, mark)
        } else {
            let failure = StorageError(.unreachable, "the disk is full")
            machine.answer(.write, .unavailable(failure), failure: failure)
            machine.answer(.read, mark)
        }
        #expect(machine.visibleState(at: .zero) == .expired(.rotationLost))
        #expect(machine.epoch == epoch)
    }

    @Test("the tokens of an earlier session are revoked only after its record has gone") func revokedAfterItsRecord()
        async throws
    {
        let (store, gate) = (FailingTokenStore(), Gate())
        let app = try await App.signedIn(store: store)
        store.fail(.write, times: nil)
        store.hold(.delete, at: gate)
        let signIn = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await gate.waitForArrivals()
        for _ in 0..<100 { await Task.yield() }
        #expect(app.backend.revoked.isEmpty)
        var events = app.tokens.events.makeAsyncIterator()
        gate.open()
        while let event = await events.next() {
            if event == .revoked { break }
        }
        #expect(app.backend.revoked.contains { $0.contains("refresh-1") })
        #expect(try await !signIn.value.isSaved)
    }

    @Test("restoring while another user's sign-in is being saved waits for it") func restoreDuringSignIn() async throws
    {
        let (store, gate) = (FailingTokenStore(), Gate())
        let app = try await App.signedIn(store: store)
        store.hold(.write, at: gate)
        let change = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await gate.waitForArrivals()
        let before = app.tokens.inspect { $0.machine.lastID }
        let restore = Task { await app.tokens.restore() }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(app.tokens.inspect { $0.machine.lastID } - before < 5)
        gate.open()
        let bob = try await change.value
        #expect(await restore.value == .signedIn(bob))
    }

    @Test("a sign-in that begins while another one is being saved wins") func laterClientSignIn() async throws {
        let (store, gate) = (FailingTokenStore(), Gate())
        let app = try await App.signedIn(store: store)
        store.hold(.write, at: gate)
        let bob = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await gate.waitForArrivals()
        app.backend.beforeCall { _ in .json(#"{"accessToken":"carol","refreshToken":"carol-refresh"}"#) }
        let carol = Task { try await app.client.signIn(Get("/login", .none), as: NoContent.self) }
        await #expect(throws: SessionError.sessionChanged) { try await bob.value }
        gate.open()
        _ = try await carol.value
        #expect(app.tokens.currentTokens?.accessToken == "carol")
    }

    @Test("a sign-in whose task is cancelled is in force and returns its session") func cancelledSignIn() async throws {
        let (store, gate) = (FailingTokenStore(), Gate())
        store.hold(.write, at: gate)
        let app = App(store: store)
        await app.tokens.restore()
        let signIn = Task { try await app.tokens.signIn(with: app.backend.issue()) }
        await gate.waitForArrivals()
        signIn.cancel()
        gate.open()
        let session = try await signIn.value
        #expect(app.tokens.state == .signedIn(session))
    }
}

extension SimulatedDisk {
    /// A disk that one process cannot reach while a flag is set.
    fileprivate convenience init(time: ManualTimeSource, breaking process: String, when isBroken: Locked<Bool>) {
        self.init(time: time) { name, _ in
            let isBroken = name == process && isBroken.withLock { $0 }
            return .init(fault: isBroken ? .unreachable(StorageError(.unreachable, "broken")) : nil)
        }
    }

    /// A disk that one process cannot read, and can change, while a flag is set.
    fileprivate convenience init(time: ManualTimeSource, reads process: String, breakWhen isBroken: Locked<Bool>) {
        self.init(time: time) { name, operation in
            let isBroken = name == process && operation == .read && isBroken.withLock { $0 }
            return .init(fault: isBroken ? .unreachable(StorageError(.unreachable, "broken")) : nil)
        }
    }
}

extension TokenManager {
    /// Lets the retries of the store run until nothing waits to be written or deleted.
    fileprivate func finishStoreWork(_ time: ManualTimeSource) async {
        while inspect({ $0.machine.needs(.write) || $0.machine.needs(.end) }) {
            if !time.advanceToNextSleeper() { await Task.yield() }
        }
    }
}

/// A coding whose key can be lost.
extension EndingConformanceTests {
    @Test("C101: a sign-in below the mark that cannot be written leaves the mark as it is") func lowUnwritten()
        async throws
    {
        try await TemporaryFolder.with { folder in
            let coding = LosableCoding()
            let store = FileTokenStore(path: folder.path + "/session", coding: coding)
            let record = StoredSession(id: SessionID(), generation: 7, tokens: .fresh(1))
            let mark = EndMark(.end(ofGeneration: 9))
            try await store.write(record)
            coding.isLost.withLock { $0 = true }
            try await store.update { _ in .mark(mark) }
            let later = StoredSession(id: SessionID(), generation: 3, tokens: .fresh(2))
            await #expect(throws: StorageError.self) { try await store.write(later) }
            coding.isLost.withLock { $0 = false }
            #expect(await store.read() == .ended(mark))
        }
    }
}

private struct LosableCoding: FileCoding {
    let isLost = Locked(false)
    var kind = StorageError.Kind.unreachable
    var lacksSealingKey: Bool { false }

    func seal(_ bytes: Data, as name: String) throws(StorageError) -> Data {
        try check()
        return bytes
    }

    func open(_ bytes: Data, as name: String, at path: String) throws(StorageError) -> Data {
        try check()
        return bytes
    }

    private func check() throws(StorageError) {
        if isLost.withLock({ $0 }) { throw StorageError(kind, "the key cannot be used") }
    }
}
