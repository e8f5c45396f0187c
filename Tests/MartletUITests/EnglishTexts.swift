import Martlet
import Testing

/// Runs tests with English texts, whatever the language of the machine.
struct EnglishTexts: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await UserText.Language.$override.withValue(.english, operation: function)
    }
}

extension Trait where Self == EnglishTexts {
    static var english: EnglishTexts { EnglishTexts() }
}
