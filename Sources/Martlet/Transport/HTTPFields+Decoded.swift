internal import HTTPTypes

extension HTTPFields {
    /// Announces only the codings that the body still has.
    ///
    /// If some have been decoded, the fields that describe the encoded body are removed: its length, its range, and its
    /// digests (RFC 9110, section 14.4; RFC 9530, sections 2 and 3).
    mutating func announce(_ left: ContentCodings) {
        guard contains(.contentEncoding) else { return }
        guard left != ContentCodings(self) else {
            if left.names.isEmpty { self[.contentEncoding] = nil }
            return
        }
        self[.contentEncoding] = left.field
        self[.contentLength] = nil
        self[.contentRange] = nil
        for name in Self.digests { self[name] = nil }
    }

    /// The names of the digests of a body or of its representation (RFC 9530).
    static let digests = ["Content-Digest", "Repr-Digest"].compactMap { HTTPField.Name($0) }
}
