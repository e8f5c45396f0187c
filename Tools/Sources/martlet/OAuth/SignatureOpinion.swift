internal import ArgumentParser
internal import Foundation
internal import JWTKit

/// The verdict of jwt-kit on the signatures of ID tokens.
struct SignatureOpinion: Sendable {
    /// A line of a file that MartletOAuth's tests have written.
    struct Line: Decodable {
        let token: String
        /// The text of the server's key set.
        let keys: String
    }

    /// Any claims: only the signature is judged.
    private struct Claims: JWTPayload {
        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    /// Whether jwt-kit finds a key that verifies the token.
    static func accepts(_ line: Line) async -> Bool {
        do {
            let keys = try await JWTKeyCollection().add(jwksJSON: line.keys)
            _ = try await keys.verify(line.token, as: Claims.self)
            return true
        } catch {
            return false
        }
    }
}

/// `martlet oauth-verdicts`: a part of `make oauth-verdicts`.
struct OAuthVerdictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oauth-verdicts", abstract: "jwt-kit's verdicts about the signatures of exported ID tokens.",
        discussion: "Prints a line for each token: accepts or refuses. Tools/Interop/oauth_verdicts.py compares them.",
        shouldDisplay: false)

    @Argument(help: "The files that MartletOAuth's tests have written.")
    var files: [String]

    func run() async throws {
        var lines: [String] = []
        for file in files {
            for text in try Data(contentsOf: URL(filePath: file)).split(separator: UInt8(ascii: "\n")) {
                let line = try JSONDecoder().decode(SignatureOpinion.Line.self, from: text)
                lines.append(await SignatureOpinion.accepts(line) ? "accepts" : "refuses")
            }
        }
        let output = lines.joined(separator: "\n") + "\n"
        try FileHandle.standardOutput.write(contentsOf: Data(output.utf8))
    }
}
