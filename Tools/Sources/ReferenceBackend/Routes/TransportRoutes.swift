import Crypto
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore

extension BackendCore {
    /// Adds the routes for tests of HTTP clients.
    func addTransportRoutes(to table: inout RouteTable) {
        func add(_ method: String, _ path: String, _ handler: @escaping RouteTable.Handler) {
            table.add(method, "/_control/\(path)", kind: .transport, handler)
        }
        add("*", "echo", echo)
        add("*", "redirect") { scope in
            let status = try Self.status(scope.query.integer("status") ?? 302)
            return Reply.empty(status).with(.location, scope.query["to"] ?? "/_control/echo")
        }
        add("*", "status/{code}", respondWithStatus)
        add("*", "empty") { .empty(try Self.status($0.query.integer("status") ?? 200)) }
        add("*", "forbidden") { rules.failure(.forbidden, scope: $0) }
        add("*", "basic-challenge") { _ in
            Reply.text("Who are you?", status: 401, contentType: "text/plain")
                .with(.wwwAuthenticate, "Basic realm=\"martlet\"")
        }
        add("*", "graphql", respondToGraphQL)
        addStreamRoutes(to: &table)
    }

    private static func status(_ code: Int) throws -> Int {
        guard (200...599).contains(code) else { throw APIError.malformed("A status must be between 200 and 599.") }
        return code
    }

    private func echo(_ scope: RequestScope) async throws -> Reply {
        var length = 0
        var hash = SHA256()
        var text = ByteBuffer()
        for try await piece in scope.request.body {
            length += piece.readableBytes
            piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
            if length <= RequestScope.smallBodyLimit { text.writeImmutableBuffer(piece) }
        }
        let isWhole = text.readableBytes == length
        return .json([
            "method": .string(scope.method), "path": .string(scope.path),
            "query": JSONValue(scope.request.uri.query), "authority": JSONValue(scope.request.head.authority),
            "headers": .array(scope.headers.map { [.string($0.name.rawName), .string($0.value)] }),
            "bodyLength": .integer(length), "bodySha256": .string(hash.finalize().hexadecimal),
            "bodyText": isWhole ? JSONValue(String(bytes: text.readableBytesView, encoding: .utf8)) : .null,
        ])
    }

    /// Returns any status. `header.NAME` in the query adds a field; `body` and `contentType` set the content.
    private func respondWithStatus(_ scope: RequestScope) async throws -> Reply {
        let status = try Self.status(Int(try scope.parameter("code")) ?? 0)
        var reply = Reply.text(
            scope.query["body"] ?? "", status: status, contentType: scope.query["contentType"] ?? "text/plain")
        for (name, value) in scope.query.pairs where name.hasPrefix("header.") {
            if let field = HTTPField.Name(String(name.dropFirst("header.".count))) { reply = reply.with(field, value) }
        }
        return reply
    }

    private func respondToGraphQL(_ scope: RequestScope) async throws -> Reply {
        do {
            let (user, _) = try await authenticate(scope)
            return .json(["data": ["me": .string(user.name)]])
        } catch is APIError {
            let error: JSONValue = ["message": "Sign in first.", "extensions": ["code": "UNAUTHENTICATED"]]
            return .json(["data": nil, "errors": [error]])
        }
    }
}
