internal import MartletTesting
internal import Testing

@testable import Martlet

@Suite("Redaction of random documents", .timeLimit(.minutes(10)))
struct RedactionPropertyTests {
    @Test("C95: no piece of a named secret is left in 2,000 random documents", arguments: 0..<8)
    func secrets(part: Int) {
        for seed in (part * 250)..<(part * 250 + 250) {
            var documents = RedactionDocuments(seed: UInt64(seed))
            let secret = documents.makeSecret()
            var copy = documents
            let document = documents.makeDocument(with: secret)
            // Pieces that the document has with every secret tell nothing.
            let skeleton = copy.makeDocument(with: "")
            let redacted = Redaction.redact(document)
            let leak = pieces(of: secret).first { redacted.contains($0) && !skeleton.contains($0) }
            #expect(leak == nil, "seed \(seed): \(leak ?? "") of \(secret) in\n\(redacted)\nfrom\n\(document)")
            #expect(redacted.contains(Redaction.mask), "seed \(seed)")
            #expect(Redaction.redact(redacted) == redacted, "seed \(seed): \(redacted)")
        }
    }

    /// All runs of six characters.
    private func pieces(of secret: String) -> [String] {
        let characters = Array(secret)
        return (0...(characters.count - 6)).map { String(characters[$0..<($0 + 6)]) }
    }
}
