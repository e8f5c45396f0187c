/// What is wrong with a request that could not be built.
public struct RequestProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence that says what is wrong and, where it can, what to write instead.
    public let description: String

    /// A problem in one sentence.
    public init(_ description: String) {
        self.description = description
    }
}
