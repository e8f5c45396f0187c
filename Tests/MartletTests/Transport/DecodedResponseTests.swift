#if !os(Linux) || URLSession || !AsyncHTTPClient
    import Foundation
    import HTTPTypes
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @testable import Martlet

    @Suite("A response decoded by URLSession", .noBlockingCalls) struct DecodedResponseTests {
        @Test(
            "fields that describe the encoded body are removed", arguments: [true, false]) func fields(isDecoded: Bool)
            throws
        {
            let before = [
                "Content-Encoding": "gzip", "Content-Length": "20", "Repr-Digest": "sha-256=:AAAA:",
                "Content-Digest": "sha-256=:AAAA:", "ETag": "\"one\"",
            ]
            let url = try #require(URL(string: "https://api.example.com/film"))
            let response = try #require(
                HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: before))
            let head = HTTPResponse(response, isDecoded: isDecoded)
            let names = Set(head.headerFields.map { $0.name.canonicalName })
            #expect(names == (isDecoded ? ["etag"] : Set(before.keys.map { $0.lowercased() })))
        }
    }
#endif
