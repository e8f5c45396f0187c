import Foundation
import HTTPTypes
import Testing

@testable import Martlet

@Suite("Tokens in responses", .timeLimit(.minutes(10))) struct TokenFieldsTests {
    private func tokens(_ json: String, headers: HTTPFields = [:]) throws -> Tokens {
        let head = HTTPResponse(status: .ok, headerFields: headers)
        return try TokenFields.automatic.tokens(from: ServerResponse(head: head, body: Data(json.utf8)))
    }

    @Test(
        "an expiry date is in seconds, or in milliseconds if it would be thousands of years away",
        arguments: [
            ("1", 1), ("0.5", 0.5), ("0", nil), ("-1", nil), ("100000000000", 100_000_000_000),
            ("100000001000", 100_000_001), ("1795262400000", 1_795_262_400),
            (#""2026-11-21T12:00:00Z""#, 1_795_262_400), (#""soon""#, nil), (#""inf""#, nil),
        ] as [(String, Double?)])
    func expiryDate(value: String, seconds: Double?) throws {
        let tokens = try tokens(#"{"accessToken":"a","expiresAt":\#(value)}"#)
        #expect(tokens.expiresAt?.timeIntervalSince1970 == seconds)
    }

    @Test(
        "a lifetime is in seconds, and neither zero nor infinite",
        arguments: [("0.5", 0.5), ("1", 1), ("0", nil), ("-1", nil), ("1e12", nil), ("1e11", 1e11)]
            as [(String, Double?)])
    func lifetime(value: String, seconds: Double?) throws {
        #expect(try tokens(#"{"access_token":"a","expires_in":\#(value)}"#).lifetime == seconds.map { .seconds($0) })
    }

    @Test(
        "tokens are found whatever else is in the response",
        arguments: [
            #""user":{"name":"Ada \ud83d"}"#, #""expiresIn":1e309"#, #""a":1e400"#, "\"user\":\"Ada\tB\"",
            #""a":"# + String(repeating: "[", count: 80) + String(repeating: "]", count: 80),
        ])
    func otherMembers(members: String) throws {
        let tokens = try tokens(#"{\#(members),"accessToken":"a","refreshToken":"r"}"#)
        #expect(tokens.accessToken == "a" && tokens.refreshToken == "r" && tokens.lifetime == nil)
    }

    @Test("a blank token counts as missing") func blank() throws {
        #expect(throws: MissingTokenError.self) { try tokens(#"{"accessToken":" \t"}"#) }
        #expect(try tokens(#"{"accessToken":"a","refreshToken":" "}"#).refreshToken == nil)
    }

    @Test(
        "tokens are found at the top level and in nested containers",
        arguments: [
            #"{"accessToken":"a","refreshToken":"r"}"#, #"{"data":{"access_token":"a","refresh_token":"r"}}"#,
            #"{"data":{"tokens":{"token":"a","refreshToken":"r"}}}"#, #"{"token":{"jwt":"a","refreshToken":"r"}}"#,
            #"{"accessToken":"","result":{"accessToken":"a","refreshToken":"r"}}"#,
            #"{"access":"a","refresh":"r"}"#, #"{"access_token":"a","id_token":"i","refresh_token":"r"}"#,
            #"{"AuthenticationResult":{"AccessToken":"a","IdToken":"i","RefreshToken":"r","ExpiresIn":3600}}"#,
        ])
    func containers(json: String) throws {
        let tokens = try tokens(json)
        #expect(tokens.accessToken.reveal() == "a" && tokens.refreshToken?.reveal() == "r")
    }

    @Test("a body without a token leaves it to the header field Authorization", arguments: ["", "{}", #"{"id":1}"#])
    func authorizationField(body: String) throws {
        let tokens = try tokens(body, headers: [.authorization: "Bearer a", .date: "Sat, 21 Nov 2026 12:00:00 GMT"])
        #expect(tokens.accessToken.reveal() == "a" && tokens.refreshToken == nil)
        #expect(tokens.serverDate?.timeIntervalSince1970 == 1_795_262_400)
    }

    @Test("the body goes before the header fields, and only a bearer token counts there") func headerFields() throws {
        #expect(try tokens(#"{"token":"a"}"#, headers: [.authorization: "Bearer b"]).accessToken.reveal() == "a")
        #expect(throws: MissingTokenError.self) { try tokens("{}", headers: [.authorization: "Basic b"]) }
        #expect(throws: MissingTokenError.self) { try tokens("{}", headers: [.authorization: "Bearer "]) }
        // The name of a scheme is case-insensitive.
        #expect(try tokens("{}", headers: [.authorization: "bearer b"]).accessToken.reveal() == "b")
    }

    @Test("both tokens can be in header fields of their own") func ownHeaderFields() throws {
        let access = try #require(HTTPField.Name("X-Access-Token"))
        let refresh = try #require(HTTPField.Name("X-Refresh-Token"))
        let fields = TokenFields(accessTokenHeader: access, refreshTokenHeader: refresh)
        let head = HTTPResponse(status: .noContent, headerFields: [access: "a", refresh: "r"])
        let tokens = try fields.tokens(from: ServerResponse(head: head, body: Data()))
        #expect(tokens.accessToken.reveal() == "a" && tokens.refreshToken?.reveal() == "r")
    }

    @Test("a response without an access token is an error", arguments: ["{}", "no JSON", #"{"accessToken":""}"#])
    func missing(body: String) {
        #expect(throws: MissingTokenError.self) { try tokens(body) }
    }

    @Test("an empty refresh token counts as none, and the server's date is kept") func details() throws {
        let tokens = try tokens(
            #"{"accessToken":"a","refreshToken":""}"#, headers: [.date: "Sat, 21 Nov 2026 12:00:00 GMT"])
        #expect(tokens.refreshToken == nil)
        #expect(tokens.serverDate?.timeIntervalSince1970 == 1_795_262_400)
    }
}
