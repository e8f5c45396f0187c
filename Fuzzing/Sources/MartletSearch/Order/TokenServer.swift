@testable import Martlet

/// A server with rotating refresh tokens. It ends a session when it receives a spent token again.
struct TokenServer {
    /// The number of the refresh token in force, for each session.
    private var current: [Int] = []
    private var ended: Set<Int> = []
    private var revoked: Set<Int> = []
    private var hasLostResponse: Set<Int> = []
    /// Whether the server has ended a session on its own.
    private(set) var hasEnded = false

    mutating func signIn() -> Tokens {
        current.append(0)
        return tokens(current.count - 1, 0)
    }

    /// - Parameter isLost: Whether the response does not arrive.
    /// - Returns: `nil` if the server refuses the token.
    mutating func refresh(_ spent: Tokens, isLost: Bool) -> Tokens? {
        guard let (session, number) = name(of: spent), !ended.contains(session) else { return nil }
        if isLost { hasLostResponse.insert(session) }
        guard number == current[session] else {
            ended.insert(session)
            hasEnded = true
            return nil
        }
        current[session] = number + 1
        return tokens(session, number + 1)
    }

    /// Ends the latest session on its own.
    mutating func endSession() {
        guard !current.isEmpty else { return }
        ended.insert(current.count - 1)
        hasEnded = true
    }

    /// Revokes a session's tokens. A replaced refresh token is unknown, so it revokes nothing (RFC 7009, section 2.2).
    mutating func revoke(_ tokens: Tokens) {
        guard let (session, number) = name(of: tokens), number == current[session] else { return }
        ended.insert(session)
        revoked.insert(session)
    }

    func hasRevoked(_ session: Int) -> Bool { revoked.contains(session) }

    /// Whether the server accepts the newest tokens of a session, and a process has received them.
    func accepts(_ session: Int) -> Bool { !ended.contains(session) && !hasLostResponse.contains(session) }

    private func tokens(_ session: Int, _ number: Int) -> Tokens {
        Tokens(accessToken: Secret("a \(session) \(number)"), refreshToken: Secret("\(session) \(number)"))
    }

    private func name(of tokens: Tokens) -> (session: Int, number: Int)? {
        let numbers = tokens.refreshToken?.reveal().split(separator: " ").compactMap { Int($0) } ?? []
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }
}
