internal import Foundation
internal import Testing

@testable import Martlet

@Suite("Errors for people", .timeLimit(.minutes(10)))
struct LocalizedErrorTests {
    private static let secret = "q8Zk3Vt1Lx9Rb7Yw2Np5Hd6Mf4Jc0Gs8EaTi"
    private static let call = CallDescription(method: "GET", url: "https://api.example.com/\(secret)", attempts: 2)

    private static func response(_ status: Int) -> ServerResponse {
        ServerResponse(head: HTTPResponse(status: .init(code: status)), body: Data(#"{"token":"\#(secret)"}"#.utf8))
    }

    private static let refusal = APIError(
        code: "INVALID", message: "The token \(secret) is not good.",
        errors: [.init(field: "name", message: "Bearer \(secret)")], response: response(422))
    private static let refresh = RefreshError(.status(503), description: "token \(secret)")
    private static let storage = StorageError(.locked, "locked")
    private static let download = DownloadError.file(path: "/\(secret)", reason: secret)
    private static let unreadable = ResponseDecodingError(
        type: "User", codingPath: secret, reason: secret, response: response(200))

    private static let every: [NetworkError] = [
        .offline(call), .cannotConnect(call, reason: secret), .connectionLost(call, reason: secret),
        .timedOut(call, after: .seconds(1)), .cancelled(call), .tlsFailed(call, reason: secret),
        .invalidRequest(call, reason: secret), .unreadableFile(call, path: "/\(secret)", reason: secret),
        .insecureURL(call, url: "http://h/\(secret)"),
        .invalidResponse(call, reason: secret), .responseTooLarge(call, limit: 1), .tooManyRedirects(call, limit: 1),
        .unacceptableStatus(call, response(404)), .unacceptableStatus(call, response(413)),
        .unacceptableStatus(call, response(429)), .unacceptableStatus(call, response(503)),
        .unacceptableStatus(call, response(400)), .api(call, refusal), .decoding(call, unreadable),
        .unauthorized(call, response(401)), .signInRequired(call),
        .sessionExpired(call, .refreshTokenRejected(code: secret), response(401)),
        .sessionExpired(call, .noRefreshToken, nil), .sessionExpired(call, .rotationLost, nil), .sessionChanged(call),
        .refreshFailed(call, refresh, response(401)), .storageUnavailable(call, storage),
        .bodyNotReplayable(call, nil), .downloadFailed(call, download), .downloadFailed(call, .digestMissing),
        .downloadFailed(call, .noContent), .interceptorFailed(call, Quoting(description: secret)),
        .transport(call, Quoting(description: secret)),
    ]

    private struct Quoting: Error, CustomStringConvertible { let description: String }

    @Test("a call that was not sent is described without the query of its URL") func unsentCall() {
        let call = Call<NoContent>.get(.absolute("https://files.example.com/a/b?signature=x#top"))
        #expect(CallDescription(unsent: call).url == "https://files.example.com/a/b")
    }

    @Test("every error has a text for users, without a secret, a URL or a status", arguments: [false, true])
    func texts(isKorean: Bool) {
        UserText.Language.$override.withValue(isKorean ? .korean : .english) {
            let others: [any Error] = [
                Self.refusal, Self.refresh, Self.storage, Self.download, Self.unreadable, SessionError.signedOut,
                SessionError.expired(.refreshTokenRejected(code: Self.secret)), SessionError.sessionChanged,
                SessionError.unavailable(Self.storage), SessionError.refreshFailed(Self.refresh),
                SessionError.cancelled, TransportError.cannotConnect(Self.secret), TransportError.offline,
                TransportError.bodyFailed(Quoting(description: Self.secret)),
            ]
            for error in Self.every + others {
                let text = error.localizedDescription
                #expect(!text.isEmpty && text == (error as? any LocalizedError)?.errorDescription)
                #expect(!text.contains(Self.secret), "\(type(of: error))")
                #expect(!text.contains("://") && !text.contains("GET") && !text.contains("Martlet"))
                #expect(!(text.contains("503") || text.contains("401")))
            }
        }
    }

    @Test("a text is in the user's language, English or Korean")
    func languages() {
        let error = NetworkError.offline(Self.call)
        UserText.Language.$override.withValue(.english) {
            #expect(error.localizedDescription == "You are offline. Try again when you are connected.")
        }
        UserText.Language.$override.withValue(.korean) {
            #expect(error.localizedDescription == "오프라인 상태입니다. 네트워크에 연결된 뒤 다시 시도해 주세요.")
        }
    }

    @Test(
        "a locale chooses the language",
        arguments: [
            ("ko", true), ("ko-KR", true), ("ko_KR.UTF-8", true), ("KO", true), ("en-US", false), ("C", false),
            ("kok-IN", false), ("", false), (nil, false),
        ])
    func tags(tag: String?, isKorean: Bool) {
        #expect(UserText.Language(tag: tag) == (isKorean ? .korean : .english))
    }

    @Test("an app that has no Korean gets no Korean texts, unless it allows other languages than its own")
    func appLanguages() {
        #expect(UserText.Language.choose(app: ["en"], user: ["ko-KR", "en-US"], mixes: false) == .english)
        #expect(UserText.Language.choose(app: ["en"], user: ["ko-KR", "en-US"], mixes: true) == .korean)
        #expect(UserText.Language.choose(app: ["ko", "en"], user: ["ko-KR"], mixes: false) == .korean)
        #expect(UserText.Language.choose(app: [], user: [], mixes: true) == .english)
    }

    @Test("each text differs from all others, in both languages")
    func distinct() {
        let english = UserText.Language.$override.withValue(.english) { UserText.allCases.map(\.text) }
        let korean = UserText.Language.$override.withValue(.korean) { UserText.allCases.map(\.text) }
        let texts = english + korean
        #expect(Set(texts).count == texts.count)
    }

    @Test("an error is one line without control characters, whatever the server has sent") func controlCharacters() {
        let hostile = "\u{1B}]0;owned\u{07}\u{1B}[2Jbad\nGET /x 200, fake\u{202E}"
        let error = APIError(
            code: "E\u{1B}[31m", message: hostile, errors: [.init(field: "n\u{8}", message: hostile)],
            response: Self.response(422))
        let decoding = ResponseDecodingError(
            type: "User", codingPath: "a\u{1B}", reason: hostile,
            response: ServerResponse(head: HTTPResponse(status: .ok), body: Data("\u{1B}[2J".utf8)))
        let refresh = RefreshError(.status(400), description: hostile)
        for text in [
            "\(error)", "\(NetworkError.api(Self.call, error))", NetworkError.api(Self.call, error).explanation,
            NetworkError.decoding(Self.call, decoding).explanation, "\(decoding)",
            "\(SessionError.refreshFailed(refresh))",
        ] {
            #expect(
                text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(text.debugDescription)"
            )
            #expect(!text.contains("\u{202E}"))
        }
        // A message for the user may have several lines.
        #expect(error.localizedDescription.contains("\n"))
        #expect(
            error.localizedDescription.unicodeScalars.allSatisfy {
                $0 == "\n" || $0.properties.generalCategory != .control
            })
    }

    @Test("a server's message is shown as it is, or a text for its status")
    func serverMessages() {
        var error = APIError(
            code: "TAKEN", message: "이미 있는 이름입니다.", errors: [.init(field: "name", message: "Choose another.")],
            response: Self.response(422))
        #expect(NetworkError.api(Self.call, error).localizedDescription == "이미 있는 이름입니다. Choose another.")
        error.message = ""
        error.errors = []
        UserText.Language.$override.withValue(.english) {
            #expect(error.localizedDescription == "The server rejected the request.")
        }
    }

    @Test("an error says whether the same call may succeed later")
    func retryable() {
        func status(_ code: Int) -> NetworkError { .unacceptableStatus(Self.call, Self.response(code)) }
        let transient: [NetworkError] =
            [
                .offline(Self.call), .cannotConnect(Self.call, reason: ""), .connectionLost(Self.call, reason: ""),
                .timedOut(Self.call, after: .seconds(1)), .refreshFailed(Self.call, Self.refresh, nil),
                .storageUnavailable(Self.call, Self.storage),
                .downloadFailed(Self.call, .digestMismatch(expected: "a", actual: "b")),
                .api(Self.call, APIError(code: nil, message: "", response: Self.response(503))),
            ] + [408, 425, 429, 500, 502, 503, 504].map(status)
        #expect(transient.allSatisfy { $0.isRetryable })
        let lasting: [NetworkError] =
            [
                .cancelled(Self.call), .tlsFailed(Self.call, reason: ""), .invalidRequest(Self.call, reason: ""),
                .api(Self.call, Self.refusal), .decoding(Self.call, Self.unreadable), .signInRequired(Self.call),
                .unauthorized(Self.call, Self.response(401)), .sessionExpired(Self.call, .noRefreshToken, nil),
                .storageUnavailable(Self.call, StorageError(.tooNew, "")), .downloadFailed(Self.call, .noContent),
                .interceptorFailed(Self.call, CancellationError()),
            ] + [400, 403, 404, 409, 422, 501].map(status)
        #expect(lasting.allSatisfy { !$0.isRetryable })
    }

    @Test("an error says whether this device is offline")
    func offline() {
        let refresh = RefreshError(.offline, description: "")
        #expect(NetworkError.offline(Self.call).isOffline)
        #expect(NetworkError.refreshFailed(Self.call, refresh, nil).isOffline)
        let others = Self.every.filter { if case .offline = $0 { false } else { true } }
        #expect(others.allSatisfy { !$0.isOffline })
    }

    @Test("an error gives the error that caused it")
    func underlying() {
        #expect(NetworkError.api(Self.call, Self.refusal).underlyingError as? APIError == Self.refusal)
        #expect(NetworkError.decoding(Self.call, Self.unreadable).underlyingError is ResponseDecodingError)
        #expect(NetworkError.refreshFailed(Self.call, Self.refresh, nil).underlyingError is RefreshError)
        #expect(NetworkError.storageUnavailable(Self.call, Self.storage).underlyingError is StorageError)
        #expect(NetworkError.downloadFailed(Self.call, Self.download).underlyingError is DownloadError)
        #expect(NetworkError.transport(Self.call, Quoting(description: "x")).underlyingError is Quoting)
        #expect(NetworkError.interceptorFailed(Self.call, Quoting(description: "x")).underlyingError is Quoting)
        #expect(NetworkError.offline(Self.call).underlyingError == nil)
    }

    @Test(
        "a request that the server may have carried out is not to be sent again at once", arguments: ["POST", "PATCH"])
    func inDoubt(method: String) {
        let call = CallDescription(method: method, url: "https://api.example.com/orders", attempts: 1)
        let response = ServerResponse(head: HTTPResponse(status: .badGateway), body: Data())
        for error in [
            NetworkError.connectionLost(call, reason: "reset by peer"), .timedOut(call, after: .seconds(30)),
            .unacceptableStatus(call, response),
        ] {
            #expect(
                error.explanation.hasSuffix(
                    "The server may have carried out the request: check before you send it again."))
        }
        UserText.Language.$override.withValue(.english) {
            #expect(
                NetworkError.connectionLost(call, reason: "").localizedDescription
                    == "The connection was lost. Your request may have gone through: check before you try again.")
            #expect(
                NetworkError.timedOut(call, after: .seconds(30)).localizedDescription
                    == "The server took too long to respond. Your request may have gone through: check before you try again."
            )
            let trouble = NetworkError.unacceptableStatus(call, response).localizedDescription
            #expect(trouble.hasSuffix("Your request may have gone through: check before you try again."))
        }
    }

    @Test("an error about unsafe permissions gives the command that corrects them, not the advice to try again")
    func unsafePermissions() {
        let reason =
            "could not read /home/ada/session.json: others can read it, so it is not trusted; "
            + "chmod 600 /home/ada/session.json makes your own file private"
        let storage = StorageError(.unsafePermissions, reason)
        let error = NetworkError.storageUnavailable(Self.call, storage)
        #expect(error.explanation == "the stored session cannot be used: \(reason).")
        for text in [error.explanation, error.description, SessionError.unavailable(storage).description] {
            #expect(text.contains("chmod 600 /home/ada/session.json"))
            #expect(!text.lowercased().contains("try again"))
        }
    }

    @Test("an explanation does not quote the body that a description quotes") func excerpt() {
        let response = ServerResponse(head: HTTPResponse(status: .ok), body: Data(#"{"name":"Ada"}"#.utf8))
        let error = NetworkError.decoding(
            Self.call,
            ResponseDecodingError(type: "User", codingPath: "id", reason: "It is missing.", response: response))
        #expect(error.explanation == "the response (200) is not a valid User: It is missing at id.")
        #expect(error.description.contains(#" It is missing at id. Its body starts with: {"name":"Ada"}"#))
    }

    @Test("a failed refresh has no status, because the user is still signed in") func refreshStatus() {
        let rejection = ServerResponse(head: HTTPResponse(status: .unauthorized), body: Data())
        let failure = RefreshError(.status(503), description: "503")
        let error = NetworkError.refreshFailed(Self.call, failure, rejection)
        #expect(error.status == nil && error.response == rejection)
        #expect(NetworkError.sessionExpired(Self.call, .noRefreshToken, rejection).status == 401)
    }

    @Test("an error about a digest shows enough of both digests to tell them apart") func digests() {
        let digests = ["3f", "a0"].map { String(repeating: $0, count: 32) }
        let error = DownloadError.digestMismatch(expected: digests[0], actual: digests[1])
        let text = NetworkError.downloadFailed(Self.call, error).description
        #expect(text.contains("begins with a0a0a0a0a0a0, expected 3f3f3f3f3f3f. The file is damaged"))
        #expect(Redaction.redact(text) == text)
    }

    @Test("a status that may not come again says to try again later", arguments: [429, 500, 502, 503, 504])
    func later(status: Int) {
        let call = CallDescription(method: "GET", url: "https://api.example.com/orders", attempts: 1)
        let response = ServerResponse(head: HTTPResponse(status: .init(code: status)), body: Data())
        #expect(NetworkError.unacceptableStatus(call, response).explanation.hasSuffix(". Try again later."))
        let missing = ServerResponse(head: HTTPResponse(status: .notFound), body: Data())
        #expect(NetworkError.unacceptableStatus(call, missing).explanation == "the server responded with 404 Not Found")
    }
}
