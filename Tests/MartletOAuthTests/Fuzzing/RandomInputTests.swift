#if canImport(CryptoKit) || Encryption
    import Foundation
    import Martlet
    import MartletTesting
    import Testing

    @testable import MartletOAuth

    /// Random tokens, key sets, metadata, callbacks and requests to the listener. None of them may crash, and what is
    /// accepted must be good. Each input is made from a seed.
    ///
    /// `MARTLET_OAUTH_INPUTS` is the number of inputs of each kind, and `MARTLET_OAUTH_SEED` the first seed.
    @Suite("random input", .timeLimit(.minutes(60))) struct RandomInputTests {
        private static let environment = ProcessInfo.processInfo.environment
        private static let first = environment["MARTLET_OAUTH_SEED"].flatMap { UInt64($0) } ?? 1
        private static let count = environment["MARTLET_OAUTH_INPUTS"].flatMap { UInt64($0) } ?? 2000

        private static var seeds: Range<UInt64> { first..<(first + count) }

        @Test("random tokens crash nothing, and none is accepted that the rules refuse") func tokens() throws {
            let keys = try KeySet(Data(keySet([TestKey.edDSA.jwk, TestKey.es384.jwk]).utf8))
            var (accepted, signed) = (0, 0)
            for seed in Self.seeds {
                var dice = SeededGenerator(seed: seed)
                let isSigned = dice.isTrue(inPercent: 50)
                let token = try Self.token(&dice, signed: isSigned)
                signed += isSigned ? 1 : 0
                guard let parsed = try? SignedToken(token), let key = try? keys.key(for: parsed),
                    (try? TokenCase().rules.verify(parsed, with: key)) != nil
                else { continue }
                accepted += 1
                #expect(isSigned, "seed \(seed)")
                let claims = try? JSONDecoder().decode(JSONValue.self, from: parsed.payload)
                #expect(claims?["iss"] == .string("https://id.example.com"), "seed \(seed)")
                #expect(claims?["nonce"] == .string("n-1"), "seed \(seed)")
            }
            #expect(accepted > 0 && signed > Int(Self.count) / 3)
        }

        /// A token with damage in its header and its claims, or in its text if it is not signed afterwards.
        private static func token(_ dice: inout SeededGenerator, signed isSigned: Bool) throws -> String {
            var test = TokenCase(signedBy: .edDSA)
            if dice.isTrue(inPercent: 30) { test.header["kid"] = nil }
            if dice.isTrue(inPercent: 30) { test.claims.add("x", "[[],{\"y\":-0.0e-1},\"\\u00e9\\ud83d\\ude00\"]") }
            guard isSigned else {
                var text = Array(try test.token().utf8)
                repeat { damage(&text, with: tokenAlphabet, &dice) } while text == Array(try test.token().utf8)
                return String(decoding: text, as: UTF8.self)
            }
            var (header, claims) = (Array(test.header.text.utf8), Array(test.claims.text.utf8))
            if dice.isTrue(inPercent: 40) { damage(&header, with: jsonAlphabet, &dice) }
            if dice.isTrue(inPercent: 80) { damage(&claims, with: jsonAlphabet, &dice) }
            let text = Base64URL.encode(header) + "." + Base64URL.encode(claims)
            return text + "." + Base64URL.encode(try TestKey.edDSA.signature(of: text))
        }

        @Test("random key sets crash nothing, and a key that is found suits the token") func keySets() throws {
            let token = try SignedToken(try TokenCase().token())
            let original = Array(keySet(TestKey.allCases.map(\.jwk)).utf8)
            var found = 0
            for seed in Self.seeds {
                var dice = SeededGenerator(seed: seed)
                var text = original
                for _ in 0...dice.number(below: 3) { Self.damage(&text, with: Self.jsonAlphabet, &dice) }
                guard let keys = try? KeySet(Data(text)), let key = try? keys.key(for: token) else { continue }
                found += 1
                #expect(key.keyID == "key-ES256", "seed \(seed)")
                _ = key.verifies(token)
                guard case .p256 = key.material else {
                    Issue.record("seed \(seed): a key of another type")
                    continue
                }
            }
            #expect(found > 0)
        }

        @Test("random metadata crashes nothing, and what is accepted has the issuer and https endpoints")
        func metadata() {
            let original = Array(Script().metadata.text.utf8)
            var accepted = 0
            for seed in Self.seeds {
                var dice = SeededGenerator(seed: seed)
                var text = original
                for _ in 0...dice.number(below: 3) { Self.damage(&text, with: Self.jsonAlphabet, &dice) }
                guard let metadata = try? ServerMetadata(Data(text), of: "https://id.example.com", at: "x") else {
                    continue
                }
                accepted += 1
                let endpoints = [metadata.authorizationEndpoint, metadata.tokenEndpoint, metadata.keysURL]
                #expect(endpoints.allSatisfy { $0.map { Origin($0)?.scheme == "https" } ?? true }, "seed \(seed)")
            }
            #expect(accepted > 0)
        }

        @Test("random requests to the listener crash nothing, and only one with the state ends the wait")
        func requests() {
            let expected = LoopbackRequest.Expectation(
                host: "127.0.0.1:8400", path: "/callback", state: "good",
                start: .init(path: "/start-1", location: "https://id.example.com"))
            let original = Array(
                "GET /callback?code=a&state=good HTTP/1.1\r\nHost: 127.0.0.1:8400\r\nX: y\r\n\r\n".utf8)
            var (ended, incomplete) = (0, 0)
            for seed in Self.seeds {
                var dice = SeededGenerator(seed: seed)
                var text = original
                for _ in 0...dice.number(below: 3) { Self.damage(&text, with: Self.requestAlphabet, &dice) }
                if dice.isTrue(inPercent: 2) { text += Array(repeating: 0x41, count: LoopbackRequest.maximumSize) }
                switch LoopbackRequest(text, expected) {
                case .callback(let query):
                    ended += 1
                    #expect(
                        query.split(separator: "&").contains { $0.hasSuffix("good") || $0.contains("%") },
                        "seed \(seed)")
                    #expect(text.starts(with: Array("GET /callback?".utf8)), "seed \(seed)")
                case .incomplete:
                    incomplete += 1
                    #expect(text.count < LoopbackRequest.maximumSize, "seed \(seed)")
                case .refused(let status): #expect([400, 404, 405, 431].contains(status), "seed \(seed)")
                case .start: #expect(Bool(false), "seed \(seed)")
                }
            }
            #expect(ended > 0 && incomplete > 0)
        }

        @Test("random callbacks crash nothing, and a code is found only with the state and the issuer") func callbacks()
            async throws
        {
            let world = World()
            let attempt = try await world.server.beginSignIn(scope: ["openid"])
            let metadata = try await world.server.discovery.metadata()
            let original = Array(
                "code=abc&state=\(attempt.state.reveal())&iss=https%3A%2F%2Fid.example.com".utf8)
            var found = 0
            for seed in Self.seeds {
                var dice = SeededGenerator(seed: seed)
                var text = original
                for _ in 0...dice.number(below: 2) { Self.damage(&text, with: Self.requestAlphabet, &dice) }
                let response = AuthorizationResponse(query: String(decoding: text, as: UTF8.self))
                guard (try? response.code(for: attempt, metadata)) != nil else { continue }
                found += 1
                #expect(response.hasState(attempt.state), "seed \(seed)")
            }
            #expect(found > 0)
        }

        private static let tokenAlphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\0".utf8)
        private static let jsonAlphabet = Array("\"\\{}[],:0123456789.eE+-tfnu \n\0/Aa\u{e9}".utf8)
        private static let requestAlphabet = Array("GET /?&=%+#HTP1.\r\n: \t\0aZ\u{e9}".utf8)

        /// Changes, removes, inserts, repeats or cuts some bytes.
        private static func damage(_ text: inout [UInt8], with alphabet: [UInt8], _ dice: inout SeededGenerator) {
            guard !text.isEmpty else { return text.append(alphabet[0]) }
            let index = dice.number(below: text.count)
            let letter = alphabet[dice.number(below: alphabet.count)]
            switch dice.number(below: 12) {
            case 0: text.remove(at: index)
            case 1...3: text.insert(letter, at: index)
            case 4...6: text[index] = letter
            case 7: text[index] ^= 1 << UInt8(dice.number(below: 8))
            case 8: text.insert(contentsOf: text[index...].prefix(dice.number(below: 40)), at: index)
            case 9: text.removeSubrange(index..<min(text.count, index + dice.number(below: 20)))
            case 10: text.insert(contentsOf: Array(repeating: letter, count: dice.number(below: 60)), at: index)
            default:
                // The number of a claim often stays good.
                guard let digit = text[index...].firstIndex(where: { (0x30...0x39).contains($0) }) else { return }
                text[digit] = 0x30 + UInt8(dice.number(below: 10))
            }
        }
    }
#endif
