internal import HTTPTypes
internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The system's side of background transfers: on Apple platforms a background `URLSession`, in tests a fake.
struct BackgroundSession: Sendable {
    /// The tasks that the system has not finished, in any process of the app.
    var tasks: @Sendable () async -> [BackgroundTask]
    /// Creates a suspended task. Blocks. The file of an upload must exist.
    var makeTask: @Sendable (BackgroundTask.Plan) throws -> BackgroundTask
}

/// A task of the system. Nothing but its name is known after a launch.
struct BackgroundTask: Sendable {
    /// Identifies one attempt of a transfer. The system keeps it with the task.
    struct Name: Hashable, Sendable, CustomStringConvertible {
        let id: UUID
        /// Differs for each transfer, although the app may use an ID again: the end of the first one's task must not
        /// count as that of the second one's.
        let run: UUID
        /// From 1.
        let attempt: Int

        init(id: UUID, run: UUID, attempt: Int) {
            self.id = id
            self.run = run
            self.attempt = attempt
        }

        init?(_ text: String?) {
            let parts = text?.split(separator: "/", omittingEmptySubsequences: false) ?? []
            guard parts.count == 3, let id = UUID(uuidString: String(parts[0])),
                let run = UUID(uuidString: String(parts[1])), let attempt = Int(parts[2])
            else { return nil }
            self.init(id: id, run: run, attempt: attempt)
        }

        var description: String { "\(id.uuidString)/\(run.uuidString)/\(attempt)" }
    }

    /// The plan by which the system makes a task.
    struct Plan: Sendable {
        enum Work: Sendable {
            case upload(path: String)
            case download
            /// The rest of a download that the system has interrupted. It has the request of the interrupted one.
            case resumption(Data)
        }

        let name: Name
        let request: HTTPRequest
        let work: Work
    }

    /// The end of a task.
    struct End: Sendable {
        enum Result: Sendable {
            /// The server's response, after all redirects, which the system follows by itself.
            case response(HTTPResponse, body: Data?)
            /// The system has ended the task. Neither the server nor the network was the reason.
            case interrupted(Interruption, resumeData: Data?)
            case failure(String)

            /// The result of a task that ended with an error.
            /// - Parameters:
            ///   - code: The raw value of the `URLError.Code`.
            ///   - isCancelledBySystem: Whether the error has a reason of the system (`backgroundTaskCancelledReason`).
            ///   - resumeData: The data with which a download goes on.
            init(code: Int, isCancelledBySystem: Bool, resumeData: Data?) {
                switch code {
                case _ where isCancelledBySystem: self = .interrupted(.cancellation, resumeData: resumeData)
                case Self.disconnected: self = .interrupted(.disconnection, resumeData: resumeData)
                default: self = .failure("URLError \(code)" + (Self.advice[code].map { ": \($0)" } ?? ""))
                }
            }

            /// `NSURLErrorBackgroundSessionWasDisconnected`
            private static let disconnected = -997
            private static let advice = [
                // NSURLErrorBackgroundSessionInUseByAnotherProcess
                -996: "another process uses this identifier. Give each process of the app its own",
                // NSURLErrorBackgroundSessionRequiresSharedContainer
                -995: "an app extension needs BackgroundTransferOptions.sharedContainerIdentifier",
            ]
        }

        /// The reason why the system has ended a task.
        enum Interruption: Sendable {
            /// The user has quit the app, or the system had to cancel the task.
            case cancellation
            /// The system's service for background transfers has lost the task, for example because it was ended
            /// itself.
            case disconnection
        }

        let name: Name
        let result: Result
        /// Whether a redirect led to another origin, whose response says nothing about the token.
        let leftOrigin: Bool
    }

    /// `nil` for a task that does not belong to Martlet.
    let name: Name?
    /// Does nothing to a task that runs or has ended.
    let resume: @Sendable () -> Void
    let cancel: @Sendable () -> Void
}
