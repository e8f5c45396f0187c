public import Martlet

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The tokens of a user that an earlier version of the app, or another library, has left on the device. A store takes
/// them over, so that an update signs no user out.
///
/// ```swift
/// let store = AnyTokenStore.keychain(service: "com.example.app")
///     .adopting(.keychain(service: "com.example.app.auth", accessToken: "access", refreshToken: "refresh"))
/// let tokens = TokenManager(baseURL: api, store: store, refresher: .json(path: "/auth/refresh"))
/// ```
public struct FormerTokens: Sendable {
    /// Identifies the place. It must never change, because the store remembers it.
    let place: String
    let read: @Sendable (AnyTokenStore) async throws -> (tokens: Tokens, account: SessionAccount)?
    /// Notes at the place itself that the tokens were adopted.
    let note: @Sendable () async throws -> Void
    let delete: @Sendable (AnyTokenStore) async throws -> Void

    init(
        place: String,
        read: @escaping @Sendable (AnyTokenStore) async throws -> (tokens: Tokens, account: SessionAccount)?,
        note: @escaping @Sendable () async throws -> Void = {},
        delete: @escaping @Sendable (AnyTokenStore) async throws -> Void
    ) {
        self.place = place
        self.read = read
        self.note = note
        self.delete = delete
    }

    /// Tokens in a place of your own, such as a file or a database.
    /// - Parameters:
    ///   - place: The name of the place. It must stay the same in all versions of the app, because the store remembers
    ///     under this name that the tokens were taken over.
    ///   - read: Reads the tokens; `nil` if there are none. If they cannot be read now, throw an error: after `nil`,
    ///     they are not read again once another session has begun. On a locked device, throw a
    ///     ``/Martlet/StorageError`` of the kind `locked`. Set ``/Martlet/Tokens/expiresAt`` if it is known;
    ///     otherwise the access token is used until the server rejects it.
    ///   - account: The user of the tokens, if the app knows it.
    ///   - delete: Deletes the tokens. It must do nothing if there are none.
    public init(
        named place: String, read: @escaping @Sendable () async throws -> Tokens?,
        account: @escaping @Sendable (Tokens) -> SessionAccount = { _ in SessionAccount() },
        delete: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.init(
            place: place, read: { _ in try await read().map { ($0, account($0)) } },
            delete: { _ in try await delete() })
    }
}

extension FormerTokens {
    /// The record of another library in a place of your own: AppAuth's state, for example, is stored by the app itself.
    /// - Parameters:
    ///   - place: The name of the place. It must stay the same in all versions of the app.
    ///   - library: The library that has encoded the record.
    ///   - read: Reads the bytes of the record; `nil` if there are none.
    ///   - delete: Deletes the record. It must do nothing if there is none.
    public init(
        named place: String, writtenBy library: FormerLibrary, read: @escaping @Sendable () async throws -> Data?,
        delete: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.init(
            place: place, read: { _ in try await read().map(library.session(in:)) }, delete: { _ in try await delete() }
        )
    }
}

extension AnyTokenStore {
    /// This store, which adopts tokens from another place before a ``/Martlet/TokenManager`` first reads it.
    ///
    /// The adoption is that of ``adopt(_:deletingThem:)``. While the former tokens cannot be read because the device is
    /// locked, the state of the manager is `unavailable`, and the session begins once the device is unlocked: the app
    /// shows no login in between. A sign-in or a sign-out in between is final: the tokens are not adopted afterwards.
    /// Any other failure means that there are no tokens to adopt now.
    /// - Parameters:
    ///   - former: The tokens, and their place.
    ///   - deletesThem: Whether to delete the former tokens.
    ///   - onFailure: Called with the error if the tokens could not be adopted, for a log. The next launch tries again.
    public func adopting(
        _ former: FormerTokens, deletingThem deletesThem: Bool = false,
        onFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) -> AnyTokenStore {
        adopting(AdoptionJob(former, of: self, deletesThem: deletesThem), onFailure: onFailure)
    }

    /// Adopts tokens from another place, once, before a ``/Martlet/TokenManager`` uses the store. At the launch of an
    /// app, use ``adopting(_:deletingThem:onFailure:)`` instead: it also waits for a locked device.
    ///
    /// If this store has a session already, that session stays. The tokens are not taken over either if a session of
    /// this store has ended: a user who has signed out stays signed out. The store remembers the place, even if the
    /// tokens are not deleted, so a later call does nothing.
    ///
    /// The former tokens are deleted only after the new record has been stored. If the process is killed in between,
    /// the next call continues from there. Several processes, such as an app and its extensions, may call it at the
    /// same time.
    /// - Parameters:
    ///   - former: The tokens, and their place.
    ///   - deletesThem: Whether to delete the former tokens. An earlier version of the app, or the other library, then
    ///     finds none.
    /// - Returns: Whether this call has begun a session with the tokens.
    /// - Throws: ``AdoptionError`` if the record cannot be read; ``/Martlet/StorageError`` if a place cannot be read or
    ///   written now, for example because the device is locked; or the error of a closure. Call it again at the next
    ///   launch.
    @discardableResult
    public func adopt(_ former: FormerTokens, deletingThem deletesThem: Bool = false) async throws -> Bool {
        try await adopt(AdoptionJob(former, of: self, deletesThem: deletesThem))
    }
}

extension AdoptionJob {
    fileprivate init(_ former: FormerTokens, of store: AnyTokenStore, deletesThem: Bool) {
        let delete: @Sendable () async throws -> Void = { try await former.delete(store) }
        self.init(
            place: former.place, read: { () async throws in try await former.read(store) }, note: former.note,
            delete: deletesThem ? delete : nil)
    }
}
