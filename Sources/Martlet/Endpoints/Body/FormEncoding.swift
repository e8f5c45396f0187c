/// Encodes form fields (`application/x-www-form-urlencoded`): everything but letters, digits and `*-._` is
/// percent-encoded, and a space becomes a plus.
package enum FormEncoding {
    package static func encode(_ fields: Query) -> String {
        fields.items.map { "\(encode($0.name))=\(encode($0.value ?? ""))" }.joined(separator: "&")
    }

    static func encode(_ text: String) -> String {
        let escaped = PercentEncoding.encode(text) { byte in
            byte == UInt8(ascii: "*") || byte == UInt8(ascii: " ")
                || (PercentEncoding.isUnreserved(byte) && byte != UInt8(ascii: "~"))
        }
        return String(decoding: escaped.utf8.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 }, as: UTF8.self)
    }
}
