import Foundation
import Martlet
import Testing

@testable import MartletCommand

@Suite("Cells of a run with foreign sign-in servers", .timeLimit(.minutes(10))) struct OAuthCellsTests {
    private func site(clients: [String], refused: [String] = []) throws -> OAuthSite {
        let fields: [String: Any] = [
            "issuer": "http://127.0.0.1:1", "api": "http://127.0.0.1:1", "loopbackPort": 2, "clients": clients,
            "refusedClients": refused, "confidentialClient": "confidential", "secret": "s", "password": "p",
        ]
        return try JSONDecoder().decode(OAuthSite.self, from: JSONSerialization.data(withJSONObject: fields))
    }

    @Test("a cell that a server does not offer says why", arguments: OAuthRigServer.allCases)
    func reasons(_ kind: OAuthRigServer) throws {
        let cells = OAuthCells.cells(of: kind, try site(clients: ["RS256"], refused: ["HS256"]))
        #expect(Set(cells.map(\.name)).count == cells.count)
        let offered = cells.filter { $0.name.hasPrefix("ID token") && $0.missing == nil }.map(\.name)
        #expect(offered == ["ID token RS256", "ID token HS256 refused"])
        #expect(cells.allSatisfy { $0.missing?.isEmpty != true })
        #expect(cells.contains { $0.name == "PAR" && ($0.missing == nil) == (kind == .glewlwyd) })
    }

    @Test("the short run has each way to sign in and each end of a session") func shortRun() throws {
        let cells = OAuthCells.cells(of: .glewlwyd, try site(clients: ["ES256", "EdDSA"]))
        let names = cells.filter(\.isInShortRun).map(\.name)
        #expect(names.count == 10)
        #expect(Set(["PAR", "loopback", "claimed redirect", "revocation", "logout"]).isSubset(of: names))
    }

    @Test("only a confidential client has a secret") func secrets() throws {
        let site = try site(clients: ["RS256"], refused: ["HS256", "none"])
        #expect(site.client("RS256") == OAuthClient(id: "RS256"))
        #expect(site.client("none") == OAuthClient(id: "none"))
        #expect(site.client("HS256") == OAuthClient(id: "HS256", secret: "s"))
        #expect(site.client("confidential") == OAuthClient(id: "confidential", secret: "s"))
    }

    @Test("a callback is read and changed by the names in its query") func query() throws {
        let callback = try #require(URL(string: "https://app.example.com/callback?code=a%20b&iss=x"))
        #expect(callback.queryValues == ["code": "a b", "iss": "x"])
        #expect(try callback.replacing("iss", by: "y").queryValues == ["code": "a b", "iss": "y"])
    }

    @Test("jwt-kit accepts the example of RFC 7515, appendix A.3, and refuses it with another signature or key")
    func signatureOpinion() async {
        let token =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
            + "Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        let keys = """
            {"keys":[{"kty":"EC","crv":"P-256","kid":"1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}
            """
        func accepts(_ token: String, _ keys: String) async -> Bool {
            await SignatureOpinion.accepts(SignatureOpinion.Line(token: token, keys: keys))
        }
        #expect(await accepts(token, keys))
        #expect(await !accepts(token.replacing("6NU1Q", with: "6NU1g"), keys))
        #expect(await !accepts(token, keys.replacing("f83OJ", with: "f83OK")))
        #expect(await !accepts(token, #"{"keys":[]}"#))
    }

    @Test("the algorithm and the subject of a JWT are read") func jwt() {
        // {"alg":"ES256"}.{"sub":"ada?"}
        let token: Secret = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGE_In0.AA"
        #expect(token.jwtAlgorithm == "ES256")
        #expect(token.jwtSubject == "ada?")
        #expect(Secret("opaque").jwtAlgorithm == nil)
    }
}
