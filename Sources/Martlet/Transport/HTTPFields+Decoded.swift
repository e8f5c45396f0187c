internal import HTTPTypes

extension HTTPFields {
    /// Takes away what is not so of a body that has been decoded: its encoding, its length, and the digests, which are of what
    /// came (RFC 9530, sections 2 and 3).
    mutating func dropFieldsOfEncodedBody() {
        self[.contentEncoding] = nil
        self[.contentLength] = nil
        for name in ["Content-Digest", "Repr-Digest"] { HTTPField.Name(name).map { self[$0] = nil } }
    }
}
