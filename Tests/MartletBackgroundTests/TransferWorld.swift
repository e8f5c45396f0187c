import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet
@testable import MartletBackground

/// A device with one app: its files, its session, and the system's transfers.
final class TransferWorld: Sendable {
    let path: String
    let daemon: TransferDaemon
    let time = ManualTimeSource()
    /// The number of the oldest token that the server accepts.
    let oldestAccepted = Locked(0)
    /// The status with which the server rejects a token.
    let rejection: Int
    /// Numbers the tokens that the server has issued.
    let refresher: CountingRefresher

    /// - Parameter path: The container of the app. It exists.
    init(
        _ path: String, daemon state: TransferDaemon.State = .init(), oldestAccepted: Int = 0, rejection: Int = 401
    ) throws {
        self.path = path
        self.rejection = rejection
        daemon = TransferDaemon(folder: path, state)
        refresher = CountingRefresher()
        self.oldestAccepted.withLock { $0 = oldestAccepted }
    }

    static func with<Result>(
        rejection: Int = 401, _ body: (TransferWorld) async throws -> Result
    ) async throws -> Result {
        try await withFolder { try await body(TransferWorld($0, rejection: rejection)) }
    }

    /// Calls the closure with the path of a private folder, which is deleted afterwards.
    static func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url.path)
    }

    var folder: String { path + "/list" }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

    func content(_ name: String) -> String? {
        FileManager.default.contents(atPath: path + "/" + name).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The server: it accepts tokens from a number on, and tells which one it got.
    var server: TransferDaemon.Server {
        { [oldestAccepted, rejection] request, _ in
            let number = request.headerFields[.authorization].flatMap { Int($0.drop { !$0.isNumber }) }
            guard let number, number >= oldestAccepted.withLock({ $0 }) else {
                return .init(status: rejection, body: Data("who are you?".utf8))
            }
            return .init(status: 200, body: Data("film".utf8))
        }
    }

    func signedIn(
        _ user: String? = "ada", number: Int = 0, id: SessionID? = nil, lifetime: Duration = .seconds(3600)
    ) async -> TokenManager {
        let record = StoredSession(
            storing: .fresh(number, lifetime: lifetime), id: id, account: SessionAccount(userID: user),
            at: time.wallClock)
        return await manager(.inMemory(holding: record))
    }

    func manager(_ store: any TokenStore) async -> TokenManager {
        let tokens = TokenManager(
            baseURL: "https://api.example.com", store: store, refresher: refresher,
            accessTokenRejection: .status(rejection), transport: StubTransport(), connectivity: nil, time: time)
        _ = await tokens.loadedState
        return tokens
    }

    /// The server of endpoints that need no session: it accepts every request.
    var openServer: TransferDaemon.Server {
        { _, _ in .init(status: 200, body: Data("film".utf8)) }
    }

    /// A launch of the app.
    /// - Parameter tokens: `nil` for an app without users.
    func launch(
        _ tokens: TokenManager?, identifier: String = UUID().uuidString, home: String? = nil, group: String? = nil,
        steps: TransferSteps = TransferSteps(), change: (inout BackgroundTransferOptions) -> Void = { _ in }
    ) async throws -> BackgroundTransfers {
        var options = BackgroundTransferOptions()
        options.folder = folder
        change(&options)
        var config = NetworkConfig()
        if tokens == nil { config.time = time }
        let client =
            tokens.map { NetworkClient(tokens: $0, config: config) }
            ?? NetworkClient(baseURL: "https://api.example.com", config: config, transport: StubTransport())
        let transfers = try BackgroundTransfers(
            identifier: identifier, client: client, options: options, home: home ?? path, group: group, steps: steps
        ) { [daemon] in daemon.connect($0) }
        _ = await transfers.session()
        return transfers
    }

    /// Lets the system and the app work until nothing is left to do.
    func run(_ transfers: BackgroundTransfers, _ server: TransferDaemon.Server? = nil) async {
        for _ in 0..<12 {
            await daemon.deliver()
            await transfers.resume()
            await daemon.perform(server ?? self.server)
        }
        await daemon.deliver()
        await transfers.resume()
    }
}

/// Issues the token after the one it gets.
final class CountingRefresher: TokenRefresher {
    let failure = Locked<RefreshError?>(nil)
    let rejects = Locked(false)
    let count = Locked(0)

    func refresh(_ tokens: Tokens, over client: TokenEndpointClient) async throws -> Tokens {
        if let failure = failure.withLock({ $0 }) { throw failure }
        if rejects.withLock({ $0 }) { throw RefreshRejectedError() }
        count.withLock { $0 += 1 }
        let number = Int(tokens.accessToken.reveal().drop { !$0.isNumber }) ?? 0
        return .fresh(number + 1)
    }
}

/// The error that a call threw, or `nil`.
func error(_ body: () async throws -> Void) async -> NetworkError? {
    do { try await body() } catch { return error as? NetworkError }
    return nil
}

/// Collects the events of transfers, so that a test can wait for one.
func first(
    _ transfers: BackgroundTransfers, where isWanted: @Sendable (BackgroundTransfer) -> Bool
) async -> BackgroundTransfer? {
    for await transfer in transfers.events where isWanted(transfer) { return transfer }
    return nil
}

let film = Call<NoContent>.get("/films/7")
