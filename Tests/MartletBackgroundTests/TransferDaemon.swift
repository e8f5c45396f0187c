import Foundation
import HTTPTypes

@testable import Martlet
@testable import MartletBackground

/// The system's daemon for background transfers (`nsurlsessiond`), as Apple documents it. It outlives the process.
///
/// - A task sends its request only once it has been resumed, and only from a file. A missing file raises an exception.
/// - The ends of tasks are kept until an app creates the session with its identifier, and are then delivered one after
///   another on a thread of the system. `tasks` does not name a task that has ended.
/// - A downloaded file is deleted when the delegate returns.
/// - The system tells when it has delivered all events if it has launched the app for them.
final class TransferDaemon: Sendable {
    /// The server's answer to a request and its body.
    typealias Server = @Sendable (HTTPRequest, Data) -> Answer

    struct Answer: Sendable {
        var status = 200
        var body = Data()
        /// Whether a redirect led to another origin.
        var leftOrigin = false
        /// Whether a redirect has changed the method.
        var hasOtherMethod = false
    }

    struct Job: Sendable {
        let plan: BackgroundTask.Plan
        var isResumed = false
    }

    enum Event: Sendable {
        /// Without a content the system's file is gone.
        case download(BackgroundTask.End, content: Data?)
        case end(BackgroundTask.End)
    }

    struct State: Sendable {
        var jobs: [BackgroundTask.Name: Job] = [:]
        var events: [Event] = []
        /// The requests that reached the server, by the token that they carried.
        var requests: [(token: String, method: String, body: Data, isResumption: Bool)] = []
        /// The number of times the server accepted a request.
        var accepted = 0
        var cancelled: [BackgroundTask.Name] = []
    }

    /// Refers to the process without keeping it.
    private struct App: Sendable {
        weak var transfers: BackgroundTransfers?
    }

    let state: Locked<State>
    private let folder: String
    private let app = Locked(App())
    private let queue = BlockingQueue("transfer-daemon")
    /// Whether events arrive before the app has asked for the tasks.
    let deliversAtOnce = Locked(false)

    /// - Parameter folder: For the files of downloads.
    init(folder: String, _ state: State = State()) {
        self.folder = folder
        self.state = Locked(state)
    }

    func connect(_ transfers: BackgroundTransfers) -> BackgroundSession {
        app.withLock { $0.transfers = transfers }
        if deliversAtOnce.withLock({ $0 }) { deliverHere() }
        return BackgroundSession(
            tasks: { [self] in state.withLock { $0.jobs.keys.map(task) } },
            makeTask: { [self] plan in
                if case .upload(let path) = plan.work, !FileManager.default.isReadableFile(atPath: path) {
                    fatalError("Cannot read file at \(path)")
                }
                state.withLock { $0.jobs[plan.name] = Job(plan: plan) }
                return task(plan.name)
            })
    }

    private func task(_ name: BackgroundTask.Name) -> BackgroundTask {
        BackgroundTask(
            name: name, resume: { [self] in state.withLock { $0.jobs[name]?.isResumed = true } },
            cancel: { [self] in
                state.withLock { state in
                    guard state.jobs.removeValue(forKey: name) != nil else { return }
                    state.cancelled.append(name)
                    state.events.append(
                        .end(
                            .init(
                                name: name, result: .failure("URLError -999"), leftOrigin: false, hasOtherMethod: false)
                        ))
                }
            })
    }

    // MARK: - The test's hand

    /// Sends the requests of all resumed tasks.
    func perform(_ server: @escaping Server) async {
        await queue.run { [self] in
            for (name, job) in state.withLock({ $0.jobs }) where job.isResumed {
                var body = Data()
                if case .upload(let path) = job.plan.work { body = FileManager.default.contents(atPath: path) ?? body }
                let request = job.plan.request
                let answer = server(request, body)
                var isResumption = false
                if case .resumption = job.plan.work { isResumption = true }
                let head = HTTPResponse(status: .init(code: answer.status))
                let isUpload = if case .upload = job.plan.work { true } else { false }
                let end = BackgroundTask.End(
                    name: name, result: .response(head, body: isUpload ? answer.body : nil),
                    leftOrigin: answer.leftOrigin, hasOtherMethod: answer.hasOtherMethod)
                state.withLock { state in
                    state.jobs[name] = nil
                    let token = request.headerFields[.authorization] ?? "none"
                    state.requests.append((token, request.method.rawValue, body, isResumption))
                    if answer.status < 300 { state.accepted += 1 }
                    if !isUpload { state.events.append(.download(end, content: answer.body)) }
                    state.events.append(.end(end))
                }
            }
        }
    }

    /// The user quits the app: the system cancels its tasks, and tells it at the next launch.
    func forceQuit(resumeData: Data? = nil) {
        end(with: -999, isCancelledBySystem: true, resumeData: resumeData)
    }

    /// Ends all tasks with an error.
    /// - Parameter code: The raw value of the `URLError.Code`.
    func end(with code: Int, isCancelledBySystem: Bool = false, resumeData: Data? = nil) {
        let result = BackgroundTask.End.Result(
            code: code, isCancelledBySystem: isCancelledBySystem, resumeData: resumeData)
        state.withLock { state in
            for name in state.jobs.keys {
                state.jobs[name] = nil
                state.events.append(.end(.init(name: name, result: result, leftOrigin: false, hasOtherMethod: false)))
            }
        }
    }

    /// Delivers the ends of tasks to the app that has created the session.
    /// - Parameter tellsEnd: Whether the system has launched or woken the app for them.
    func deliver(tellsEnd: Bool = false) async {
        await queue.run { [self] in
            deliverHere()
            if tellsEnd { app.withLock { $0.transfers }?.systemDidDeliverEvents() }
        }
    }

    private func deliverHere() {
        while let transfers = app.withLock({ $0.transfers }),
            let event = state.withLock({ $0.events.isEmpty ? nil : $0.events.removeFirst() })
        {
            switch event {
            case .end(let end): transfers.systemDidEnd(end)
            case .download(let end, let content):
                let file = "\(folder)/CFNetworkDownload_\(UUID().uuidString).tmp"
                if let content { _ = FileManager.default.createFile(atPath: file, contents: content) }
                transfers.systemDidDownload(end, to: file)
                try? FileManager.default.removeItem(atPath: file)
            }
        }
    }
}
