internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The session of a user as another library stored it.
///
/// A record is read from its bytes alone: neither the other library nor its classes have to be linked.
protocol LibraryRecord: Sendable {
    /// The tokens. ``/Martlet/Tokens/expiresAt`` is by this device's clock, and lies in the past if the library would
    /// refresh before the next request.
    var tokens: Tokens { get }
    /// The user's ID as the library knows it, if the record contains it. It may come from an ID token whose signature
    /// was not verified, so use it to find data on this device, not to grant access.
    var userID: String? { get }

    /// Reads a record.
    /// - Throws: ``AdoptionError`` if the data is not a record with tokens that can be used without the library.
    init(data: Data) throws(AdoptionError)

    /// The accounts under which a second item with more of the session may be, next to the item with the record. The
    /// first that exists is used.
    /// - Parameter account: The account of the item with the record.
    func secondItems(besideItem account: String) -> [String]

    /// Adds the contents of the second item.
    mutating func add(secondItem data: Data)
}

extension LibraryRecord {
    func secondItems(besideItem account: String) -> [String] { [] }
    mutating func add(secondItem data: Data) {}

    /// The session as the store adopts it.
    var session: (tokens: Tokens, account: SessionAccount) { (tokens, SessionAccount(userID: userID)) }
}

/// The size limit of a record, in bytes. The largest known, an `OIDAuthState` with a discovery document and tokens with
/// many claims, has about 40 KB.
let largestRecord = 1 << 20

/// A date before any token was issued, for an access token that the other library would not have used again.
let longAgo = Date(timeIntervalSinceReferenceDate: 0)

/// Names the library in each failure of its reader.
func reading<Value>(
    _ library: String, _ read: () throws(RecordProblem) -> Value
) throws(AdoptionError) -> Value {
    do {
        return try read()
    } catch {
        throw AdoptionError(error, library: library)
    }
}

extension Secret {
    /// Creates a token; `nil` if the text is missing or empty. Some libraries store an empty string for a missing
    /// token.
    init?(token: String?) {
        guard let token, !token.isEmpty else { return nil }
        self.init(token)
    }
}

extension Dictionary where Key == String, Value == Secret {
    /// The additional fields of a token response, without those that have no value.
    init(fields: [String: String?]) {
        self = fields.compactMapValues { Secret(token: $0) }
    }
}

/// The subject of an ID token (OpenID Connect Core 1.0, section 2). The signature is not verified.
func subject(ofIDToken token: String?) -> String? {
    struct Claims: Decodable {
        let sub: String?
    }
    guard let parts = token?.split(separator: ".", omittingEmptySubsequences: false), parts.count == 3 else {
        return nil
    }
    var payload = String(parts[1].map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
    payload += String(repeating: "=", count: (4 - payload.utf8.count % 4) % 4)
    guard let json = Data(base64Encoded: payload) else { return nil }
    return (try? JSONDecoder().decode(Claims.self, from: json))?.sub
}
