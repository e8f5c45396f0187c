internal import Foundation
internal import Martlet

/// Any call, written out on the spot.
struct AnyCall: APIEndpoint {
    var method: HTTPRequest.Method = .get
    var path: String
    var query: Query = []
    var headers: HTTPFields = [:]
    var body: RequestBody?
    var authentication = AuthenticationRequirement.ifSignedIn
    var timeout: Duration?

    static let me = AnyCall(path: "/me", authentication: .required)

    static func get(_ path: String, query: Query = []) -> AnyCall { AnyCall(path: path, query: query) }

    static func post(_ path: String, _ body: RequestBody? = nil, query: Query = []) -> AnyCall {
        AnyCall(method: .post, path: path, query: query, body: body)
    }
}

/// Who is signed in.
struct Me: APIRequest {
    typealias Response = User
    let path = "/me"
    let authentication = AuthenticationRequirement.required
}

struct User: Decodable, Sendable {
    let id: String
    let name: String
    let isGuest: Bool
}

/// Asks the backend what it got.
struct Echo: Decodable, Sendable {
    let method: String
    let headers: [[String]]
    let bodyLength: Int
    let bodySha256: String
    let bodyText: String?

    /// The value of a header field as it arrived.
    func header(_ name: String) -> String? {
        headers.first { $0.first?.lowercased() == name.lowercased() }?.last
    }
}

struct Ping: Decodable, Sendable {
    let pong: Bool
    let authorizationSeen: Bool
}

/// What the backend measured of one part of an upload.
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

/// The answer to a sign-in, in so far as an app wants to know of it.
struct SignedIn: Decodable, Sendable {
    let user: User
}
