import HTTPTypes
import Martlet
import Testing

@testable import MartletUI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("What a person is told") struct UserMessageTests {
    private static let call = FailedCall(method: "GET", url: "https://api.example.com/articles", attempts: 3)
    private static let secret = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"

    private static func answer(_ status: Int, _ body: String = "") -> ServerAnswer {
        ServerAnswer(head: HTTPResponse(status: .init(code: status)), body: Data(body.utf8))
    }

    private static let every: [(NetworkError, String)] = [
        (.offline(call), "You are offline. Try again when you are connected."),
        (
            .cannotConnect(call, reason: "ECONNREFUSED"),
            "The server cannot be reached. Check your connection and try again."
        ),
        (.connectionLost(call, reason: "ECONNRESET"), "The connection was lost. Try again."),
        (.timedOut(call, after: .seconds(30)), "The server took too long to answer. Try again."),
        (.cancelled(call), "This was cancelled."),
        (.tlsFailed(call, reason: "expired"), "No secure connection could be made, so nothing was sent."),
        (.invalidRequest(call, RequestProblem("a bad path")), "Something went wrong in the app. Try again."),
        (.insecureURL(call, url: "http://example.com"), "No secure connection could be made, so nothing was sent."),
        (
            .invalidResponse(call, reason: "cut"),
            "The server’s answer could not be understood. Try again later, or update the app."
        ),
        (
            .responseTooLarge(call, limit: 1),
            "The server’s answer could not be understood. Try again later, or update the app."
        ),
        (
            .tooManyRedirects(call, limit: 5),
            "The server’s answer could not be understood. Try again later, or update the app."
        ),
        (.unacceptableStatus(call, answer(418)), "The server refused this."),
        (.unacceptableStatus(call, answer(404)), "This does not exist any more."),
        (.unacceptableStatus(call, answer(413)), "This is too large for the server."),
        (.unacceptableStatus(call, answer(429)), "That was too much at once. Wait a moment and try again."),
        (.unacceptableStatus(call, answer(504)), "The server took too long to answer. Try again."),
        (.unacceptableStatus(call, answer(500)), "The server is having trouble. Try again later."),
        (.unauthorized(call, answer(403)), "You are not allowed to do this."),
        (
            .api(
                call,
                APIError(
                    code: "INVALID", message: "The title is taken.",
                    errors: [.init(field: "title", message: "Choose another one.")], answer: answer(422))),
            "The title is taken. Choose another one."
        ),
        (
            .api(call, APIError(code: "INTERNAL", message: "", answer: answer(500))),
            "The server is having trouble. Try again later."
        ),
        (
            .decoding(call, DecodingFailure(type: "Article", codingPath: "id", reason: "null", answer: answer(200))),
            "The server’s answer could not be understood. Try again later, or update the app."
        ),
        (.signInRequired(call), "Sign in to go on."),
        (
            .sessionExpired(call, .noRefreshToken, answer(401)),
            "Your session has run out. Sign in again to go on."
        ),
        (
            .sessionExpired(call, .rotationLost, nil),
            "Your session could not be continued after an interruption. Sign in again to go on."
        ),
        (.sessionChanged(call), "Somebody signed in or out meanwhile. Try again."),
        (
            .refreshFailed(call, RefreshFailure(.offline, description: "ENETDOWN"), nil),
            "You are offline. Try again when you are connected."
        ),
        (
            .refreshFailed(call, RefreshFailure(.status(503), description: "503"), nil),
            "Your sign-in could not be renewed just now. Try again in a moment."
        ),
        (
            .storageUnavailable(call, StorageFailure(.tooNew, "version 9")),
            "Your sign-in was saved by a newer version of this app. Update the app to go on."
        ),
        (.bodyNotReplayable(call, nil), "Something went wrong in the app. Try again."),
        (.downloadFailed(call, .noContent), "The server has nothing to download."),
        (
            .downloadFailed(call, .digestMismatch(expected: "aa", actual: "bb")),
            "The file arrived damaged and was not kept. Try again."
        ),
        (.interceptorFailed(call, CancellationError()), "Something went wrong in the app. Try again."),
        (.transport(call, CancellationError()), "Something went wrong in the app. Try again."),
    ]

    @Test("every error has words without an address, a method or advice for developers") func errors() {
        for (error, text) in Self.every {
            #expect(error.userMessage == text)
            #expect(!error.userMessage.contains("GET") && !error.userMessage.contains("://"))
        }
    }

    @Test("what a server quotes is masked") func masked() {
        let refusal = APIError(code: nil, message: "The token \(Self.secret) is not good.", answer: Self.answer(400))
        let text = NetworkError.api(Self.call, refusal).userMessage
        #expect(text.hasPrefix("The token "))
        #expect(!text.contains(Self.secret))
    }

    @Test("every reason for a session's end, and every trouble with a store, has words of its own") func reasons() {
        let reasons = [ExpiryReason.refreshTokenRejected(code: "x"), .noRefreshToken, .rotationLost].map(\.userMessage)
        let troubles = [StorageFailure.Kind.locked, .unreachable, .corrupt, .tooNew, .unsafePermissions]
            .map { StorageFailure($0, "errno 13").userMessage }
        #expect(Set(reasons + troubles).count == 8)
        #expect(troubles.allSatisfy { !$0.contains("errno") })
    }
}
