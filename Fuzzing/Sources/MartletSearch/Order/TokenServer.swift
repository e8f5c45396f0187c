@testable import Martlet

/// A server with rotating refresh tokens that ends a session whose spent token it gets again.
struct TokenServer {
    /// The number of the refresh token in force, for each session.
    private var current: [Int] = []
    private var ended: Set<Int> = []
    /// Whether the server has ended a session by itself.
    private(set) var hasEnded = false

    mutating func signIn() -> Tokens {
        current.append(0)
        return tokens(current.count - 1, 0)
    }

    /// - Returns: `nil` if the server refuses the token.
    mutating func refresh(_ spent: Tokens) -> Tokens? {
        guard let (session, number) = name(of: spent), !ended.contains(session) else { return nil }
        guard number == current[session] else {
            ended.insert(session)
            hasEnded = true
            return nil
        }
        current[session] = number + 1
        return tokens(session, number + 1)
    }

    /// Ends the latest session by itself.
    mutating func endSession() {
        guard !current.isEmpty else { return }
        ended.insert(current.count - 1)
        hasEnded = true
    }

    mutating func revoke(_ tokens: Tokens) {
        if let (session, _) = name(of: tokens) { ended.insert(session) }
    }

    private func tokens(_ session: Int, _ number: Int) -> Tokens {
        Tokens(accessToken: Secret("a \(session) \(number)"), refreshToken: Secret("\(session) \(number)"))
    }

    private func name(of tokens: Tokens) -> (session: Int, number: Int)? {
        let numbers = tokens.refreshToken?.reveal().split(separator: " ").compactMap { Int($0) } ?? []
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }
}
