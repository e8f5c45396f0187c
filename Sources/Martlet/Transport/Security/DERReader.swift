/// Reads as much DER (ITU-T X.690) as is needed to find the public key of a certificate.
///
/// The bytes are not trusted. Invalid bytes end the reading, and nothing is copied or decoded.
struct DERReader {
    /// One element: its tag, its content, and all its bytes.
    struct Element {
        var tag: UInt8
        var content: ArraySlice<UInt8>
        var encoded: ArraySlice<UInt8>
    }

    static let sequence: UInt8 = 0x30
    private static let integer: UInt8 = 0x02
    private static let bitString: UInt8 = 0x03
    /// The explicit tag of a certificate's version.
    private static let version: UInt8 = 0xA0

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// The next element; `nil` at the end, or if it is not valid.
    mutating func next() -> Element? {
        var bytes = rest
        // A tag whose low bits are all set continues in the next byte. The parts of a certificate that are read here
        // have none.
        guard let tag = bytes.popFirst(), tag & 0x1F != 0x1F, let count = Self.length(&bytes), count <= bytes.count
        else { return nil }
        let content = bytes.prefix(count)
        let element = Element(tag: tag, content: content, encoded: rest[rest.startIndex..<content.endIndex])
        rest = rest[content.endIndex...]
        return element
    }

    mutating func next(_ tag: UInt8) -> Element? {
        guard let element = next(), element.tag == tag else { return nil }
        return element
    }

    /// A definite length in the fewest bytes, as DER requires.
    private static func length(_ bytes: inout ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.popFirst() else { return nil }
        guard first & 0x80 != 0 else { return Int(first) }
        let size = Int(first & 0x7F)
        guard (1...3).contains(size), bytes.count >= size, bytes.first != 0 else { return nil }
        let length = bytes.prefix(size).reduce(0) { $0 << 8 | Int($1) }
        bytes = bytes.dropFirst(size)
        return length >= 0x80 ? length : nil
    }

    /// The `SubjectPublicKeyInfo` of a certificate (RFC 5280, section 4.1); `nil` if this is not a certificate.
    static func publicKey(ofCertificate der: [UInt8]) -> ArraySlice<UInt8>? {
        var file = DERReader(der[...])
        guard let certificate = file.next(sequence), file.isAtEnd else { return nil }
        var parts = DERReader(certificate.content)
        guard let signed = parts.next(sequence), parts.next(sequence) != nil, parts.next(bitString) != nil,
            parts.isAtEnd
        else { return nil }
        var fields = DERReader(signed.content)
        var serial = fields.next()
        if serial?.tag == version { serial = fields.next() }
        // Serial number, signature algorithm, issuer, validity and subject precede the key.
        guard serial?.tag == integer, (0..<4).allSatisfy({ _ in fields.next(sequence) != nil }),
            let key = fields.next(sequence)?.encoded, isPublicKey(key)
        else { return nil }
        return key
    }

    /// Whether the bytes are one `SubjectPublicKeyInfo`: an algorithm and a bit string.
    static func isPublicKey(_ der: ArraySlice<UInt8>) -> Bool {
        var file = DERReader(der)
        guard let key = file.next(sequence), file.isAtEnd else { return false }
        var parts = DERReader(key.content)
        return parts.next(sequence) != nil && parts.next(bitString) != nil && parts.isAtEnd
    }
}
