#if canImport(CryptoKit) || Encryption
    import Foundation
    import Martlet
    import MartletTesting
    import Testing

    @testable import MartletOAuth

    /// Damages thousands of tokens at random, signs half of them again, and compares the verdict with one that other
    /// code reaches: by construction, or with Foundation's JSON decoder and the rules written a second time.
    @Suite("damaged ID tokens", .timeLimit(.minutes(10))) struct DamagedTokenTests {
        private enum Verdict: Equatable {
            case good
            case bad
            case fails(OAuthError.IDTokenCheck)
        }

        private struct Tally {
            var good = 0
            var signedAgain = 0
            var checks: Set<OAuthError.IDTokenCheck> = []
        }

        @Test("10,000 tokens, valid and damaged, get the expected verdict", arguments: 0..<4) func damaged(_ part: Int)
            throws
        {
            var tally = Tally()
            var verdicts = VerdictFile(part: part)
            for number in 0..<2500 {
                let seed = UInt64(part * 2500 + number)
                var dice = SeededGenerator(seed: seed)
                var test = Self.validCase(&dice)
                let (expected, isSignedAgain) = try Self.damage(&test, &dice)
                let found = test.failedCheck()
                try verdicts.add(test)
                switch expected {
                case .good: #expect(found == nil, "seed \(seed)")
                case .bad: #expect(found != nil, "seed \(seed)")
                case .fails(let check): #expect(found == check, "seed \(seed)")
                }
                tally.good += found == nil ? 1 : 0
                tally.signedAgain += isSignedAgain ? 1 : 0
                if let found { tally.checks.insert(found) }
            }
            try verdicts.write()
            // The dice reach every kind of outcome.
            #expect((300...1200).contains(tally.good))
            #expect((1125...1375).contains(tally.signedAgain))
            #expect(tally.checks.count >= 12)
        }

        /// A valid token in one of many forms.
        private static func validCase(_ dice: inout SeededGenerator) -> TokenCase {
            // RSA takes much longer than the others.
            let isRare = dice.isTrue(inPercent: 4)
            let keys = TestKey.allCases.filter { $0.rawValue.hasSuffix("S256") && $0 != .es256 ? isRare : true }
            var test = TokenCase(signedBy: keys[dice.number(below: keys.count)])
            if dice.isTrue(inPercent: 30) { test.claims["aud"] = "[\"app\"]" }
            if dice.isTrue(inPercent: 20) {
                test.claims["aud"] = "[\"other\",\"app\"]"
                test.claims["azp"] = quoted("app")
            }
            if dice.isTrue(inPercent: 30), let half = test.key.algorithm?.halfDigest(of: "access-1") {
                test.claims["at_hash"] = TestKey.number(half)
            }
            test.claims["exp"] = "\(1_789_999_941 + dice.number(below: 1000))"
            test.claims["iat"] = "\(1_790_000_060 - dice.number(below: 1000))"
            if dice.isTrue(inPercent: 20) { test.claims["nbf"] = "\(1_790_000_059 - dice.number(below: 1000)).5e0" }
            if dice.isTrue(inPercent: 20) { test.claims.add("groups", "[{\"a\":[1,null,\"\\ud83d\\ude00\"]},true]") }
            if dice.isTrue(inPercent: 20) { test.keys[0]["alg"] = nil }
            if dice.isTrue(inPercent: 20) { test.header["kid"] = nil }
            return test
        }

        /// Damages a token.
        /// - Returns: The verdict that is expected, and whether the token was signed after the damage.
        private static func damage(
            _ test: inout TokenCase, _ dice: inout SeededGenerator
        ) throws -> (expected: Verdict, isSignedAgain: Bool) {
            switch dice.number(below: 100) {
            case ..<15: return (.good, false)
            case ..<50:
                let text = try test.token()
                let damaged = damagedText(text, &dice)
                test.damage = { _ in damaged }
                return (damaged == text ? .good : .bad, false)
            case ..<75:
                let bad = knownFaults[dice.number(below: knownFaults.count)]
                try bad.change(&test)
                return (.fails(bad.check), true)
            default:
                let claims = damagedBytes(Array(test.claims.text.utf8), &dice)
                let (key, header) = (test.key, test.header.text)
                let text = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims)
                let token = text + "." + Base64URL.encode(try key.signature(of: text))
                test.damage = { _ in token }
                let isGood =
                    (try? JSONDecoder().decode(JSONValue.self, from: Data(claims))).map { model($0, test.key) } ?? false
                return (isGood ? .good : .bad, true)
            }
        }

        /// Faults of claims and headers that do not depend on the form of the valid token.
        private static let knownFaults = (BadToken.claims + BadToken.headers).filter { bad in
            ![.authenticationTime, .authenticationClass, .severalKeys, .key, .authorizedParty].contains(bad.check)
                && !bad.testDescription.contains("no object")
        }

        /// Replaces, removes or repeats some characters of the compact form.
        private static func damagedText(_ text: String, _ dice: inout SeededGenerator) -> String {
            var bytes = Array(text.utf8)
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n".utf8)
            for _ in 0...dice.number(below: 3) {
                let index = dice.number(below: bytes.count)
                switch dice.number(below: 4) {
                case 0: bytes.remove(at: index)
                case 1: bytes.insert(alphabet[dice.number(below: alphabet.count)], at: index)
                default: bytes[index] = alphabet[dice.number(below: alphabet.count)]
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Changes some bytes of a document.
        private static func damagedBytes(_ document: [UInt8], _ dice: inout SeededGenerator) -> [UInt8] {
            var bytes = document
            let interesting = Array("\"\\{}[],:0123456789.eE+-tfnapx \n".utf8)
            for _ in 0...dice.number(below: 3) {
                let index = dice.number(below: bytes.count)
                switch dice.number(below: 6) {
                case 0: bytes.remove(at: index)
                case 1: bytes.insert(interesting[dice.number(below: interesting.count)], at: index)
                case 2: bytes[index] = interesting[dice.number(below: interesting.count)]
                case 3: bytes[index] ^= 1 << UInt8(dice.number(below: 8))
                default:
                    // A digit for a digit often keeps the token valid.
                    guard let digit = bytes[index...].firstIndex(where: { (0x30...0x39).contains($0) }) else {
                        continue
                    }
                    bytes[digit] = 0x30 + UInt8(dice.number(below: 10))
                }
            }
            return bytes
        }

        /// The rules of OpenID Connect Core 1.0, section 3.1.3.7, for the case's client, written a second time.
        private static func model(_ claims: JSONValue, _ key: TestKey) -> Bool {
            func number(_ name: String) -> Double? {
                switch claims[name] {
                case .integer(let value): Double(value)
                case .number(let value): value
                default: nil
                }
            }
            guard case .object(let members) = claims else { return false }
            let now = 1_790_000_000.0
            var audiences: [JSONValue] = []
            switch members["aud"] {
            case .string(let one): audiences = [.string(one)]
            case .array(let several): audiences = several
            default: return false
            }
            let isOurs = audiences.contains(.string("app")) && audiences.allSatisfy { $0.string != nil }
            let isParty = members["azp"].map { $0 == .string("app") } ?? (audiences.count == 1)
            let hasSubject = (members["sub"]?.string?.utf8.count).map { (1...255).contains($0) } ?? false
            let isNow = (number("exp") ?? -1) > now - 60 && (number("iat") ?? .infinity) <= now + 60
            let hasBegun = members["nbf"] == nil || (number("nbf") ?? .infinity) <= now + 60
            let hash = key.algorithm.map { Base64URL.encode($0.halfDigest(of: "access-1")) } ?? ""
            let hasHash = members["at_hash"] == nil || members["at_hash"] == .string(hash)
            let hasTime = members["auth_time"] == nil || number("auth_time") != nil
            return members["iss"] == .string("https://id.example.com") && hasSubject && isOurs && isParty && isNow
                && hasBegun
                && members["nonce"] == .string("n-1") && hasHash && hasTime
        }
    }

    /// The verdicts about signatures, for a second opinion: `Tools/Interop/oauth_verdicts.py` compares them with
    /// joserfc. A file is written only if `MARTLET_OAUTH_VERDICTS` names one.
    private struct VerdictFile {
        private struct Line: Encodable {
            let token: String
            let keys: String
            /// `good`, or the check that failed up to the signature.
            let verdict: String
        }

        private let path: String?
        private var lines: [Data] = []

        init(part: Int) {
            path = ProcessInfo.processInfo.environment["MARTLET_OAUTH_VERDICTS"].map { "\($0).\(part)" }
        }

        mutating func add(_ test: TokenCase) throws {
            guard path != nil else { return }
            let (token, keys) = (try test.token(), keySet(test.keys))
            var verdict = "good"
            do throws(FailedCheck) {
                let parsed = try SignedToken(token)
                let set = try? KeySet(Data(keys.utf8))
                guard let key = try set?.key(for: parsed) else { throw FailedCheck(.key) }
                if !key.verifies(parsed) { throw FailedCheck(.signature) }
            } catch {
                verdict = "\(error.check)"
            }
            lines.append(try JSONEncoder().encode(Line(token: token, keys: keys, verdict: verdict)))
        }

        func write() throws {
            guard let path else { return }
            try Data(lines.joined(separator: Data("\n".utf8))).write(to: URL(filePath: path))
        }
    }
#endif
