internal import MartletTesting
internal import Testing

@testable import Martlet

@Suite("Redaction of random documents", .timeLimit(.minutes(10)))
struct RedactionPropertyTests {
    @Test("C95: no piece of a named secret is left in 2,000 random documents", arguments: 0..<8)
    func secrets(part: Int) {
        for seed in (part * 250)..<(part * 250 + 250) { check(seed: UInt64(seed)) }
    }

    /// Documents with an escape in the name of an attribute or a member, an angle bracket that only one of two
    /// enclosing documents has escaped, or a secret that looks like a name or a tag.
    private static let rareSeeds: [UInt64] = [
        3282, 3660, 8105, 8430, 12064, 14384, 14733, 14901, 16798, 17127, 17210, 19888, 20715, 21875, 21989, 36869,
        38977, 43468, 153_631, 167_269, 213_374, 257_459, 273_379, 503_067,
    ]

    @Test("no piece of a named secret is left in documents that are rare", arguments: rareSeeds)
    func rareDocuments(seed: UInt64) {
        check(seed: seed)
    }

    private func check(seed: UInt64) {
        var documents = RedactionDocuments(seed: seed)
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

    /// All runs of six characters.
    private func pieces(of secret: String) -> [String] {
        let characters = Array(secret)
        return (0...(characters.count - 6)).map { String(characters[$0..<($0 + 6)]) }
    }
}
