/// Tells at which step of its work a file is, for tests that end the process right there.
struct FileSteps: Sendable {
    enum Step: Sendable, Hashable {
        case locked
        case lockSigned
        case successorMade
        case takenAway
        case temporaryMade
        case written
        case flushed
        case renamed
        case folderFlushed
        case unlinked
    }

    /// Called at each step, on the thread that does the work.
    var reached: @Sendable (Step) -> Void = { _ in }

    /// Nobody is told.
    static let untold = FileSteps()
}
