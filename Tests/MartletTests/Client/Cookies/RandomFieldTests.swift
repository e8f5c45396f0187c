import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

@Suite("Random fields of caches and cookies", .timeLimit(.minutes(10))) struct RandomFieldTests {
    private static let words = [
        "max-age", "=", ",", ";", "\"", "\\", " ", "no-store", "99999999999999999999", "-1", "0", "60", "Expires",
        "Domain",
        "example.com", ".", "com", "Path", "/", "Secure", "__Host-", "__Secure-", "Max-Age", ":", "06 Nov 1994",
        "08:49:37", "99:99:99", "31 Feb 2099", "GMT", "é", "stale-if-error", "*", "vary", "W/", "\t", "a", "🍪",
    ]

    private static func text(_ generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...12, using: &generator)).map { _ in words.randomElement(using: &generator) ?? "" }
            .joined()
    }

    @Test("whatever the server sends, each call gets its response", arguments: [1, 2, 3, 4] as [UInt64])
    func responses(seed: UInt64) async throws {
        let generator = Locked(SeededGenerator(seed: seed))
        let time = ManualTimeSource()
        let names: [HTTPField.Name] = [
            .cacheControl, .age, .date, .expires, .eTag, .lastModified, .vary, .setCookie, .setCookie,
        ]
        let transport = StubTransport { _ in
            generator.withLock { generator in
                var fields = HTTPFields()
                for name in names where Bool.random(using: &generator) {
                    fields.append(HTTPField(name: name, value: Self.text(&generator)))
                }
                let statuses = [200, 200, 200, 204, 304, 404, 500, 503]
                return .status(statuses.randomElement(using: &generator) ?? 200, headers: fields)
            }
        }
        let client = client(transport) {
            ($0.cache, $0.cookies, $0.time) = (HTTPCache(maximumBytes: 20_000), CookieJar(), time)
            $0.retry = .never
        }
        for _ in 0..<300 {
            let (path, control, step) = generator.withLock { generator in
                (
                    Int.random(in: 0..<20, using: &generator), Self.text(&generator),
                    Int.random(in: 0..<100, using: &generator)
                )
            }
            var visit = Visit("/\(path)", headers: [.cacheControl: control])
            visit.acceptableStatuses = .any
            _ = try await client.data(for: visit)
            time.advance(by: .seconds(step))
        }
        #expect(transport.requests.count <= 600)
    }

    @Test("no random text traps as a date") func dates() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<2000 { _ = CookieDate.parse(Self.text(&generator)[...]) }
    }
}
