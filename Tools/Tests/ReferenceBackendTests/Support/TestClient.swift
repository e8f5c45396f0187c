import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import ReferenceBackend

/// Sends requests to a backend and reads whole responses.
struct TestClient: Sendable {
    let baseURL: String
    var client = TestClient.shared
    var accessToken: String?

    /// Shared by all tests. It does not retry, because some tests expect a refused connection.
    static let shared = make()

    static func make(_ configure: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        configure(&configuration)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    init(_ backend: ReferenceBackend, accessToken: String? = nil) {
        baseURL = backend.baseURL
        self.accessToken = accessToken
    }

    func with(_ accessToken: String?) -> TestClient {
        var client = self
        client.accessToken = accessToken
        return client
    }

    func send(
        _ method: String, _ path: String, json: JSONValue? = nil, headers: [(String, String)] = [],
        body: HTTPClientRequest.Body? = nil
    ) async throws -> TestResponse {
        var request = HTTPClientRequest(url: path.hasPrefix("http") ? path : baseURL + path)
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let accessToken { request.headers.add(name: "Authorization", value: "Bearer \(accessToken)") }
        if let json {
            request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: json.jsonText))
        } else {
            request.body = body
        }
        let response = try await client.execute(request, timeout: .seconds(30))
        let bytes = try await response.body.collect(upTo: 64 << 20)
        return TestResponse(
            status: Int(response.status.code), headers: response.headers, bytes: Array(bytes.readableBytesView),
            version: "\(response.version)")
    }

    func get(_ path: String, headers: [(String, String)] = []) async throws -> TestResponse {
        try await send("GET", path, headers: headers)
    }

    func post(_ path: String, _ json: JSONValue? = nil, headers: [(String, String)] = []) async throws -> TestResponse {
        try await send("POST", path, json: json, headers: headers)
    }

    func postForm(_ path: String, _ form: String, headers: [(String, String)] = []) async throws -> TestResponse {
        let type = ("Content-Type", "application/x-www-form-urlencoded")
        return try await send("POST", path, headers: headers + [type], body: .bytes(ByteBuffer(string: form)))
    }

    func postMultipart(_ path: String, _ form: TestForm, headers: [(String, String)] = []) async throws -> TestResponse
    {
        let type = ("Content-Type", "multipart/form-data; boundary=\(form.boundary)")
        return try await send("POST", path, headers: headers + [type], body: .bytes(ByteBuffer(bytes: form.bytes)))
    }
}

/// A response whose body was read completely.
struct TestResponse: Sendable {
    let status: Int
    private let headers: HTTPHeaders
    let bytes: [UInt8]
    let version: String

    init(status: Int, headers: HTTPHeaders, bytes: [UInt8], version: String) {
        self.status = status
        self.headers = headers
        self.bytes = bytes
        self.version = version
    }

    /// The first value of a header field.
    func header(_ name: String) -> String? { headers.first(name: name) }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var json: JSONValue { (try? JSONValue(parsing: bytes)) ?? .null }

    subscript(path: String...) -> JSONValue? {
        path.reduce(json as JSONValue?) { value, name in value?[name] }
    }
}

/// Builds a multipart form.
struct TestForm {
    let boundary = "martlet-test-boundary"
    private var parts: [UInt8] = []

    mutating func add(_ name: String, _ value: String) {
        add(name, filename: nil, contentType: nil, Array(value.utf8))
    }

    mutating func add(_ name: String, filename: String?, contentType: String?, _ content: [UInt8]) {
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\""
        if let filename { head += "; filename=\"\(filename)\"" }
        if let contentType { head += "\r\nContent-Type: \(contentType)" }
        parts += Array((head + "\r\n\r\n").utf8) + content + Array("\r\n".utf8)
    }

    var bytes: [UInt8] { parts + Array("--\(boundary)--\r\n".utf8) }
}
