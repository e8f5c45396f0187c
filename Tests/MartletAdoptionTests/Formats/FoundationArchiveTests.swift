import Foundation
import Martlet
import MartletTesting
import Testing

@testable import MartletAdoption

/// An object that encodes given values. The classes are not nested, because Foundation on Linux archives no nested
/// ones.
class ArchivedValues: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    private let objects: [String: Any?]
    private let flags: [String: Bool]

    init(_ objects: [String: Any?], flags: [String: Bool] = [:]) {
        self.objects = objects
        self.flags = flags
    }

    required init?(coder: NSCoder) {
        return nil
    }

    func encode(with coder: NSCoder) {
        for (key, object) in objects.sorted(by: { $0.key < $1.key }) { coder.encode(object, forKey: key) }
        for (key, flag) in flags { coder.encode(flag, forKey: key) }
    }
}

final class ArchivedOuter: ArchivedValues {}
final class ArchivedInner: ArchivedValues {}
final class ArchivedWrapper: ArchivedValues {}

/// Archives that Foundation's own `NSKeyedArchiver` writes, from classes with the names and keys of the libraries. On
/// Apple platforms, this is the archiver that wrote the records of an app's users.
@Suite("Archives of Foundation", .timeLimit(.minutes(10)))
struct FoundationArchiveTests {
    private let expiry = Date(timeIntervalSince1970: 2_000_000_000)

    private func archive(
        _ root: ArchivedValues, key: String = NSKeyedArchiveRootObjectKey, as names: [(String, AnyClass)]
    ) throws -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        for (name, type): (String, AnyClass) in names { archiver.setClassName(name, for: type) }
        archiver.encode(root, forKey: key)
        archiver.finishEncoding()
        #if canImport(Darwin)
            return archiver.encodedData
        #else
            // Foundation on Linux ignores the names.
            return try rename(names, in: archiver.encodedData)
        #endif
    }

    #if !canImport(Darwin)
        private func rename(_ names: [(String, AnyClass)], in archive: Data) throws -> Data {
            let list = try PropertyListSerialization.propertyList(from: archive, format: nil)
            var entries = try #require(list as? [String: Any])
            let objects = try #require(entries["$objects"] as? [Any])
            entries["$objects"] = objects.map { object -> Any in
                guard var type = object as? [String: Any], let name = type["$classname"] as? String,
                    let (new, _) = names.first(where: { NSStringFromClass($0.1) == name })
                else { return object }
                type["$classname"] = new
                return type
            }
            return try PropertyListSerialization.data(fromPropertyList: entries, format: .binary, options: 0)
        }
    #endif

    private var state: ArchivedOuter {
        let response = ArchivedInner([
            "access_token": "fixture-access-token" as NSString, "expires_in": expiry as NSDate,
            "token_type": "Bearer" as NSString, "id_token": nil,
            "additionalParameters": ["account": "a-7" as NSString, "size": NSNumber(value: 7)] as NSDictionary,
        ])
        return ArchivedOuter(
            [
                "lastAuthorizationResponse": nil, "lastTokenResponse": response,
                "refreshToken": NSMutableString(string: "fixture-refresh-토큰"), "scope": "openid" as NSString,
            ], flags: ["needsTokenRefresh": false])
    }

    @Test("A state of AppAuth and a session of GTMAppAuth around it")
    func readsAppAuth() throws {
        let names: [(String, AnyClass)] = [
            ("OIDAuthState", ArchivedOuter.self), ("OIDTokenResponse", ArchivedInner.self),
            ("GTMAppAuthFetcherAuthorization", ArchivedWrapper.self),
        ]
        let plain = try AppAuthRecord(data: archive(state, as: names))
        let session = ArchivedWrapper(["authState": state, "userID": "사용자" as NSString])
        let wrapped = try GTMAppAuthRecord(data: archive(session, as: names))
        let expected = Tokens(
            accessToken: "fixture-access-token", refreshToken: "fixture-refresh-토큰", expiresAt: expiry,
            tokenType: "Bearer", scope: "openid", additionalFields: ["account": "a-7", "size": "7"])
        #expect(plain.tokens == expected)
        #expect(wrapped.tokens == expected)
        #expect(wrapped.userID == "사용자")
    }

    @Test("Credentials of Auth0.swift")
    func readsAuth0() throws {
        let credentials = ArchivedOuter([
            "accessToken": "fixture-access-token" as NSString, "tokenType": "Bearer" as NSString,
            "idToken": "" as NSString, "refreshToken": "fixture-refresh-token" as NSString,
            "expiresIn": expiry as NSDate, "scope": nil, "recoveryCode": nil,
        ])
        let record = try Auth0Record(data: archive(credentials, as: [("A0Credentials", ArchivedOuter.self)]))
        #expect(
            record.tokens
                == Tokens(
                    accessToken: "fixture-access-token", refreshToken: "fixture-refresh-token", expiresAt: expiry,
                    tokenType: "Bearer"))
    }

    @Test("A user of Firebase")
    func readsFirebase() throws {
        let service = ArchivedInner([
            "accessToken": "fixture-access-token" as NSString, "refreshToken": "fixture-refresh-token" as NSString,
            "accessTokenExpirationDate": expiry as NSDate,
        ])
        let user = ArchivedOuter(
            ["userID": "firebase-1" as NSString, "tokenService": service, "providerData": [:] as NSDictionary],
            flags: ["anonymous": true])
        let names: [(String, AnyClass)] = [
            ("FIRUser", ArchivedOuter.self), ("FIRSecureTokenService", ArchivedInner.self),
        ]
        let record = try FirebaseRecord(data: archive(user, key: "__FIRAPP_DEFAULT_firebase_user", as: names))
        #expect(
            record.tokens
                == Tokens(
                    accessToken: "fixture-access-token", refreshToken: "fixture-refresh-token", expiresAt: expiry))
        #expect(record.userID == "firebase-1")
    }
}
