internal import Martlet

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The session that supabase-swift stores: JSON.
///
/// The item is a generic password. Its service is `supabase.gotrue.swift` up to 2.55.1, and the app's bundle identifier
/// after that. Its account is the client's `storageKey`: by default `sb-…-auth-token`, with the first label of the
/// project's host name, for a `SupabaseClient`; `supabase.auth.token` for an `AuthClient`; `supabase.session` before
/// 2.13.5.
///
/// Read from supabase-swift 2.55.1 (`Sources/Auth/Internal/SessionStorage.swift`, `Sources/Auth/Types.swift`). Since
/// 2.27.0 the keys are in camel case, before that in snake case; before 2.17.0 a `StoredSession` wraps the session.
struct SupabaseRecord: LibraryRecord {
    let tokens: Tokens
    /// The user's ID, in lowercase as the server writes it.
    let userID: String?

    init(data: Data) throws(AdoptionError) {
        self = try reading("supabase-swift") { () throws(RecordProblem) in
            let session = try readJSON(StoredSession.self, from: data).session
            guard let access = Secret(token: session.accessToken) else {
                throw RecordProblem(.withoutTokens, "the session has no access token")
            }
            let tokens = Tokens(
                accessToken: access,
                refreshToken: Secret(token: session.refreshToken),
                expiresAt: session.expiresAt,
                tokenType: session.tokenType,
                additionalFields: [String: Secret](fields: session.providerTokens))
            return SupabaseRecord(tokens: tokens, userID: session.userID?.lowercased())
        }
    }

    private init(tokens: Tokens, userID: String?) {
        self.tokens = tokens
        self.userID = userID
    }
}

/// The record of all versions: a session, or a session with its expiry beside it.
private struct StoredSession: Decodable {
    var session: SupabaseSession

    init(from decoder: any Decoder) throws {
        let record = try decoder.container(keyedBy: FieldName.self)
        guard record.contains("session") else {
            session = try SupabaseSession(from: decoder)
            return
        }
        session = try record.decode(SupabaseSession.self, forKey: "session")
        // The session of version 1 has no expiry.
        let expiry = try record.first(String.self, "expiration_date", "expirationDate")
        session.expiresAt = session.expiresAt ?? expiry.flatMap(Self.date)
    }

    private static func date(_ text: String) -> Date? {
        let style = Date.ISO8601FormatStyle()
        return (try? style.parse(text)) ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }
}

private struct SupabaseSession: Decodable {
    let accessToken: String
    let refreshToken: String
    let tokenType: String?
    let providerTokens: [String: String?]
    let userID: String?
    var expiresAt: Date?

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: FieldName.self)
        accessToken = try fields.required(String.self, "accessToken", "access_token")
        refreshToken = try fields.required(String.self, "refreshToken", "refresh_token")
        tokenType = try fields.first(String.self, "tokenType", "token_type")
        providerTokens = [
            "provider_token": try fields.first(String.self, "providerToken", "provider_token"),
            "provider_refresh_token": try fields.first(String.self, "providerRefreshToken", "provider_refresh_token"),
        ]
        let expiry = try fields.first(Double.self, "expiresAt", "expires_at")
        expiresAt = expiry.map(Date.init(timeIntervalSince1970:))
        let user = try? fields.nestedContainer(keyedBy: FieldName.self, forKey: "user")
        userID = try user?.first(String.self, "id")
    }
}
