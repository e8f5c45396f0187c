#if !os(Linux) || URLSession || !AsyncHTTPClient
    import Foundation
    import HTTPTypes
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @testable import Martlet

    @Suite("A request for URLSession", .timeLimit(.minutes(10))) struct URLRequestTests {
        private static let accept = HTTPField.Name("accept")
        private static let upperAccept = HTTPField.Name("ACCEPT")

        @Test("It has the method, the URL and every field, and leaves cookies to the client")
        func parts() throws {
            var request = HTTPRequest(method: .put, scheme: "https", authority: "api.example.com", path: "/films?id=7")
            request.headerFields = [.authorization: "Bearer a", .userAgent: "Films/1"]
            let sent = try URLRequest(request)

            #expect(sent.httpMethod == "PUT")
            #expect(sent.url?.absoluteString == "https://api.example.com/films?id=7")
            #expect(sent.allHTTPHeaderFields == ["Authorization": "Bearer a", "User-Agent": "Films/1"])
            #expect(!sent.httpShouldHandleCookies)

            request.method = .get
            #expect(try URLRequest(request).httpMethod == "GET")
        }

        @Test("A repeated field becomes one, with its values in their order, however its name is spelled")
        func repeatedFields() throws {
            var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/")
            let (accept, upperAccept) = (try #require(Self.accept), try #require(Self.upperAccept))
            request.headerFields.append(HTTPField(name: accept, value: "text/html"))
            request.headerFields.append(HTTPField(name: .cookie, value: "a=1"))
            request.headerFields.append(HTTPField(name: upperAccept, value: "*/*"))
            request.headerFields.append(HTTPField(name: .cookie, value: "b=2"))
            request.headerFields.append(HTTPField(name: accept, value: "image/png"))
            let sent = try URLRequest(request)

            #expect(sent.value(forHTTPHeaderField: "Accept") == "text/html, */*, image/png")
            #expect(sent.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
            #expect(sent.allHTTPHeaderFields?.count == 2)
        }
    }
#endif
