import Foundation
import MartletTesting
import Testing

@testable import Martlet

@Suite("The log observer", .timeLimit(.minutes(10))) struct LogObserverTests {
    /// Collects log lines.
    private final class Lines: Sendable {
        let all = Locked<[LogLine]>([])
        var text: [String] { all.withLock { $0.map(\.description) } }
        var levels: [LogObserver.Level] { all.withLock { $0.map(\.level) } }
        func observer(level: LogObserver.Level = .info) -> LogObserver {
            LogObserver(level: level) { line in self.all.withLock { $0.append(line) } }
        }
    }

    @Test("each attempt has one line with its reason, including a renewed token")
    func attempts() async throws {
        let lines = Lines()
        let app = try await App.signedIn { $0.observers = [lines.observer()] }
        app.backend.invalidateAccessTokens()
        #expect(await app.call("/me").isSuccess)
        #expect(
            lines.text == [
                "GET /me 401, 0 ms, 26 B",
                "GET /me 200, 0 ms, 29 B, attempt 2 after a 401, with a refreshed token",
            ])
        #expect(lines.levels == [.notice, .info])
    }

    @Test("lost connections, redirects and refusals are logged with secrets masked") func failures() async throws {
        let lines = Lines()
        let transport = StubTransport()
        transport.when(.get, "/feed").fail(with: .connectionLost("reset")).respond(.status(503))
            .respond(.json(#"{"items":[]}"#))
        transport.when(.post, "/feed").fail(with: .offline)
        transport.when(.get, "/old").respond(.status(302, headers: [.location: "/feed?access_token=hunter2"]))
        var config = NetworkConfig()
        config.retry = RetryPolicy(firstDelay: .zero)
        config.observers = [lines.observer()]
        config.time = ManualTimeSource()
        let client = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        try await client.send(Call<NoContent>.get("/feed", query: ["page": 2, "token": "hunter2"]))
        _ = await result { () async throws(NetworkError) in try await client.send(Call<NoContent>.post("/feed")) }
        try await client.send(Call<NoContent>.get("/old"))
        let feed = "GET /feed?page=2&token=<redacted>"
        #expect(
            lines.text == [
                "\(feed) failed after 0 ms: the connection was lost (reset). Try again.",
                "\(feed) 503, 0 ms, 0 B, attempt 2 after a lost connection",
                "\(feed) 200, 0 ms, 12 B, attempt 3 after a 503",
                "POST /feed failed after 0 ms: this device is offline. Try again when it is connected.",
                "GET /old 200, 0 ms, 12 B: via https://api.example.com/feed?access_token=<redacted>",
            ])
        #expect(lines.levels == [.notice, .error, .info, .notice, .info])
    }

    @Test("a line has the duration of the attempt and the delay before it") func times() {
        let lines = Lines()
        let observer = lines.observer()
        let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
        let id = UUID()
        func attempt(_ number: Int, at elapsed: Duration) -> ObservedCall {
            ObservedCall(
                id: id, request: request, attempt: number, stamp: nil, elapsed: elapsed, metrics: nil, body: nil)
        }
        let failed = CallDescription(method: "GET", url: "https://example.com/a", attempts: 1)
        observer.observe(.attemptStarted(attempt(1, at: .milliseconds(100))))
        observer.observe(
            .attemptFailed(attempt(1, at: .milliseconds(400)), .timedOut(failed, after: .milliseconds(300))))
        observer.observe(
            .retrying(
                attempt(1, at: .milliseconds(400)), after: .seconds(2),
                dueTo: .timedOut(failed, after: .milliseconds(300))))
        observer.observe(.attemptStarted(attempt(2, at: .seconds(3))))
        observer.observe(.attemptFailed(attempt(2, at: .seconds(4)), .cancelled(failed)))
        observer.observe(.finished(attempt(2, at: .seconds(4)), .failure(.cancelled(failed))))
        #expect(
            lines.text == [
                "GET /a failed after 300 ms: no complete response within 0.3 s. Try again, or raise the timeout.",
                "GET /a cancelled after 1 s, attempt 2 after a timeout and 2 s",
            ])
    }

    @Test("a call that was not sent, or was abandoned, is logged as such") func givenUp() async throws {
        let lines = Lines()
        let app = App { $0.observers = [lines.observer()] }
        _ = await app.call("/me")
        try await app.tokens.signIn(with: .fresh(9))
        app.backend.beforeRefresh { _ in .status(503) }
        _ = await app.call("/me")
        #expect(
            lines.text.first
                == "GET /me not sent, 0 ms: this call requires a session, and no user is signed in. Sign in first.")
        #expect(lines.text.dropFirst().first?.hasPrefix("GET /me 401, 0 ms") == true)
        let last = try #require(lines.text.last)
        #expect(last.hasPrefix("GET /me failed after 1 attempt, 0 ms: the access token could not be"))
        #expect(lines.levels == [.error, .notice, .error])
    }

    @Test("a call whose session has ended is logged with the reason, and with no token that a server quotes")
    func sessionExpired() async throws {
        let lines = Lines()
        let app = try await App.signedIn { $0.observers = [lines.observer()] }
        let rejection = #"{"message":"access-1 is no longer valid"}"#
        app.backend.beforeCall { _ in .json(rejection, status: 401) }
        app.backend.beforeRefresh { _ in
            .json(#"{"error":"invalid_grant","error_description":"refresh-1 is no longer valid"}"#, status: 401)
        }
        for _ in 1...2 {
            guard case .sessionExpired = await app.call("/me").error else {
                Issue.record("the call did not fail with the end of its session")
                return
            }
        }
        let reason = "the session has ended: the server rejected the refresh token (invalid_grant). Sign in again."
        #expect(
            lines.text == [
                "GET /me 401, 0 ms, \(rejection.utf8.count) B",
                "GET /me failed after 1 attempt, 0 ms: \(reason)",
                "GET /me not sent, 0 ms: \(reason)",
            ])
        #expect(lines.levels == [.notice, .error, .error])
        for line in lines.text { app.backend.expectNoToken(in: line) }
    }

    /// Answers every call itself.
    private struct NotFound: RequestInterceptor {
        func respond(to request: HTTPRequest, for context: inout RequestContext) async throws -> ServerResponse? {
            ServerResponse(head: HTTPResponse(status: .notFound), body: Data())
        }
    }

    @Test("a failure that an interceptor has answered leaves one line") func answered() async throws {
        let lines = Lines()
        let app = App {
            $0.observers = [lines.observer()]
            $0.interceptors = [NotFound()]
        }
        await #expect(throws: NetworkError.self) { try await app.client.data(for: Get("/x", .none)) }
        #expect(lines.text.count == 1 && lines.text.first?.hasPrefix("GET /x 404") == true, "\(lines.text)")
    }

    @Test("the followed session is logged, and its manager is not retained") func session() async throws {
        let lines = Lines()
        let log = lines.observer()
        var app: App? = App()
        let follower = try #require(app.map { log.follow($0.tokens) })
        if let app {
            try await app.tokens.signIn(with: app.backend.issue())
            app.backend.invalidateAccessTokens()
            #expect(await app.call().isSuccess)
            app.backend.revokeSession()
            _ = await result { () async throws(SessionError) in try await app.tokens.refresh() }
        }
        app = nil
        await follower.value
        let text = lines.text.map { $0.replacing(#/[0-9A-F]{8}/#, with: "ID") }
        for line in [
            "session ID/0 signed in",
            "session ID/0 needs a new access token, because the server rejected the old one",
            "session ID/1 has a new access token",
            "session ID/1 needs a new access token, because the app requested it",
        ] { #expect(text.contains(line), "\(text)") }
        // The server's code is not masked.
        #expect(text.last == "session ID ended: the server rejected the refresh token (invalid_grant)")
        #expect(lines.levels.last == .error)
    }

    @Test("lines below the minimum level are omitted") func levels() async throws {
        let lines = Lines()
        let app = try await App.signedIn { $0.observers = [lines.observer(level: .notice)] }
        _ = await app.call("/me")
        #expect(lines.text.isEmpty)
        app.backend.beforeCall { _ in .status(404) }
        _ = await app.call("/me")
        #expect(lines.text == ["GET /me 404, 0 ms, 0 B"])
    }

    @Test("a call that has failed leaves a line at the level of errors, whatever the reason")
    func errorsOnly() async throws {
        let lines = Lines()
        let transport = StubTransport()
        transport.when(.get, "/offline").fail(with: .offline)
        transport.when(.get, "/missing").respond(.status(404))
        transport.when(.get, "/broken").respond(.status(503))
        transport.when(.get, "/late").fail(with: .connectionLost("reset")).respond(.status(204))
        var config = NetworkConfig()
        config.retry = RetryPolicy(maximumAttempts: 2, firstDelay: .zero)
        config.observers = [lines.observer(level: .error)]
        config.time = ManualTimeSource()
        let client = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        for path: RequestPath in ["/offline", "/missing", "/late"] {
            _ = try? await client.data(for: Call<NoContent>.get(path))
        }
        #expect(
            lines.text == [
                "GET /offline failed after 1 attempt, 0 ms: "
                    + "this device is offline. Try again when it is connected.",
                "GET /missing failed after 1 attempt, 0 ms: the server responded with 404",
            ])
        // The line of the attempt has this level already.
        config.retry = .never
        let once = NetworkClient(baseURL: "https://api.example.com", config: config, transport: transport)
        _ = try? await once.data(for: Call<NoContent>.get("/broken"))
        #expect(lines.text.last == "GET /broken 503, 0 ms, 0 B")
    }

    @Test("a line has no line breaks and no control characters") func harmless() {
        let line = LogLine(.info, "GET", "/a\nb\u{1B}[2J", "200", note: "x\r\ny\u{202E}z\u{2028}ä👩‍🚀")
        #expect(line.description == "GET /a b\u{FFFD}[2J 200: x  y\u{FFFD}z ä👩‍🚀")
        #expect(LogLine(.info, "GET", "/", "200", note: "password=hunter2").note == "password=<redacted>")
    }

    @Test("an event of a session prints as its line of the log") func event() {
        let event = SessionEvent.revocationFailed("503, password=hunter2")
        #expect("\(event)" == "session tokens not revoked at the server: 503, password=<redacted>")
    }

    @Test("an event prints as the same line that the log has") func sessionLines() {
        let stamp = SessionStamp(session: SessionID(rawValue: "1A2B3C4D-5E6F"), rotation: 4)
        let lines: [(event: SessionEvent, level: LogObserver.Level, text: String)] = [
            (.restored(nil), .info, "session not found in the store"),
            (.restored(stamp), .info, "session 1A2B3C4D/4 restored"),
            (
                .refreshInterrupted(stamp), .debug,
                "session 1A2B3C4D/4 has a refresh without a result yet, of this or another process"
            ),
            (
                .refreshDiscarded(stamp), .debug,
                "session 1A2B3C4D/4 gave up a refresh, because the session or its tokens have changed"
            ),
        ]
        for (event, level, text) in lines {
            let line = LogLine(event)
            #expect(line.description == text && "\(event)" == text)
            #expect(line.level == level, "\(text)")
        }
    }

    @Test("of two processes that need a token at once, one refreshes, and the log of the other one does not say so")
    func twoProcesses() async throws {
        let (time, gate, backend) = (ManualTimeSource(), Gate(), SimulatedBackend())
        let disk = SimulatedDisk(time: time)
        let one = App(backend, store: disk.open("one"), time: time)
        let other = App(backend, store: disk.open("other"), time: time)
        try await one.tokens.signIn(with: backend.issue())
        await other.tokens.restore()
        let (log, otherLog) = (logLines(of: one), logLines(of: other))
        backend.invalidateAccessTokens()
        backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let call = Task { await one.call() }
        await gate.waitForArrivals()
        let otherCall = Task { await other.call() }
        let need = "session ID/0 needs a new access token, because the server rejected the old one"
        #expect(await lines(of: otherLog, until: "needs a new access token") == [need])
        gate.open()
        #expect(await call.value.isSuccess)
        #expect(await otherCall.value.isSuccess)
        let refreshed = await lines(of: log, until: "has a new access token")
        #expect(refreshed == [need, "session ID/1 has a new access token"])
        let adopted = await lines(of: otherLog, until: "adopted")
        #expect(adopted == ["session ID/1 adopted from another process"])
        #expect(backend.refreshCalls == 1 && backend.reuseDetected == 0)
    }

    @Test("a process that starts during another one's refresh logs that the refresh may be that of another process")
    func startDuringRefresh() async throws {
        let (time, gate, backend) = (ManualTimeSource(), Gate(), SimulatedBackend())
        let disk = SimulatedDisk(time: time)
        let one = App(backend, store: disk.open("one"), time: time)
        try await one.tokens.signIn(with: backend.issue())
        backend.beforeRefresh { _ in
            await gate.pass()
            return nil
        }
        let refresh = Task { try await one.tokens.refresh() }
        await gate.waitForArrivals()
        let other = App(backend, store: disk.open("other"), time: time)
        let log = logLines(of: other, level: .debug)
        await other.tokens.restore()
        gate.open()
        _ = try await refresh.value
        let logged = await lines(of: log, until: "adopted")
        #expect(
            logged == [
                "session ID/0 restored",
                "session ID/0 has a refresh without a result yet, of this or another process",
                "session ID/1 adopted from another process",
            ])
        #expect(backend.refreshCalls == 1 && other.tokens.state.isSignedIn)
    }

    /// The lines about an app's session, from now on.
    private func logLines(of app: App, level: LogObserver.Level = .info) -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        LogObserver(level: level) { line in continuation.yield(line.description) }.follow(app.tokens)
        return lines
    }

    /// The next lines up to the first one with a text, with `ID` in place of the session's ID.
    private func lines(of log: AsyncStream<String>, until text: String) async -> [String] {
        var lines: [String] = []
        for await line in log {
            lines.append(line.replacing(#/[0-9A-F]{8}/#, with: "ID"))
            if line.contains(text) { break }
        }
        return lines
    }

    @Test("personal data is kept apart from the rest of a line") func personal() {
        let call = LogLine(.info, "GET", "/users/ada", "200, 1 ms, 0 B", note: "via /ada")
        #expect(call.impersonalText == "GET 200, 1 ms, 0 B" && call.personalText == "/users/ada: via /ada")
        #expect(LogLine(.signedOut(nil)).personalText.isEmpty)
    }

    @Test("colors are optional") func colors() {
        let line = LogLine(.error, "GET", "/a", "500, 1 ms, 0 B", note: "why")
        #expect(line.colored == "GET /a \u{1B}[31m500, 1 ms, 0 B\u{1B}[0m\u{1B}[2m: why\u{1B}[0m")
        #expect(LogOutput.wantsColors(["NO_COLOR": "", "TERM": "xterm", "XPC_SERVICE_NAME": "0"]))
        let colourless: [[String: String]] = [
            [:], ["TERM": ""], ["TERM": "dumb"], ["NO_COLOR": "1", "TERM": "xterm"],
            ["__XCODE_BUILT_PRODUCTS_DIR_PATHS": "/Products", "TERM": "xterm-256color"],
            ["XPC_SERVICE_NAME": "application.com.apple.dt.Xcode.1", "TERM": "xterm-256color"],
        ]
        for environment in colourless { #expect(!LogOutput.wantsColors(environment), "\(environment)") }
        for showsColors in [true, false] {
            let written = Locked<[String]>([])
            let output = LogOutput(showsColors: showsColors) { text in written.withLock { $0.append(text) } }
            let observer: LogObserver = .console(to: output)
            observer.log(line)
            #expect(written.withLock { $0 } == [showsColors ? line.colored : line.description])
        }
    }

    @Test(
        "concurrent lines are written whole, and without colors if the output is no terminal",
        arguments: [false, true])
    func whole(isNonBlocking: Bool) async throws {
        // A pipe accepts long lines in parts, and lets other writers in while it is full.
        let pipe = Pipe()
        if isNonBlocking { _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFL, O_NONBLOCK) }
        let output = LogOutput(
            descriptor: pipe.fileHandleForWriting.fileDescriptor, environment: ["TERM": "xterm"])
        #expect(!output.showsColors)
        let long = String(repeating: "martlet ", count: 10_000)
        // Reading blocks its thread.
        async let read = withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: pipe.fileHandleForReading.readDataToEndOfFile())
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<50 { group.addTask { output.write("\(number) \(long)") } }
        }
        await LogOutput.flush()
        try pipe.fileHandleForWriting.close()
        let lines = await String(decoding: read, as: UTF8.self).split(separator: "\n")
        #expect(Set(lines.map(String.init)) == Set((0..<50).map { "\($0) \(long)" }))
    }

    @Test("output to a terminal is colored unless NO_COLOR is set") func terminal() throws {
        let terminal = open("/dev/ptmx", O_RDWR)
        try #require(terminal >= 0)
        defer { close(terminal) }
        #expect(LogOutput(descriptor: terminal, environment: ["TERM": "xterm"]).showsColors)
        #expect(!LogOutput(descriptor: terminal, environment: ["TERM": "xterm", "NO_COLOR": "1"]).showsColors)
    }

    @Test("durations and sizes are rounded for reading") func figures() {
        #expect(
            [0.0, 0.00044, 0.132, 0.9999, 1.25, 61].map { LogLine.text(of: .seconds($0)) }
                == ["0 ms", "0.4 ms", "132 ms", "999 ms", "1.2 s", "61 s"])
        #expect(
            [0, 999, 1000, 4100, 12_345_678, 5_000_000_000].map { LogLine.text(ofBytes: $0) }
                == ["0 B", "999 B", "1 kB", "4.1 kB", "12 MB", "5 GB"])
        #expect(LogLine.text(ofBytes: .max).hasSuffix("TB"))
    }
}

@Suite("An observed body", .timeLimit(.minutes(10))) struct ObservedBodyTests {
    @Test("no representation of a body shows a secret") func masked() throws {
        let bytes = Data(#"{"password":"hunter2","name":"ada"}"#.utf8)
        let body = ObservedBody(contentType: "application/json", length: 35, bytes: bytes)
        var dumped = ""
        dump(body, to: &dumped)
        let shown = ["\(body)", String(reflecting: body), dumped, try #require(body.text())].joined(separator: "\n")
        #expect(!shown.contains("hunter2") && !shown.contains("104"))
        #expect(body.text() == #"{"password":"<redacted>","name":"ada"}"#)
        #expect(body.text(limit: 34) == nil)
        #expect("\(body)" == "application/json, 35 bytes")
        #expect("\(ObservedBody(contentType: nil, length: nil, bytes: nil))" == "no type, of unknown length")
    }
}
