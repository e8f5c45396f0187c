import Foundation
import Martlet

/// Returns stored responses to authenticated GET requests for a limited time. Each session has entries of its own.
actor ResponseCache: RequestInterceptor {
    private struct Key: Hashable, Sendable {
        let session: SessionID
        let url: String
    }
    /// The key under which the response to this call is stored.
    private struct Miss: Sendable { let key: Key }

    private let lifetime: TimeInterval
    private var entries: [Key: (response: ServerResponse, expiry: Date)] = [:]

    init(lifetime: TimeInterval = 60) {
        self.lifetime = lifetime
    }

    func respond(to request: HTTPRequest, for context: inout RequestContext) async throws -> ServerResponse? {
        context[Miss.self] = nil
        guard request.method == .get, request.headerFields[.range] == nil, let stamp = context.stamp else { return nil }
        let key = Key(session: stamp.session, url: (request.authority ?? "") + (request.path ?? ""))
        if let entry = entries[key], entry.expiry > context.wallClock { return entry.response }
        context[Miss.self] = Miss(key: key)
        return nil
    }

    func validate(_ response: ServerResponse, for context: inout RequestContext) async throws {
        // A download or a stream consumes its body, so it is empty here.
        guard let miss = context[Miss.self], response.status == 200, !response.body.isEmpty,
            response.headers[.cacheControl]?.contains("no-store") != true
        else { return }
        entries[miss.key] = (response, context.wallClock + lifetime)
    }

    /// Call it when the user signs out.
    func removeAll() {
        entries = [:]
    }
}
