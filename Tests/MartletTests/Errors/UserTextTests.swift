import Foundation
import HTTPTypes
import Testing

@testable import Martlet

@Suite("Texts of errors for users", .timeLimit(.minutes(10))) struct UserTextTests {
    private static let call = CallDescription(method: "GET", url: "https://api.example.com/articles", attempts: 3)
    private static let secret = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"

    private static func response(_ status: Int, _ body: String = "") -> ServerResponse {
        ServerResponse(head: HTTPResponse(status: .init(code: status)), body: Data(body.utf8))
    }

    private static let every: [(NetworkError, String)] = [
        (.offline(call), "You are offline. Try again when you are connected."),
        (
            .cannotConnect(call, reason: "ECONNREFUSED"),
            "The server cannot be reached. Check your connection and try again."
        ),
        (.connectionLost(call, reason: "ECONNRESET"), "The connection was lost. Try again."),
        (.timedOut(call, after: .seconds(30)), "The server took too long to respond. Try again."),
        (.cancelled(call), "The request was cancelled."),
        (.tlsFailed(call, reason: "expired"), "A secure connection could not be established. Nothing was sent."),
        (
            .invalidRequest(call, reason: "a bad path"),
            "This could not be sent. Try again, or check for an update of the app."
        ),
        (
            .unreadableFile(call, path: "/film.mp4", reason: #"There is nothing at "/film.mp4"."#),
            "The file cannot be read. Choose it again, or choose another one."
        ),
        (
            .insecureURL(call, url: "http://example.com"),
            "A secure connection could not be established. Nothing was sent."
        ),
        (
            .invalidResponse(call, reason: "cut"),
            "The app could not read the server’s response. Try again later, or update the app."
        ),
        (
            .responseTooLarge(call, limit: 1),
            "The app could not read the server’s response. Try again later, or update the app."
        ),
        (
            .tooManyRedirects(call, limit: 5),
            "The app could not read the server’s response. Try again later, or update the app."
        ),
        (.unacceptableStatus(call, response(418)), "The server rejected the request."),
        (.unacceptableStatus(call, response(404)), "This no longer exists."),
        (.unacceptableStatus(call, response(413)), "This is too large for the server."),
        (.unacceptableStatus(call, response(429)), "There were too many requests. Wait a moment and try again."),
        (.unacceptableStatus(call, response(504)), "The server took too long to respond. Try again."),
        (.unacceptableStatus(call, response(500)), "The server is having problems. Try again later."),
        (.unauthorized(call, response(401)), "Sign in to continue."),
        (.unauthorized(call, response(403)), "You do not have permission to do this."),
        (
            .api(
                call,
                APIError(
                    code: "INVALID", message: "The title is taken.",
                    errors: [.init(field: "title", message: "Choose another one.")], response: response(422))),
            "The title is taken. Choose another one."
        ),
        (
            .api(call, APIError(code: "INTERNAL", message: "", response: response(500))),
            "The server is having problems. Try again later."
        ),
        (
            .decoding(
                call, ResponseDecodingError(type: "Article", codingPath: "id", reason: "null", response: response(200))),
            "The app could not read the server’s response. Try again later, or update the app."
        ),
        (.signInRequired(call), "Sign in to continue."),
        (
            .sessionExpired(call, .noRefreshToken, response(401)),
            "Your session has expired. Sign in again to continue."
        ),
        (
            .sessionExpired(call, .rotationLost, nil),
            "Your session could not be resumed after an interruption. Sign in again to continue."
        ),
        (.sessionChanged(call), "The sign-in status has changed. Check whether this was done before you try again."),
        (
            .refreshFailed(call, RefreshError(.offline, description: "ENETDOWN"), nil),
            "You are offline. Try again when you are connected."
        ),
        (
            .refreshFailed(call, RefreshError(.status(503), description: "503"), nil),
            "Your sign-in could not be renewed. Try again in a moment."
        ),
        (
            .storageUnavailable(call, StorageError(.tooNew, "version 9")),
            "Your sign-in was saved by a newer version of this app. Update the app to continue."
        ),
        (.bodyNotReplayable(call, nil), "Something went wrong in the app. Try again."),
        (.downloadFailed(call, .noContent), "There is nothing to download on the server."),
        (
            .downloadFailed(call, .digestMismatch(expected: "aa", actual: "bb")),
            "The downloaded file was damaged and was not saved. Try again."
        ),
        (.interceptorFailed(call, CancellationError()), "Something went wrong in the app. Try again."),
        (.transport(call, CancellationError()), "Something went wrong in the app. Try again."),
    ]

    @Test("every error has a message without URLs, methods or advice for developers") func errors() {
        for (error, text) in Self.every {
            let shown = UserText.Language.$override.withValue(.english) { error.localizedDescription }
            #expect(shown == text)
            #expect(!shown.contains("GET") && !shown.contains("://"))
        }
    }

    @Test("quoted secrets are masked") func masked() {
        let refusal = APIError(
            code: nil, message: "The token \(Self.secret) is not good.", response: Self.response(400))
        let text = NetworkError.api(Self.call, refusal).localizedDescription
        #expect(text.hasPrefix("The token "))
        #expect(!text.contains(Self.secret))
    }

    @Test("every expiry reason and storage error has its own message") func reasons() {
        let reasons = [ExpiryReason.refreshTokenRejected(code: "x"), .noRefreshToken, .rotationLost]
            .map { SessionError.expired($0).localizedDescription }
        let troubles = [StorageError.Kind.locked, .unreachable, .corrupt, .tooNew, .unsafePermissions, .foreign]
            .map { StorageError($0, "errno 13").localizedDescription }
        #expect(Set(reasons + troubles).count == 9)
        #expect(troubles.allSatisfy { !$0.contains("errno") })
        // No sign-in can write what these prevent.
        for kind in [StorageError.Kind.unsafePermissions, .foreign] {
            #expect(!StorageError(kind, "").localizedDescription.contains("Sign in"))
        }
    }
}
