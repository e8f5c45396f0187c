internal import Foundation
internal import Martlet

/// A call that is defined where it is used.
struct AnyCall: APIEndpoint {
    var method: HTTPRequest.Method = .get
    var path: RequestPath
    var query: Query = [:]
    var headers: HTTPFields = [:]
    var body: RequestBody?
    var authentication = AuthenticationRequirement.ifSignedIn
    var timeout: Duration?

    static let me = AnyCall(path: "/me", authentication: .required)

    static func get(_ path: RequestPath, query: Query = [:]) -> AnyCall { AnyCall(path: path, query: query) }

    static func post(_ path: RequestPath, _ body: RequestBody? = nil, query: Query = [:]) -> AnyCall {
        AnyCall(method: .post, path: path, query: query, body: body)
    }
}

/// Requests the signed-in user.
struct Me: APIRequest {
    typealias Response = User
    let path: RequestPath = "/me"
    let authentication = AuthenticationRequirement.required
}

struct User: Decodable, Sendable {
    let id: String
    let name: String
    let isGuest: Bool
}

/// The request as the backend received it.
struct Echo: Decodable, Sendable {
    let method: String
    let headers: [[String]]
    let bodyLength: Int
    let bodySha256: String
    let bodyText: String?

    /// The received value of a header field.
    func header(_ name: String) -> String? {
        headers.first { $0.first?.lowercased() == name.lowercased() }?.last
    }
}

struct Ping: Decodable, Sendable {
    let pong: Bool
    let authorizationSeen: Bool
}

/// The backend's measurements of one part of an upload.
struct Upload: Decodable, Sendable, Equatable {
    let size: Int
    let sha256: String
}

struct Article: Decodable, Sendable, Equatable {
    let id: String
    let title: String
    let createdAt: Date

    struct Draft: Encodable, Sendable {
        let title: String
        var body = "…"
    }
}

struct Page<Item: Decodable & Sendable & Equatable>: Decodable, Sendable {
    let items: [Item]
}

/// The part of a sign-in response that the tests use.
struct SignedIn: Decodable, Sendable {
    let user: User
}
