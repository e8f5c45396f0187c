import Crypto
import Foundation
import JWTKit

/// Issues and verifies access tokens.
struct AccessTokens: Sendable {
    private let keys: JWTKeyCollection
    private let store: Store
    private let state: BackendState

    init(store: Store, state: BackendState) async throws {
        self.store = store
        self.state = state
        let pem = try store.signingKeyPEM { ES256PrivateKey().pemRepresentation }
        keys = await JWTKeyCollection().add(ecdsa: try ES256PrivateKey(pem: pem))
    }

    func issue(userID: String, familyID: String) async throws -> String {
        let settings = state.settings
        let now = Timestamp.now(offsetBy: settings.dateOffset)
        let epoch = state.epoch
        if settings.opaqueAccessTokens {
            let token = OpaqueToken()
            let record = OpaqueTokenRecord(
                userID: userID, familyID: familyID, expiresAt: now + settings.accessTokenLifetime, epoch: epoch)
            try await store.insert(record, hash: token.hash)
            state.issued(token.text)
            return token.text
        }
        let times = TokenTimes(issuedAt: now, settings: settings)
        let claims = AccessClaims(
            sub: userID, iat: times.issuedAt, exp: times.expiry, jti: RandomBytes.identifier(), sid: familyID,
            epoch: epoch)
        let token = try await keys.sign(claims)
        state.issued(token)
        return token
    }

    func inspect(_ token: String) async throws -> AccessTokenState {
        guard let identity = try await identity(of: token) else { return .invalid }
        let settings = state.settings
        if settings.rejectAllAccessTokens || state.refusesAccess(familyID: identity.familyID) {
            return .refused(identity)
        }
        let isOver = identity.expiresAt <= Timestamp.now(offsetBy: settings.dateOffset)
        return isOver || identity.epoch < state.epoch ? .expired(identity) : .valid(identity)
    }

    private func identity(of token: String) async throws -> AccessIdentity? {
        if let opaque = OpaqueToken(text: token) {
            return try await store.opaqueToken(hash: opaque.hash).map { record in
                AccessIdentity(
                    userID: record.userID, familyID: record.familyID, expiresAt: record.expiresAt, epoch: record.epoch)
            }
        }
        guard let claims = try? await keys.verify(token, as: AccessClaims.self),
            let expiry = TokenTimes.end(issuedAt: claims.iat, expiry: claims.exp)
        else { return nil }
        return AccessIdentity(userID: claims.sub, familyID: claims.sid, expiresAt: expiry, epoch: claims.epoch)
    }
}

/// The user and session of an access token.
struct AccessIdentity: Sendable {
    var userID: String
    var familyID: String
    var expiresAt: Timestamp
    var epoch: Int
}

/// The result of verifying an access token.
enum AccessTokenState: Sendable {
    case valid(AccessIdentity)
    case expired(AccessIdentity)
    /// Genuine, but its session was revoked or the settings reject it.
    case refused(AccessIdentity)
    case invalid

    /// The identity of a genuine token, whether or not it is still accepted.
    var identity: AccessIdentity? {
        switch self {
        case .valid(let identity), .expired(let identity), .refused(let identity): identity
        case .invalid: nil
        }
    }
}

/// The claims of an access token. `sid` is its session, and tokens of an earlier `epoch` count as expired.
private struct AccessClaims: JWTPayload {
    var sub: String
    var iat: JSONValue
    var exp: JSONValue
    var jti: String
    var sid: String
    var epoch: Int

    // The backend's own clock decides about expiry, because settings can move it.
    func verify(using algorithm: some JWTAlgorithm) async throws {}
}
