import Foundation
import Logging

/// Creates, refreshes and ends sessions. A session is a family of refresh tokens, each of which replaces the previous
/// one.
struct Sessions: Sendable {
    let store: Store
    let state: BackendState
    let accessTokens: AccessTokens
    let logger: Logger

    /// The consequence of a used refresh token.
    enum UsedToken: Sendable {
        /// The same pair was returned again, within the grace period.
        case repeated
        /// The session has ended.
        case ended
    }

    /// Called for a used refresh token, in the task of the request that presented it.
    @TaskLocal static var onUsedToken: (@Sendable (UsedToken) -> Void)?

    func open(for user: UserRecord) async throws -> SessionGrant {
        let familyID = RandomBytes.identifier()
        let refreshToken = newRefreshToken()
        let row = newRow(for: refreshToken)
        try await store.insertFamily(id: familyID, userID: user.id, first: row)
        let accessToken = try await accessTokens.issue(userID: user.id, familyID: familyID)
        return grant(user, accessToken: accessToken, refreshToken: refreshToken.text, until: row.expiresAt)
    }

    /// Exchanges a refresh token for a new pair, or for a new access token only if `rotates` is `false`.
    func refresh(_ text: String, rotates: Bool) async throws -> SessionGrant {
        do {
            let grant = try await exchange(.refreshToken(text), rotates: rotates && !state.settings.omitRefreshToken)
            state.count { $0.refreshesSucceeded += 1 }
            return grant
        } catch let error as APIError {
            state.count { $0.refreshesRefused += 1 }
            throw error
        }
    }

    private func exchange(_ presented: OpaqueToken, rotates: Bool) async throws -> SessionGrant {
        guard let (record, user) = try await usable(presented) else { throw APIError.refreshRefused }
        if record.spentAt != nil { return try await grantForUsedToken(presented, record, user) }
        let accessToken = try await accessTokens.issue(userID: user.id, familyID: record.familyID)
        if !rotates { return grant(user, accessToken: accessToken, refreshToken: nil, until: record.expiresAt) }

        let next = newRefreshToken()
        let row = newRow(for: next)
        let pair = TokenPair(accessToken: accessToken, refreshToken: next.text)
        let isRotated = try await store.rotate(
            presented.hash, familyID: record.familyID, to: row, sealed: try pair.sealed(under: presented), at: now)
        if isRotated { return grant(user, accessToken: accessToken, refreshToken: next.text, until: row.expiresAt) }
        guard let (current, _) = try await usable(presented) else { throw APIError.refreshRefused }
        return try await grantForUsedToken(presented, current, user)
    }

    /// Handles a refresh with a used refresh token (RFC 9700 section 4.14.2).
    ///
    /// Reuse means that two parties hold tokens of the family, so the session ends. Within the grace period the same
    /// pair is returned again, because the first response may have been lost.
    private func grantForUsedToken(
        _ presented: OpaqueToken, _ record: RefreshTokenRecord, _ user: UserRecord
    ) async throws -> SessionGrant {
        let grace = state.settings.rotationGrace
        if grace > .zero, let spentAt = record.spentAt, let sealed = record.successor, now - spentAt <= grace {
            let pair = try TokenPair(opening: sealed, with: presented)
            state.count { $0.refreshesRepeated += 1 }
            Self.onUsedToken?(.repeated)
            return grant(user, accessToken: pair.accessToken, refreshToken: pair.refreshToken, until: record.expiresAt)
        }
        state.count { $0.reuseDetected += 1 }
        logger.notice("A used refresh token was sent again; its session is revoked.")
        try await revoke(.family(record.familyID), refusingAccess: true)
        Self.onUsedToken?(.ended)
        throw APIError.refreshRefused
    }

    private func usable(_ presented: OpaqueToken) async throws -> (RefreshTokenRecord, UserRecord)? {
        guard !state.settings.refreshTokenRejected,
            let record = try await store.refreshToken(hash: presented.hash), !record.isFamilyRevoked,
            record.expiresAt > now, let user = try await store.user(id: record.userID)
        else { return nil }
        return (record, user)
    }

    /// Ends sessions. With `refusingAccess`, their access tokens are rejected at once; otherwise they remain valid
    /// until they expire.
    func revoke(_ scope: RevocationScope, refusingAccess: Bool) async throws {
        let families = try await store.revokeFamilies(scope, refusingAccess: refusingAccess, at: now)
        if refusingAccess { state.refuseAccess(familyIDs: families) }
        state.count { $0.revocations += families.count }
    }

    /// The family of a refresh token, whether or not the token is still valid.
    func family(ofRefreshToken text: String) async throws -> String? {
        try await store.refreshToken(hash: OpaqueToken.refreshToken(text).hash)?.familyID
    }

    private var now: Timestamp { state.now }

    private func newRefreshToken() -> OpaqueToken {
        let token = OpaqueToken.newRefreshToken()
        state.issued(token.text)
        return token
    }

    private func newRow(for token: OpaqueToken) -> NewRefreshToken {
        NewRefreshToken(hash: token.hash, expiresAt: now + state.settings.refreshTokenLifetime)
    }

    private func grant(
        _ user: UserRecord, accessToken: String, refreshToken: String?, until end: Timestamp
    ) -> SessionGrant {
        SessionGrant(
            user: user, accessToken: accessToken, refreshToken: refreshToken, refreshTokenExpiresAt: end,
            expiresIn: state.settings.expiresInMember)
    }
}

/// The tokens and the user that a sign-in or a refresh returns.
struct SessionGrant: Sendable {
    var user: UserRecord
    var accessToken: String
    /// `nil` if the received refresh token stays valid.
    var refreshToken: String?
    var refreshTokenExpiresAt: Timestamp
    /// The stated lifetime of the access token; `nil` omits it.
    var expiresIn: JSONValue?
}
