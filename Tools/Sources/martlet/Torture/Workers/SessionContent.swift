internal import Foundation
internal import Martlet
internal import NIOConcurrencyHelpers

/// Requests content that names its session, through the cache, the cookies and the joined calls of a client.
private struct SessionContent: APIRequest {
    struct Response: Decodable, Sendable {
        let session: String
        /// The cookie that the server received.
        let cookie: String?
    }

    let path: RequestPath = "/session/content"
    let authentication = AuthenticationRequirement.required
    var headers: HTTPFields = [:]
}

/// A file whose lines name its session. A transfer from the start breaks off in the middle.
private struct SessionFile: APIEndpoint {
    let path: RequestPath = "/session/file"
    let query: Query = ["lines": 2000, "breakAt": 30_000]
    let authentication = AuthenticationRequirement.required
}

/// The content that a worker has received and that names its session.
struct ContentTally: Sendable, Codable {
    /// The number of responses and files by the session that they name, as the server calls it. A file with parts of
    /// several sessions names all of them, joined with "+".
    var sessions: [String: Int] = [:]
    /// Calls whose token and cookie were of different sessions.
    var foreignCookies = 0
    /// Calls that were made after the end of the session and still got content.
    var handedAfterEnd = 0
    /// Calls with a cookie, and calls that the cache responded to or that shared the response of another call.
    var withCookie = 0
    var cached = 0
    var joined = 0
    /// Downloads that broke off, and downloads that continued with the bytes of an earlier one.
    var broken = 0
    var resumed = 0
}

/// Makes the calls of a worker whose responses name their session.
struct SessionContentReader: Sendable {
    let client: NetworkClient
    /// The path that the file is downloaded to.
    let path: String
    let fault: PlantedFault?
    private let state = NIOLockedValueBox(State())

    private struct State {
        var tally = ContentTally()
        /// The ids of the requests that responses were made for.
        var requests: Set<String> = []
        var downloads = 0
        /// The content of the first session that a planted fault has kept.
        var planted: (content: SessionContent.Response?, lines: [Substring]) = (nil, [])
    }

    init(_ client: NetworkClient, path: String, fault: PlantedFault?) {
        self.client = client
        self.path = path
        self.fault = fault
    }

    /// Returns the content received since the last call.
    func take() -> ContentTally {
        state.withLockedValue { state in
            defer { (state.tally, state.requests) = (ContentTally(), []) }
            return state.tally
        }
    }

    func read() async throws(NetworkError) {
        let kept = state.withLockedValue { $0.planted.content }
        if fault == .sharedCache, let kept { return note(kept.session) }
        var call = SessionContent()
        if fault == .sharedCookies, let kept { call.headers[.cookie] = "session=\(kept.session)" }
        let response = try await client.response(for: call, as: SessionContent.Response.self, monitor: nil)
        let content = response.value
        note(content.session)
        let id = HTTPField.Name("X-Request-Id").flatMap { response.headers[$0] }
        state.withLockedValue { state in
            if fault != nil, state.planted.content == nil { state.planted.content = content }
            if let cookie = content.cookie {
                state.tally.withCookie += 1
                if cookie != content.session { state.tally.foreignCookies += 1 }
            }
            let isNew = id.map { state.requests.insert($0).inserted } ?? true
            if response.headers[.age] != nil { state.tally.cached += 1 } else if !isNew { state.tally.joined += 1 }
        }
    }

    /// Downloads the file, which breaks off unless an earlier part of it is there. Every second call leaves the part to
    /// a later call.
    func download() async throws(NetworkError) {
        let isPatient = state.withLockedValue { state in
            state.downloads += 1
            return state.downloads.isMultiple(of: 2)
        }
        if try await downloadOnce(mayBreak: true) || isPatient { return }
        _ = try await downloadOnce(mayBreak: false)
    }

    /// - Returns: Whether the file is complete.
    private func downloadOnce(mayBreak: Bool) async throws(NetworkError) -> Bool {
        var options = DownloadOptions()
        options.keepsPartial = true
        do {
            let file = try await client.download(SessionFile(), to: path, options: options).value
            if file.resumedBytes > 0 { state.withLockedValue { $0.tally.resumed += 1 } }
            noteFile()
            return true
        } catch .connectionLost where mayBreak {
            state.withLockedValue { $0.tally.broken += 1 }
            return false
        }
    }

    private func noteFile() {
        var lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
        state.withLockedValue { state in
            guard fault == .sharedParts else { return }
            if state.planted.lines.isEmpty { state.planted.lines = lines }
            lines = Array(state.planted.lines.prefix(1000)) + lines.dropFirst(1000)
        }
        note(Set(lines).sorted().joined(separator: "+"))
    }

    private func note(_ session: String) {
        state.withLockedValue { $0.tally.sessions[session, default: 0] += 1 }
    }

    /// Makes calls after the session has ended. None may get content.
    func readAfterEnd() async {
        for call in [read, download] where (try? await call()) != nil {
            state.withLockedValue { $0.tally.handedAfterEnd += 1 }
        }
    }
}
