internal import ArgumentParser
internal import AsyncHTTPClient
internal import Foundation
internal import Martlet
internal import NIOCore
internal import NIOFoundationCompat

/// Runs one transfer in a process of its own, to measure its memory. ``Transfers`` starts it and parses its output.
struct TransferCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "transfer", shouldDisplay: false)

    @Argument var kind: TransferKind
    @Argument var transport: TransportName
    @Option var port: Int
    @Option(help: "The file to send or to write.") var file: String
    @Option(help: "The number of bytes to request.") var size: Int

    func run() async throws {
        let transport: any Transport =
            switch transport {
            case .asyncHTTPClient: AsyncHTTPClientTransport()
            case .urlSession: URLSessionTransport()
            }
        let client = try await signedIn(over: transport)
        _ = try await client.send(Counters())
        let idle = Usage.residentBytes
        let before = Usage.now()
        let start = ContinuousClock.now
        try await transfer(with: client, over: transport)
        let wall = start.duration(to: .now)
        let result = Transfer(
            seconds: wall.inSeconds, cpuSeconds: Usage.now().cpuSeconds - before.cpuSeconds,
            bytesAboveIdle: Usage.peakBytes - idle)
        FileHandle.standardOutput.write(try JSONEncoder().encode(result))
    }

    private func transfer(with client: NetworkClient, over transport: any Transport) async throws {
        switch kind {
        case .form: try await upload(to: "/upload", with: client)
        case .sluggishForm: try await upload(to: "/upload/sluggish", with: client)
        case .replayedForm:
            let attempts = try await upload(to: "/upload/guarded", with: client)
            guard attempts == 2 else { throw UnexpectedResponseError() }
        case .file:
            let receipt = try await client.send(Upload(path: "/upload", body: .file(at: file)))
            guard receipt.bytes == size else { throw UnexpectedResponseError() }
        case .download:
            let response = try await client.download(Download(size: size), to: file)
            guard response.value.size == size else { throw UnexpectedResponseError() }
        case .bareDownload:
            try await Self.download("http://127.0.0.1:\(port)/download/\(size)", to: file)
        }
    }

    /// - Returns: The number of attempts.
    @discardableResult
    private func upload(to path: RequestPath, with client: NetworkClient) async throws -> Int {
        var form = MultipartForm()
        form.append("Ada", named: "name")
        form.append(fileAt: file, named: "file")
        let response = try await client.response(for: Upload(path: path, body: .multipart(form)))
        guard response.value.bytes == Int(try form.contentLength() ?? 0) else { throw UnexpectedResponseError() }
        return response.attempts
    }

    /// Signs in with a token that only `/upload/guarded` rejects.
    private func signedIn(over transport: any Transport) async throws -> NetworkClient {
        let refresher = HTTPTokenRefresher.custom { _, _ in Tokens(accessToken: "fresh") }
        let tokens = TokenManager(
            baseURL: BaseURL("http://127.0.0.1:\(port)"), store: .inMemory, refresher: refresher, transport: transport)
        try await tokens.signIn(with: Tokens(accessToken: "stale", refreshToken: "once"))
        return NetworkClient(tokens: tokens)
    }

    private static func download(_ url: String, to path: String) async throws {
        let client = HTTPClient()
        try? FileManager.default.removeItem(atPath: path)
        try Data().write(to: URL(fileURLWithPath: path))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(600))
        for try await piece in response.body { try handle.write(contentsOf: Data(buffer: piece)) }
        try handle.close()
        try await client.shutdown()
    }
}

/// A small request, after which the process counts as idle.
private struct Counters: APIRequest {
    typealias Response = Server.Counters
    let path: RequestPath = "/control/counters"
}

private struct Upload: APIRequest {
    struct Response: Decodable, Sendable {
        var bytes: Int
    }

    let path: RequestPath
    let body: RequestBody?
    let method = HTTPRequest.Method.post
    let timeout: Duration? = .seconds(600)
}

private struct Download: APIEndpoint {
    let size: Int
    var path: RequestPath { "/download/\(size)" }
}
