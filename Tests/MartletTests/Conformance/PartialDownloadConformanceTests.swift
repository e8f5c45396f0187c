import Foundation
import HTTPTypes
import MartletTestSupport
import MartletTesting
import Testing

@testable import Martlet

@Suite("Conformance: kept partial files belong to their owner", .noBlockingCalls, .timeLimit(.minutes(10)))
struct PartialDownloadConformanceTests {
    private let server: DownloadServer
    private let content: Data
    private let options: DownloadOptions

    init() {
        var generator = SeededGenerator(seed: 11)
        content = generator.bytes(10_500)
        server = DownloadServer(content)
        var options = DownloadOptions()
        options.keepsPartial = true
        self.options = options
    }

    @Test(
        "C97: a kept partial file is resumed by the user who began it, and by no other, even without a token",
        arguments: ["ada", "bob", nil], [AuthenticationRequirement.none, .ifSignedIn])
    func users(nextUser: String?, authentication: AuthenticationRequirement) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film"
            let transport = server.transport
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
                transport: transport, connectivity: nil, time: ManualTimeSource())
            let client = NetworkClient(tokens: tokens, config: config { $0.retry = .never })
            try await tokens.signIn(with: .fresh(1), account: SessionAccount(userID: "ada"))
            server.change { $0.breaks = [4000] }
            #expect(
                await error { try await client.download(Get("/film", authentication), to: path, options: options) }
                    != nil)
            await tokens.signOut()
            if let nextUser { try await tokens.signIn(with: .fresh(2), account: SessionAccount(userID: nextUser)) }
            let response = try await client.download(Get("/film", authentication), to: path, options: options)
            let isSame = nextUser == "ada"
            #expect(response.value.resumedBytes == (isSame ? 4000 : 0))
            #expect(transport.requests.map { $0.headers[.range] } == [nil, isSame ? "bytes=4000-" : nil])
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("C97: a partial file that was kept for the session of an automatic sign-in is not resumed in a later session")
    func automaticSignIn() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film"
            let transport = server.transport
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
                transport: transport, connectivity: nil, time: ManualTimeSource())
            let guests = Locked(0)
            let client = NetworkClient(
                tokens: tokens,
                config: config {
                    $0.retry = .never
                    $0.automaticSignIn = { client in
                        let guest = guests.withLock { count in
                            count += 1
                            return count
                        }
                        let account = SessionAccount(userID: "guest \(guest)")
                        try await client.tokens?.signIn(with: .fresh(guest), account: account)
                    }
                })
            let film = Get("/film", .required)
            server.change { $0.breaks = [4000, 4000] }
            #expect(await error { try await client.download(film, to: path, options: options) } != nil)
            await tokens.signOut()
            #expect(await error { try await client.download(film, to: path, options: options) } != nil)
            #expect(guests.withLock { $0 } == 2)
            let response = try await client.download(film, to: path, options: options)
            #expect(response.value.resumedBytes == 4000)
            #expect(transport.requests.map { $0.headers[.range] } == [nil, nil, "bytes=4000-"])
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test("C97: while the store cannot be read, no kept partial file is resumed, and none is kept for a later user")
    func unreadableStore() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film"
            let transport = server.transport
            func run(_ store: any TokenStore) async throws {
                let tokens = TokenManager(
                    baseURL: "https://api.example.com", store: store, refresher: .json(path: "/auth/refresh"),
                    transport: transport, connectivity: nil, time: ManualTimeSource())
                let client = NetworkClient(tokens: tokens, config: config { $0.retry = .never })
                server.change { $0.breaks = [4000] }
                _ = await error {
                    try await client.download(
                        Get("/film", AuthenticationRequirement.none), to: path, options: options)
                }
            }
            let locked = FailingTokenStore()
            locked.isLocked = true
            try await run(.inMemory)
            for _ in 1...2 {
                try await run(locked)
                #expect(folder.names.isEmpty)
            }
            try await run(.inMemory)
            #expect(transport.requests.map { $0.headers[.range] } == [nil, nil, nil, nil])
        }
    }

    @Test(
        "C97: with an account, kept bytes are not resumed with another credential in place of the token", .serialized,
        arguments: [
            ("X", "X"), ("X", "Y"), ("X", nil), (nil, "X"),
        ] as [(String?, String?)])
    func credentialInPlaceOfToken(first: String?, second: String?) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film"
            let transport = server.transport
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
                transport: transport, connectivity: nil, time: ManualTimeSource())
            try await tokens.signIn(with: .fresh(1), account: SessionAccount(userID: "ada"))
            func client(_ key: String?) -> NetworkClient {
                NetworkClient(
                    tokens: tokens,
                    config: config {
                        $0.retry = .never
                        $0.interceptors = key.map { [KeyInterceptor(key: $0)] } ?? []
                    })
            }
            server.change { $0.breaks = [4000] }
            let film = Get("/film", .required)
            #expect(await error { try await client(first).download(film, to: path, options: options) } != nil)
            let response = try await client(second).download(film, to: path, options: options)
            #expect(response.value.resumedBytes == (first == second ? 4000 : 0))
            #expect(FileManager.default.contents(atPath: path) == content)
        }
    }

    @Test(
        "C97: without an account, kept bytes are resumed with the same credentials only, including those of an interceptor",
        arguments: KeyPlace.allCases)
    fileprivate func credentials(place: KeyPlace) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film"
            let transport = server.transport
            @Sendable func download(_ key: String?, breakingAt length: Int? = nil) async -> DownloadedFile? {
                let client = client(transport) {
                    $0.retry = .never
                    guard let key else { return }
                    if place == .headers {
                        $0.headers[.authorization] = key
                    } else {
                        $0.interceptors = [KeyInterceptor(key: key, place: place)]
                    }
                }
                server.change { $0.breaks = length.map { [$0] } ?? [] }
                return try? await client.download(
                    Get("/film", AuthenticationRequirement.none), to: path, options: options
                ).value
            }
            func ranges() -> [String?] { transport.requests.map { $0.headers[.range] } }
            _ = await download("ada", breakingAt: 4000)
            // Bob's call fails before the server has answered it: Ada's bytes stay.
            server.change { $0.first = [.status(503)] }
            _ = await download("bob")
            let resumed = await download("ada")?.resumedBytes
            #expect(resumed == 4000)
            #expect(ranges() == [nil, nil, "bytes=4000-"])
            for (first, second) in [("ada", "bob"), ("ada", nil), (nil, "ada")] as [(String?, String?)] {
                _ = await download(first, breakingAt: 4000)
                let resumed = await download(second)?.resumedBytes
                #expect(resumed == 0)
                #expect(FileManager.default.contents(atPath: path) == content)
            }
            #expect(ranges().compactMap(\.self).count == 1)
            #expect(folder.names == ["film"])
        }
    }
}

extension PartialDownloadConformanceTests {
    @Test("C97: the kept bytes of a guest are not resumed for another guest, even with the same user ID")
    func guests() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film"
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory, refresher: .json(path: "/auth/refresh"),
                transport: server.transport, connectivity: nil, time: ManualTimeSource())
            let client = NetworkClient(tokens: tokens, config: config { $0.retry = .never })
            let guest = SessionAccount(userID: "guest", isGuest: true)
            try await tokens.signIn(with: .fresh(1), account: guest)
            server.change { $0.breaks = [4000] }
            #expect(
                await error { try await client.download(Get("/film", .required), to: path, options: options) } != nil)
            await tokens.signOut()
            try await tokens.signIn(with: .fresh(2), account: guest)
            let response = try await client.download(Get("/film", .required), to: path, options: options)
            #expect(response.value.resumedBytes == 0)
        }
    }

    @Test(
        "C97: the file of a call that needs no session does not appear for the next user, and does for the same one",
        arguments: ["ada", "bob"], [false, true])
    func fileOfFormerUser(nextUser: String, isUnread: Bool) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.path + "/film"
            let gate = Gate()
            let transport = StubTransport { _ in
                await gate.pass()
                return .json("ada's")
            }
            let time = ManualTimeSource()
            let record = StoredSession(
                storing: .fresh(1), account: SessionAccount(userID: "ada"), at: time.wallClock)
            let tokens = TokenManager(
                baseURL: "https://api.example.com", store: .inMemory(holding: record),
                refresher: .json(path: "/auth/refresh"), transport: transport, connectivity: nil, time: time)
            let client = NetworkClient(tokens: tokens)
            if !isUnread { await tokens.restore() }
            let download = Task {
                await error { try await client.download(Get("/film", AuthenticationRequirement.none), to: path) }
            }
            await gate.waitForArrivals()
            await tokens.restore()
            try await tokens.signIn(with: .fresh(2), account: SessionAccount(userID: nextUser))
            gate.open()
            let failure = await download.value
            if nextUser == "ada" {
                #expect(failure == nil)
                #expect(folder.names == ["film"])
                return
            }
            guard case .sessionChanged = failure else {
                Issue.record("the file has appeared")
                return
            }
            #expect(folder.names.isEmpty)
        }
    }
}

private enum KeyPlace: CaseIterable, Sendable {
    case headers, fieldOfInterceptor, urlOfInterceptor, urlOfPreparation
}

private struct KeyInterceptor: RequestInterceptor {
    let key: String
    var place = KeyPlace.fieldOfInterceptor

    func prepare(_ request: inout HTTPRequest, for context: inout RequestContext) {
        if place == .urlOfPreparation { request.path? += "?key=\(key)" }
    }

    func adapt(_ request: inout HTTPRequest, for context: inout RequestContext) {
        switch place {
        case .urlOfInterceptor: request.path? += "?key=\(key)"
        case .fieldOfInterceptor: request.headerFields[.authorization] = key
        case .headers, .urlOfPreparation: break
        }
    }
}
