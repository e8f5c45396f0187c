#if canImport(CryptoKit) || Encryption
    import Foundation
    import Martlet
    import MartletStorage
    import MartletTestSupport
    import MartletTesting
    import Testing

    @testable import MartletOAuth

    @Suite("loopback listener", .timeLimit(.minutes(10)), .noBlockingCalls) struct LoopbackTests {
        /// Listens for a callback with the state `good`, and ends with the visitor's part.
        private func listen(
            _ visit: @escaping @Sendable (_ port: UInt16) async throws -> Void
        ) async throws -> (query: String, port: UInt16) {
            let listener = try await LoopbackListener.listen(on: 0)
            let expected = LoopbackRequest.Expectation(
                host: "127.0.0.1:\(listener.port)", path: "/callback", state: "good")
            let query = try await listener.callback(expected) { try await visit(listener.port) }
            return (query, listener.port)
        }

        private func get(_ target: String, _ port: UInt16, host: String? = nil) async -> String {
            await RawVisitor.request(
                "GET \(target) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\nAccept: */*\r\n\r\n", to: port)
        }

        @Test("the callback ends the wait, and its page has no script and is not cached") func callback() async throws {
            let page = Locked("")
            let (query, port) = try await listen { port in
                let text = await get("/callback?code=abc&state=good", port)
                page.withLock { $0 = text }
            }
            #expect(query == "code=abc&state=good")
            await expectClosed(port)
            let text = await eventually { page.withLock { $0 } }
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            for field in [
                "Cache-Control: no-store", "Referrer-Policy: no-referrer", "Connection: close", "X-Frame-Options: DENY",
                "X-Content-Type-Options: nosniff", "Content-Security-Policy: default-src 'none';",
            ] {
                #expect(text.contains(field))
            }
            #expect(text.contains("You can close this window"))
            #expect(!text.lowercased().contains("<script") && !text.contains("abc") && !text.contains("good"))
            let length = text.split(separator: "\r\n\r\n", maxSplits: 1).last.map(\.utf8.count) ?? 0
            #expect(text.contains("Content-Length: \(length)\r\n"))
        }

        @Test("other requests get an error and do not end the wait") func otherRequests() async throws {
            let statuses = Locked<[String]>([])
            let (query, _) = try await listen { port in
                let host = "127.0.0.1:\(port)"
                var found: [String] = []
                for text in [
                    "GET /callback?code=a&state=other HTTP/1.1\r\nHost: \(host)\r\n\r\n",
                    "GET /callback?code=a HTTP/1.1\r\nHost: \(host)\r\n\r\n",
                    "GET /callback HTTP/1.1\r\nHost: \(host)\r\n\r\n",
                    "GET /callback?state=good&state=good HTTP/1.1\r\nHost: \(host)\r\n\r\n",
                    "GET /callback?state=good&code=a HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n",
                    "GET /callback?state=good&code=a HTTP/1.1\r\nHost: evil.example.com\r\n\r\n",
                    "GET /callback?state=good&code=a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                    "GET /callback?state=good&code=a HTTP/1.1\r\nHost: \(host)\r\nHost: \(host)\r\n\r\n",
                    "GET /callback?state=good&code=a HTTP/1.1\r\n\r\n",
                    "GET http://\(host)/callback?state=good&code=a HTTP/1.1\r\nHost: \(host)\r\n\r\n",
                    "GET /callback/?state=good&code=a HTTP/1.1\r\nHost: \(host)\r\n\r\n",
                    "GET /favicon.ico HTTP/1.1\r\nHost: \(host)\r\n\r\n",
                    "POST /callback?state=good&code=a HTTP/1.1\r\nHost: \(host)\r\n\r\n",
                    "GET /callback?state=good&code=a HTTP/2\r\nHost: \(host)\r\n\r\n",
                    "GET /callback?state=good&code=a\r\nHost: \(host)\r\n\r\n",
                    "GET /callback?state=good&code=a HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 5\r\n\r\n",
                    "GET /callback?state=good&code=a HTTP/1.1\r\nHost: \(host)\r\nX: a\u{0}b\r\n\r\n",
                    "GET /callback?state=good&code=a HTTP/1.1\r\nHost : \(host)\r\n\r\n",
                    "\r\n\r\n",
                    "GET /callback?state=good&x=" + String(repeating: "a", count: 17_000) + " HTTP/1.1\r\n\r\n",
                ] {
                    let response = await RawVisitor.request(text, to: port)
                    found.append(String(response.dropFirst(9).prefix(3)))
                }
                statuses.withLock { $0 = found }
                _ = await get("/callback?state=good&code=last", port)
            }
            #expect(query == "state=good&code=last")
            let expected =
                ["400", "400", "400", "400", "400", "400", "400", "400", "400", "404", "404", "404", "405"]
                + ["400", "400", "400", "400", "400", "400", "431"]
            #expect(statuses.withLock { $0 } == expected)
        }

        @Test("idle and slow connections do not hold up others") func idleConnections() async throws {
            let kept = Locked<[RawVisitor]>([])
            let (query, _) = try await listen { port in
                for number in 0..<(LoopbackListener.maximumConnections * 2) {
                    guard let visitor = await RawVisitor.connect(to: port) else { continue }
                    await visitor.send(String("GET /callback".prefix(number % 14)))
                    kept.withLock { $0.append(visitor) }
                }
                _ = await get("/callback?state=good&code=a", port)
            }
            #expect(query == "state=good&code=a")
            #expect(kept.withLock { $0.count } == LoopbackListener.maximumConnections * 2)
        }

        @Test("a request that arrives in pieces is read") func pieces() async throws {
            let (query, _) = try await listen { port in
                guard let visitor = await RawVisitor.connect(to: port) else { return }
                for piece in ["GET /call", "back?state=", "good HTTP/1.1\r", "\nHost: 127.0.0.1:\(port)\r\n\r", "\n"] {
                    await visitor.send(piece)
                }
                _ = await visitor.response()
            }
            #expect(query == "state=good")
        }

        @Test("a cancelled task stops listening") func cancellation() async throws {
            let listener = try await LoopbackListener.listen(on: 0)
            let gate = Gate()
            let port = listener.port
            let task = Task {
                try await listener.callback(.init(host: "", path: "/", state: "good")) { await gate.pass() }
            }
            await gate.waitForArrivals()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            gate.open()
            await expectClosed(port)
        }

        @Test("a port that is taken is an error that names it") func takenPort() async throws {
            let first = try await LoopbackListener.listen(on: 0)
            let error = await #expect(throws: OAuthError.self) { try await LoopbackListener.listen(on: first.port) }
            #expect(error?.kind == .unsupported)
            #expect(error?.description.contains("\(first.port)") == true)
            first.close()
        }

        /// Waits until no server listens on a port. The thread of the listener closes it a moment later.
        private func expectClosed(_ port: UInt16) async {
            while await RawVisitor.connect(to: port) != nil { await Task.yield() }
        }

        private func eventually(_ text: @Sendable () -> String) async -> String {
            while text().isEmpty { await Task.yield() }
            return text()
        }
    }

    @Suite("sign-in over the loopback", .timeLimit(.minutes(10))) struct LoopbackSignInTests {
        private func signIn(
            _ world: World, limit: Duration = .seconds(600), hidesURL: Bool = false,
            opening open: @escaping @Sendable (URL) async throws -> Void
        ) async throws -> OAuthUser {
            try await world.server.signIn(
                to: world.manager(), scope: ["openid"],
                with: .loopback(limit: limit, time: world.time, hidesURL: hidesURL, opening: open))
        }

        @Test("a command signs in over a free port") func freePort() async throws {
            let world = World()
            world.change { $0.redirect = .loopback() }
            let user = try await signIn(world) { url in
                let callback = try await world.browse(url)
                #expect(callback.host == "127.0.0.1")
                let port = UInt16(callback.port ?? 0)
                // Browsers send some characters that a URL must not contain.
                let target = callback.path + "?" + (callback.query ?? "") + "&note=%2F|[1]"
                let wrong = await RawVisitor.request(
                    "GET \(callback.path)?code=x&state=y HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", to: port)
                #expect(wrong.hasPrefix("HTTP/1.1 400 "))
                let page = await RawVisitor.request(
                    "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", to: port)
                #expect(page.hasPrefix("HTTP/1.1 200 "))
            }
            #expect(user.subject == "ada")
            let redirect = try #require(world.parameters["redirect_uri"])
            #expect(redirect.hasPrefix("http://127.0.0.1:") && redirect.hasSuffix("/callback"))
        }

        @Test("before the browser opens, a path that it would not request as it is spelled is refused")
        func unusablePath() async throws {
            for path in ["/callback?tenant=7", "/callback#x", "/로그인", "/call back", "/a/../b", "/a/%2E%2e/b"] {
                let world = World()
                let server = OAuthServer(
                    issuer: world.issuer, client: OAuthClient(id: "app"), redirect: .loopback(path: path),
                    transport: world.transport, time: world.time)
                let error = await #expect(throws: OAuthError.self) {
                    try await server.signIn(
                        to: world.manager(), scope: ["openid"],
                        with: .loopback(limit: .seconds(600), time: world.time, hidesURL: false) { _ in
                            Issue.record("the browser opens")
                        })
                }
                #expect(error?.kind == .unsupported)
                #expect(error?.description.contains(path) == true)
            }
        }

        @Test("the system's browser opens a page of the listener, which redirects to the server once")
        func hiddenURL() async throws {
            let world = World()
            let user = try await signIn(world, hidesURL: true) { page in
                let (port, host) = (UInt16(page.port ?? 0), "127.0.0.1:\(page.port ?? 0)")
                #expect(page.host == "127.0.0.1" && page.query == nil)
                let request = "GET \(page.path) HTTP/1.1\r\nHost: \(host)\r\n\r\n"
                let first = await RawVisitor.request(request, to: port)
                #expect(first.hasPrefix("HTTP/1.1 303 ") && first.contains("Referrer-Policy: no-referrer\r\n"))
                let second = await RawVisitor.request(request, to: port)
                #expect(second.hasPrefix("HTTP/1.1 404 "))
                let location = first.split(separator: "\r\n").first { $0.hasPrefix("Location: ") }?.dropFirst(10)
                let callback = try await world.browse(try #require(URL(string: String(location ?? ""))))
                _ = await RawVisitor.request(
                    "GET /callback?\(callback.query ?? "") HTTP/1.1\r\nHost: \(host)\r\n\r\n", to: port)
            }
            #expect(user.subject == "ada")
        }

        @Test("a denial ends the sign-in, and its page is the same") func denial() async throws {
            let world = World()
            world.change { script in script.editCallback = { $0[0] = ("error", "access_denied") } }
            let error = await #expect(throws: OAuthError.self) {
                try await signIn(world) { url in
                    let callback = try await world.browse(url)
                    let port = UInt16(callback.port ?? 0)
                    let page = await RawVisitor.request(
                        "GET /callback?\(callback.query ?? "") HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", to: port)
                    #expect(page.hasPrefix("HTTP/1.1 200 "))
                }
            }
            #expect(error?.kind == .denied)
        }

        @Test("a browser that does not come back is given up after a time") func limit() async throws {
            let world = World()
            let gate = Gate()
            let task = Task { try await signIn(world, limit: .seconds(60)) { _ in await gate.pass() } }
            await gate.waitForArrivals()
            await world.time.waitForSleepers()
            world.time.advance(by: .seconds(60))
            let failure = await #expect(throws: OAuthError.self) { try await task.value }
            #expect(failure?.kind == .cancelled)
            gate.open()
        }

        #if os(Linux)
            @Test("without a screen or a program, the error names the device flow") func noBrowser() async throws {
                for browser in [
                    SystemBrowser(environment: ["PATH": "/usr/bin"]),
                    SystemBrowser(program: "/nonexistent/xdg-open", environment: ["DISPLAY": ":0"]),
                    SystemBrowser(program: "/bin/false", environment: ["DISPLAY": ":0"]),
                ] {
                    let world = World()
                    let error = await #expect(throws: OAuthError.self) {
                        try await signIn(world) { url in try await browser.open(url) }
                    }
                    #expect(error?.kind == .noBrowser)
                    #expect(error?.description.contains("device flow") == true)
                    #expect(error?.errorDescription == UserText.noBrowser.text)
                    #expect(world.requests(to: "/token").isEmpty)
                }
            }

            @Test("a program whose exit status the app has received itself counts as started") func reaped()
                async throws
            {
                let browser = SystemBrowser(program: "true", environment: ["PATH": "/usr/bin:/bin"])
                let status = await BlockingQueue.run {
                    guard let process = browser.start("x") else { return Int32(-2) }
                    _ = SystemBrowser.exitStatus(of: process)
                    return SystemBrowser.exitStatus(of: process)
                }
                #expect(status == 0)
            }

            @Test("the program inherits no blocked or ignored signals") func signals() async throws {
                signal(SIGPIPE, SIG_IGN)
                let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                defer { try? FileManager.default.removeItem(at: folder) }
                // The shell reads the script. Linux would refuse to execute a file that a child of another test,
                // between its fork and its exec, still has open for writing (ETXTBSY).
                let script = folder.path + "/script"
                try Data("grep -E '^Sig(Blk|Ign)' /proc/self/status > \"$0.output\"\n".utf8)
                    .write(to: URL(filePath: script))
                let browser = SystemBrowser(program: "sh", environment: ["PATH": "/usr/bin:/bin"])
                #expect(await BlockingQueue.run { browser.run(script) } == 0)
                let lines = try String(contentsOfFile: script + ".output", encoding: .utf8).split(separator: "\n")
                let masks = lines.compactMap { UInt64($0.split(separator: "\t").last ?? "", radix: 16) }
                #expect(masks.first == 0)
                #expect(masks.last.map { $0 & (1 << UInt64(SIGPIPE - 1)) } == 0)
            }

            @Test("the program gets the URL as one argument, and no shell reads it") func program() async throws {
                let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                // touch takes its argument as the name of a file.
                let browser = SystemBrowser(program: "touch", environment: ["PATH": "/usr/bin:/bin"])
                let name = folder.path + "/a;touch b&$(touch c)'`touch d`|\"*"
                #expect(await BlockingQueue.run { browser.run(name) } == 0)
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: folder.path) == [
                        String(name.dropFirst(folder.path.count + 1))
                    ])
                try FileManager.default.removeItem(at: folder)
            }
        #endif
    }
#endif
