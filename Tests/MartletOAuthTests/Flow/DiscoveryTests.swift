#if canImport(CryptoKit) || Encryption
    import Foundation
    import Martlet
    import MartletTesting
    import Testing

    @testable import MartletOAuth

    @Suite("discovery", .timeLimit(.minutes(10))) struct DiscoveryTests {
        @Test(
            "the metadata has two URLs, with the issuer's path before or after the well-known part",
            arguments: [
                (
                    "https://id.example.com",
                    "https://id.example.com/.well-known/openid-configuration",
                    "https://id.example.com/.well-known/oauth-authorization-server"
                ),
                (
                    "https://id.example.com/realms/one/",
                    "https://id.example.com/realms/one/.well-known/openid-configuration",
                    "https://id.example.com/.well-known/oauth-authorization-server/realms/one"
                ),
                (
                    "http://127.0.0.1:8080/a",
                    "http://127.0.0.1:8080/a/.well-known/openid-configuration",
                    "http://127.0.0.1:8080/.well-known/oauth-authorization-server/a"
                ),
            ])
        func places(_ issuer: String, _ first: String, _ second: String) {
            #expect(Discovery.places(of: issuer) == [first, second])
        }

        private func discovery(
            of issuer: String, _ handler: @escaping StubTransport.Handler
        ) -> (discovery: Discovery, transport: StubTransport) {
            let transport = StubTransport(handler)
            return (Discovery(of: issuer, over: ServerLink(transport: transport, time: ManualTimeSource())), transport)
        }

        private func metadata(_ issuer: String) -> StubTransport.Response {
            .json(Script(issuer: issuer).metadata.text)
        }

        @Test(
            "an OAuth server without OpenID is found at the second URL",
            arguments: [.status(404), .status(302, headers: [.location: "/login"])] as [StubTransport.Response])
        func secondPlace(first: StubTransport.Response) async throws {
            let issuer = "https://id.example.com/one"
            let (discovery, transport) = discovery(of: issuer) { request in
                request.path.hasPrefix("/.well-known/oauth-authorization-server") ? metadata(issuer) : first
            }
            #expect(try await discovery.metadata().tokenEndpoint == issuer + "/token")
            #expect(
                transport.requests.map(\.path) == [
                    "/one/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/one",
                ])
            #expect(
                transport.requests.allSatisfy {
                    $0.headers[.authorization] == nil && $0.headers[.accept] == "application/json"
                })
        }

        @Test("a revocation endpoint that only the second URL names is found") func revocationEndpoint() async throws {
            let issuer = "https://id.example.com/one"
            var openID = Script(issuer: issuer).metadata
            openID["revocation_endpoint"] = nil
            let first = StubTransport.Response.json(openID.text)
            let (discovery, transport) = discovery(of: issuer) { request in
                request.path.hasPrefix("/one/") ? first : metadata(issuer)
            }
            #expect(try await discovery.metadata().revocationEndpoint == nil)
            // Only a revocation needs the second place.
            #expect(transport.requests.count == 1)
            #expect(try await discovery.revocationEndpoint() == issuer + "/revoke")
            #expect(transport.requests.count == 2)
        }

        @Test(
            "a second URL that has no metadata or describes another server adds nothing",
            arguments: [
                StubTransport.Response.status(404), .status(302, headers: [.location: "/login"]),
                .json(Script(issuer: "https://other.example.com").metadata.text),
            ])
        func uselessSecondPlace(_ second: StubTransport.Response) async throws {
            let issuer = "https://id.example.com"
            var openID = Script(issuer: issuer).metadata
            openID["revocation_endpoint"] = nil
            let first = StubTransport.Response.json(openID.text)
            let (discovery, _) = discovery(of: issuer) { request in
                request.path == "/.well-known/openid-configuration" ? first : second
            }
            #expect(try await discovery.revocationEndpoint() == nil)
            #expect(try await discovery.metadata().tokenEndpoint == issuer + "/token")
        }

        @Test(
            "a revocation fails, so that it is tried again, if the second URL cannot respond",
            arguments: [408, 429, 503])
        func brokenSecondPlace(_ status: Int) async throws {
            let issuer = "https://id.example.com"
            var openID = Script(issuer: issuer).metadata
            openID["revocation_endpoint"] = nil
            let first = StubTransport.Response.json(openID.text)
            let (discovery, _) = discovery(of: issuer) { request in
                request.path == "/.well-known/openid-configuration" ? first : .status(status)
            }
            let error = await #expect(throws: OAuthError.self) { try await discovery.revocationEndpoint() }
            #expect(error?.kind == .discovery)
        }

        @Test("a page at the first URL does not hide the metadata at the second one") func pageInPlaceOfMetadata()
            async throws
        {
            let issuer = "https://id.example.com"
            let (discovery, _) = discovery(of: issuer) { request in
                request.path == "/.well-known/openid-configuration"
                    ? StubTransport.Response(200, body: Data("\n<!doctype html>".utf8)) : metadata(issuer)
            }
            #expect(try await discovery.metadata().tokenEndpoint == issuer + "/token")
        }

        @Test("after a server error, the second URL is not tried") func failure() async {
            let (discovery, transport) = discovery(of: "https://id.example.com") { _ in .status(503) }
            let error = await #expect(throws: OAuthError.self) { try await discovery.metadata() }
            #expect(error?.kind == .discovery)
            #expect(error?.errorDescription == UserText.serverTrouble.text)
            #expect(transport.requests.count == 1)
        }

        @Test("all callers share one fetch, and a failure is not kept") func singleFlight() async throws {
            let gate = Gate()
            let issuer = "https://id.example.com"
            let script = Locked(StubTransport.Response.status(503))
            let (discovery, transport) = discovery(of: issuer) { _ in
                await gate.pass()
                return script.withLock { $0 }
            }
            let callers = Task {
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<100 { group.addTask { (try? await discovery.metadata()) != nil } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
            await gate.waitForArrivals()
            gate.open()
            #expect(await callers.value == Array(repeating: false, count: 100))
            script.withLock { $0 = metadata(issuer) }
            let before = transport.requests.count
            _ = try await discovery.metadata()
            _ = try await discovery.metadata()
            #expect(transport.requests.count == before + 1)
        }

        @Test(
            "an issuer that is not an https URL is not contacted",
            arguments: [
                "http://id.example.com", "id.example.com", "https://id.example.com?x=1", "https://id.example.com#x", "",
                "https://user@id.example.com", "ftp://id.example.com",
            ])
        func badIssuer(_ issuer: String) async {
            let (discovery, transport) = discovery(of: issuer) { _ in .status(200) }
            let error = await #expect(throws: OAuthError.self) { try await discovery.metadata() }
            #expect(error?.kind == .discovery)
            #expect(transport.requests.isEmpty)
        }

        @Test("a server on this machine needs no TLS, but its endpoints elsewhere do") func loopback() async throws {
            let issuer = "http://127.0.0.1:8080"
            let (good, _) = discovery(of: issuer) { _ in metadata(issuer) }
            #expect(try await good.metadata().tokenEndpoint == issuer + "/token")
            let (bad, _) = discovery(of: issuer) { _ in
                var script = Script(issuer: issuer)
                script.metadata["token_endpoint"] = quoted("http://id.example.com/token")
                return .json(script.metadata.text)
            }
            await #expect(throws: OAuthError.self) { try await bad.metadata() }
        }

        @Test("a server that does not respond is given up after a time") func timeout() async throws {
            let time = ManualTimeSource()
            let gate = Gate()
            let transport = StubTransport { _ in
                try await gate.passUnlessCancelled()
                return .status(200)
            }
            let discovery = Discovery(of: "https://id.example.com", over: ServerLink(transport: transport, time: time))
            let task = Task { try await discovery.metadata() }
            await gate.waitForArrivals()
            await time.waitForSleepers()
            time.advance(by: ServerLink.timeout)
            await #expect(throws: OAuthError.self) { try await task.value }
        }
    }

    @Suite("keys of a server", .timeLimit(.minutes(10))) struct KeyStoreTests {
        private func token(_ kid: String = "key-ES256") throws -> SignedToken {
            var test = TokenCase()
            test.header["kid"] = quoted(kid)
            return try SignedToken(try test.token())
        }

        @Test("keys are fetched once, again for an unknown key at most once a minute, and again after their lifetime")
        func fetches() async throws {
            let time = ManualTimeSource()
            let transport = StubTransport { _ in .json(keySet([TestKey.es256.jwk])) }
            let keys = KeyStore(over: ServerLink(transport: transport, time: time))
            let url = "https://id.example.com/keys"
            let (known, unknown) = (try token(), try token("unknown"))
            func ask(_ token: SignedToken) async -> OAuthError.Kind? {
                do throws(OAuthError) {
                    _ = try await keys.key(for: token, from: url)
                    return nil
                } catch {
                    return error.kind
                }
            }
            for _ in 0..<3 { #expect(await ask(known) == nil) }
            #expect(transport.requests.count == 1)
            for _ in 0..<3 { #expect(await ask(unknown) == .idToken(.key)) }
            #expect(transport.requests.count == 1, "the keys are younger than a minute")
            time.advance(by: .seconds(60))
            for _ in 0..<3 { #expect(await ask(unknown) == .idToken(.key)) }
            #expect(transport.requests.count == 2)
            #expect(await ask(known) == nil)
            #expect(transport.requests.count == 2)
            time.advance(by: KeyStore.lifetime)
            #expect(await ask(known) == nil)
            #expect(transport.requests.count == 3)
        }

        @Test("after a request for the keys that has failed, the known keys do not count as the newest")
        func knownKeys() async throws {
            let (time, fails) = (ManualTimeSource(), Locked(false))
            let transport = StubTransport { _ in
                fails.withLock { $0 } ? .status(503) : .json(keySet([TestKey.es256.jwk]))
            }
            let keys = KeyStore(over: ServerLink(transport: transport, time: time))
            let (known, unknown, url) = (try token(), try token("unknown"), "https://id.example.com/keys")
            _ = try await keys.key(for: known, from: url)
            time.advance(by: .seconds(61))
            fails.withLock { $0 = true }
            for _ in 0..<2 {
                let failure = await #expect(throws: OAuthError.self) { try await keys.key(for: unknown, from: url) }
                #expect(failure?.kind == .discovery)
            }
            #expect(transport.requests.count == 3)
        }

        @Test("a new key is found after a minute") func rotation() async throws {
            let time = ManualTimeSource()
            let set = Locked([TestKey.es384.jwk])
            let transport = StubTransport { _ in .json(keySet(set.withLock { $0 })) }
            let keys = KeyStore(over: ServerLink(transport: transport, time: time))
            let token = try token()
            await #expect(throws: OAuthError.self) {
                try await keys.key(for: token, from: "https://id.example.com/keys")
            }
            set.withLock { $0.append(TestKey.es256.jwk) }
            await #expect(throws: OAuthError.self) {
                try await keys.key(for: token, from: "https://id.example.com/keys")
            }
            time.advance(by: .seconds(60))
            #expect(try await keys.key(for: token, from: "https://id.example.com/keys").keyID == "key-ES256")
        }

        @Test("while the keys are fetched again, a token with the new key waits for them") func rotationForMany()
            async throws
        {
            let (time, gate, count) = (ManualTimeSource(), Gate(), Locked(0))
            let transport = StubTransport { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                guard number > 1 else { return .json(keySet([TestKey.es384.jwk])) }
                await gate.pass()
                return .json(keySet([TestKey.es256.jwk]))
            }
            let keys = KeyStore(over: ServerLink(transport: transport, time: time))
            let (token, url) = (try token(), "https://id.example.com/keys")
            await #expect(throws: OAuthError.self) { try await keys.key(for: token, from: url) }
            time.advance(by: .seconds(60))
            let first = Task { try await keys.key(for: token, from: url).keyID }
            await gate.waitForArrivals()
            let second = Task { try await keys.key(for: token, from: url).keyID }
            // The second one either joins the request or, if it starts later, finds the new keys.
            await Task.yield()
            gate.open()
            #expect(try await first.value == "key-ES256")
            #expect(try await second.value == "key-ES256")
            #expect(transport.requests.count == 2)
        }

        @Test("after a failed request, keys that are too old still verify nothing") func failedRequest() async throws {
            let (time, isDown) = (ManualTimeSource(), Locked(false))
            let transport = StubTransport { _ in
                isDown.withLock { $0 } ? .status(503) : .json(keySet([TestKey.es256.jwk]))
            }
            let keys = KeyStore(over: ServerLink(transport: transport, time: time))
            let (token, url) = (try token(), "https://id.example.com/keys")
            _ = try await keys.key(for: token, from: url)
            isDown.withLock { $0 = true }
            time.advance(by: KeyStore.lifetime)
            for requests in 2...4 {
                let error = await #expect(throws: OAuthError.self) { try await keys.key(for: token, from: url) }
                #expect(error?.kind == .discovery)
                #expect(transport.requests.count == requests)
                time.advance(by: .seconds(1))
            }
            isDown.withLock { $0 = false }
            #expect(try await keys.key(for: token, from: url).keyID == "key-ES256")
        }

        @Test("for many callers, the keys are fetched once") func singleFlight() async throws {
            let gate = Gate()
            let transport = StubTransport { _ in
                await gate.pass()
                return .json(keySet([TestKey.es256.jwk]))
            }
            let keys = KeyStore(over: ServerLink(transport: transport, time: ManualTimeSource()))
            let token = try token()
            let callers = Task {
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<100 {
                        group.addTask { (try? await keys.key(for: token, from: "https://id.example.com/keys")) != nil }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
            await gate.waitForArrivals()
            gate.open()
            #expect(await callers.value == Array(repeating: true, count: 100))
            #expect(transport.requests.count == 1)
        }
    }
#endif
