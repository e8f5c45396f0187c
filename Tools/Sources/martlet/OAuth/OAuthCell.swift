internal import Foundation

/// One feature that must work between a server and Martlet, by its name in the table.
struct OAuthCell: Sendable {
    let name: String
    /// The reason why the server does not offer it.
    var missing: String?
    let run: @Sendable (OAuthCells) async throws -> Void

    /// Whether it is part of the short run, which covers every way to sign in and every end of a session.
    var isInShortRun: Bool {
        [
            "PAR", "loopback", "claimed redirect", "ID token ES256", "ID token EdDSA", "ID token HS256 refused",
            "ID token none refused", "refresh, same sub", "revocation", "logout",
        ].contains(name)
    }
}

/// The result of a cell.
enum OAuthResult: Sendable {
    case passed(seconds: Double)
    case missing(String)
    case failed(String)

    var text: String {
        switch self {
        case .passed(let seconds): String(format: "%.1f s", seconds)
        case .missing: "-"
        case .failed: "FAILED"
        }
    }
}

/// The error of a cell that did not show the expected behavior.
struct OAuthCellError: Error, CustomStringConvertible {
    let description: String

    static func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
        if !condition { throw OAuthCellError(description: text()) }
    }
}
