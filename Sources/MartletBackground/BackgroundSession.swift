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
        /// Unique for each transfer. The app may reuse an ID, and the end of an earlier transfer's task must not count
        /// for a later transfer.
        let run: UUID
        /// The number of the attempt, from 1.
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

    /// The plan for a task of the system.
    struct Plan: Sendable {
        enum Work: Sendable {
            case upload(path: String)
            case download
            /// The rest of a download that the system has interrupted. The data contains the request of the interrupted
            /// task.
            case resumption(Data)
        }

        let name: Name
        let request: HTTPRequest
        let work: Work
    }

    /// The end of a task.
    struct End: Sendable {
        enum Result: Sendable {
            /// The server's response after all redirects, which the system follows on its own.
            case response(HTTPResponse, body: Data?)
            /// The system ended the task for a reason other than the server or the network.
            case interrupted(Interruption, resumeData: Data?)
            case failure(String)

            /// The result of a task that ended with an error.
            /// - Parameters:
            ///   - code: The raw value of the `URLError.Code`.
            ///   - isCancelledBySystem: Whether the error contains the system's reason
            ///     (`backgroundTaskCancelledReason`).
            ///   - resumeData: The data to resume a download with.
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
            /// The system's service for background transfers has lost the task, for example because the service itself
            /// was ended.
            case disconnection
        }

        let name: Name
        let result: Result
        /// Whether a redirect led to another origin, whose response says nothing about the token.
        let leftOrigin: Bool
        /// Whether a redirect has changed the method.
        let hasOtherMethod: Bool
    }

    /// `nil` for a task that does not belong to Martlet.
    let name: Name?
    /// Resumes the task. Does nothing if it already runs or has ended.
    let resume: @Sendable () -> Void
    let cancel: @Sendable () -> Void
}
