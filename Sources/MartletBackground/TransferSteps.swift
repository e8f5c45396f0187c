/// The steps of background transfers, for tests that end the process after each of them.
struct TransferSteps: Sendable {
    enum Step: Sendable, Hashable {
        case written(TransferRecord)
        case bodyKept, taskMade, taskResumed, downloadKept, downloadCopied, downloadPublished, recordRemoved
    }

    /// Called after each step, on the thread that does the work.
    var reached: @Sendable (Step) -> Void = { _ in }
}
