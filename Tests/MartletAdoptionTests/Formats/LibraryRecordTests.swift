import Foundation
import Martlet
import MartletTesting
import Testing

@testable import MartletAdoption

@Suite("Records of other libraries", .timeLimit(.minutes(10)))
struct LibraryRecordTests {
    /// The session that a record holds, in a form that a failed test can print.
    struct Session: Equatable, Sendable {
        var access = "fixture-access-token"
        var refresh: String? = "fixture-refresh-token"
        var expiry: Double? = 2_000_000_000
        var type: String?
        var scope: String?
        /// Names and values, except for the ID token, whose value is checked by its subject.
        var fields: [String: String] = [:]
        var hasIDToken = false
        var user: String?

        init(
            refresh: String? = "fixture-refresh-token", expiry: Double? = 2_000_000_000, type: String? = nil,
            scope: String? = nil, fields: [String: String] = [:], hasIDToken: Bool = false, user: String? = nil
        ) {
            self.refresh = refresh
            self.expiry = expiry
            self.type = type
            self.scope = scope
            self.fields = fields
            self.hasIDToken = hasIDToken
            self.user = user
        }

        init(_ record: any LibraryRecord) {
            access = record.tokens.accessToken.reveal()
            refresh = record.tokens.refreshToken?.reveal()
            expiry = record.tokens.expiresAt?.timeIntervalSince1970
            type = record.tokens.tokenType
            scope = record.tokens.scope
            fields = record.tokens.additionalFields.mapValues { $0.reveal() }
            hasIDToken = record.tokens.idToken != nil
            fields["id_token"] = nil
            user = record.userID
        }
    }

    private static let unicode = "사용자-ü-😀"
    private static let past: Double = 1_000_000_000
    /// The date of an access token that AppAuth would not use again.
    private static let longAgo: Double = 978_307_200

    private static func appAuth(_ change: (inout Session) -> Void = { _ in }) -> Session {
        var session = Session(type: "Bearer", scope: "openid offline_access")
        change(&session)
        return session
    }

    static let appAuth: [String: Session] = [
        "appauth-full.plist": appAuth {
            $0.fields = ["account": "a-7", "ext_expires_in": "7200", "device": "true"]
            ($0.hasIDToken, $0.user) = (true, "user-1")
        },
        "appauth-without-refresh.plist": appAuth { $0.refresh = nil },
        "appauth-expired.plist": appAuth { $0.expiry = past },
        "appauth-without-expiry.plist": appAuth { $0.expiry = nil },
        "appauth-unicode.plist": appAuth { ($0.hasIDToken, $0.user) = (true, unicode) },
        "appauth-stale.plist": appAuth { $0.expiry = longAgo },
        "appauth-later-refresh.plist": appAuth(),
        "appauth-implicit.plist": appAuth { ($0.refresh, $0.hasIDToken, $0.user) = (nil, true, "user-1") },
        "appauth-mutable-text.plist": appAuth(),
        "appauth-0.9.plist": appAuth(),
        "appauth-subclass.plist": appAuth(),
        "appauth-other-key.plist": appAuth(),
        "appauth-more.plist": appAuth(),
        "gtmappauth-full.plist": appAuth { ($0.hasIDToken, $0.user) = (true, "user-1") },
        "gtmappauth-without-id-token.plist": appAuth { $0.user = unicode },
        "gtmappauth-without-user.plist": appAuth(),
        "gtmappauth-own-name.plist": appAuth { $0.user = "user-1" },
    ]

    static let auth0: [String: Session] = [
        "auth0-full.plist": appAuth { ($0.hasIDToken, $0.user) = (true, "auth0|1") },
        "auth0-without-refresh.plist": appAuth { ($0.refresh, $0.hasIDToken, $0.user) = (nil, true, "auth0|1") },
        "auth0-expired.plist": appAuth { ($0.expiry, $0.hasIDToken, $0.user) = (past, true, "auth0|1") },
        "auth0-unicode.plist": appAuth { ($0.hasIDToken, $0.user) = (true, unicode) },
        "auth0-more.plist": appAuth { ($0.hasIDToken, $0.user) = (true, "auth0|1") },
        "auth0-1-without-expiry.plist": Session(expiry: nil, scope: "openid offline_access"),
    ]

    static let firebase: [String: Session] = [
        "firebase-full.plist": Session(user: "firebase-1"),
        "firebase-access-group.plist": Session(user: "firebase-1"),
        "firebase-anonymous.plist": Session(user: "firebase-1"),
        "firebase-expired.plist": Session(expiry: past, user: "firebase-1"),
        "firebase-without-expiry.plist": Session(expiry: nil, user: "firebase-1"),
        "firebase-unicode.plist": Session(user: unicode),
        "firebase-more.plist": Session(user: "firebase-1"),
        "firebase-tv.plist": Session(user: "firebase-1"),
    ]

    private static func supabase(_ change: (inout Session) -> Void = { _ in }) -> Session {
        var session = Session(type: "bearer", user: "859f402d-b3de-4105-a1b9-932836d9193b")
        change(&session)
        return session
    }

    static let supabase: [String: Session] = [
        "supabase-full.json": supabase {
            $0.fields = [
                "provider_token": "fixture-provider-token", "provider_refresh_token": "fixture-provider-refresh",
            ]
        },
        "supabase-fraction.json": supabase { $0.expiry = 2_000_000_000.5 },
        "supabase-empty-refresh.json": supabase { $0.refresh = nil },
        "supabase-expired.json": supabase { $0.expiry = past },
        "supabase-unicode.json": supabase(),
        "supabase-more.json": supabase(),
        "supabase-2.20.json": supabase(),
        "supabase-2.10.json": supabase(),
        "supabase-1.0.json": supabase(),
        "supabase-without-expiry.json": supabase { $0.expiry = nil },
    ]

    static let amplify: [String: Session] = [
        "amplify-user-pool.json": Session(hasIDToken: true, user: "user-1"),
        "amplify-device.json": Session(fields: ["DeviceKey": "region_device"], hasIDToken: true, user: "user-1"),
        "amplify-both-pools.json": Session(hasIDToken: true, user: "user-1"),
        "amplify-expired.json": Session(expiry: past, hasIDToken: true, user: "user-1"),
        "amplify-empty-refresh.json": Session(refresh: nil, hasIDToken: true, user: "user-1"),
        "amplify-more.json": Session(hasIDToken: true, user: "user-1"),
        "amplify-unknown-user.json": Session(hasIDToken: true),
    ]

    static let sessions = [appAuth, auth0, firebase, supabase, amplify].reduce(into: [:]) {
        $0.merge($1) { first, _ in first }
    }

    static let refusals: [String: AdoptionError.Kind] = [
        "appauth-ended.plist": .ended,
        "appauth-code-only.plist": .withoutTokens,
        "gtmappauth-without-state.plist": .damaged,
        "auth0-empty.plist": .withoutTokens,
        "auth0-dpop.plist": .boundToKey,
        "firebase-without-access.plist": .withoutTokens,
        "amplify-ended.json": .ended,
        "amplify-guest.json": .withoutTokens,
        "amplify-federated.json": .withoutTokens,
        "amplify-signed-out.json": .ended,
    ]

    @Test("A record is read to exactly its tokens, user and expiry", arguments: sessions.keys.sorted())
    func readsSession(of name: String) throws {
        let record = try Library(record: name).read(Records.data(name))
        #expect(Session(record) == Self.sessions[name])
    }

    @Test("A record without a usable session is refused with the reason", arguments: refusals.keys.sorted())
    func refuses(_ name: String) throws {
        let data = try Records.data(name)
        let library = try Library(record: name)
        let error = try #require(throws: AdoptionError.self) { try library.read(data) }
        #expect(error.kind == Self.refusals[name])
    }

    @Test("Each record in the folder is expected to be read or refused")
    func coversFolder() {
        let expected = Set(Self.sessions.keys).union(Self.refusals.keys)
        #expect(Set(Records.names.filter { !$0.hasPrefix("hostile") }) == expected)
    }

    @Test("A record of another library is foreign to each reader", arguments: Library.allCases)
    func refusesOtherLibraries(_ library: Library) throws {
        for other in Library.allCases where other != library {
            let data = try Records.data(other.fullest)
            let error = try #require(throws: AdoptionError.self) { try library.read(data) }
            #expect(error.kind == .foreign, "\(library) read \(other)")
        }
    }

    @Test("An error names the library, the reason and the next step")
    func describesError() throws {
        let data = try Records.data("auth0-dpop.plist")
        let error = try #require(throws: AdoptionError.self) { try Auth0Record(data: data) }
        #expect(
            error.description == """
                could not take over the session of Auth0.swift: the tokens are bound to a key of the library (DPoP). \
                Sign out with that library, and let the user sign in again.
                """)
    }
}
