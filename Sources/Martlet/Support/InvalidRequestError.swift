/// A request could not be built or sent, because of the app's own input.
package struct InvalidRequestError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A message that says what is wrong and, if possible, what to write instead.
    package let description: String

    /// Creates an error with a description in one sentence.
    package init(_ description: String) {
        self.description = description
    }
}
