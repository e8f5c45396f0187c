internal import HTTPTypes

/// Takes the body of a good answer where it is not to come into memory as a whole.
///
/// It is asked again with each attempt of a call. The answers that it does not take are read, validated and refused as all
/// others are, so that a 401 on the way is a matter of the one pipeline.
protocol AnswerReceiver: Sendable {
    /// Whether it goes on reading when the call has returned: the connection is then still in use.
    var outlivesCall: Bool { get }
    /// The number of the attempt under way.
    var attempt: Int { get }
    /// Changes the request before an attempt.
    func adapt(_ request: inout HTTPRequest)
    /// Whether the body of such an answer is for it.
    func takes(_ head: HTTPResponse, to endpoint: any Endpoint) -> Bool
    /// Takes the body, and returns when it has it. It may be given up on the way, and is not waited for then.
    func receive(_ answer: IncomingAnswer) async throws
    /// Makes use of the body that it has. It is waited for, whatever happens meanwhile.
    func finish(_ head: HTTPResponse) async throws
    /// Whether the call is to be sent again at once, because what failed was the receiver's own wish.
    func startsOver(after failure: NetworkError) -> Bool
}

/// An answer whose body is still to be read.
struct IncomingAnswer: Sendable {
    /// The number of the attempt that it answers.
    let attempt: Int
    let head: HTTPResponse
    let body: ByteStream
    let call: FailedCall
    /// To be told with each piece how much has come, so that the time limit starts anew and whoever watches knows.
    let progress: @Sendable (TransferCount) -> Void
    /// To be told when a body has come to its end that outlives its call.
    let finish: @Sendable () -> Void
    /// Held while the connection is in use.
    let place: HeldPlace?
}

/// A place among the requests under way at an origin, given back with the last reference to it.
final class HeldPlace: Sendable {
    private let giveBack: @Sendable () -> Void

    init(_ giveBack: @escaping @Sendable () -> Void) {
        self.giveBack = giveBack
    }

    deinit { giveBack() }
}
