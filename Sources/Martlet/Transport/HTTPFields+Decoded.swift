internal import HTTPTypes

extension HTTPFields {
    /// Removes the fields that no longer apply to a decoded body: its encoding, its length and its digests, which are
    /// those of the encoded body (RFC 9530, sections 2 and 3).
    mutating func dropFieldsOfEncodedBody() {
        self[.contentEncoding] = nil
        self[.contentLength] = nil
        for name in ["Content-Digest", "Repr-Digest"] { HTTPField.Name(name).map { self[$0] = nil } }
    }
}
