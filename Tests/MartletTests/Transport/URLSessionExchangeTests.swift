#if !os(Linux) || URLSession || !AsyncHTTPClient
    import Foundation
    import MartletTesting
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @testable import Martlet

    @Suite("An exchange of URLSession", .timeLimit(.minutes(10))) struct URLSessionExchangeTests {
        @Test("The time of the head is recorded when it arrives, and an interim response is no head") func head() throws
        {
            let time = ManualTimeSource()
            let recorder = TransferRecorder(time: time)
            let exchange = URLSessionExchange(host: "api.example.com", isHead: false, recorder: recorder)
            let url = try #require(URL(string: "https://api.example.com"))
            for status in [100, 200] {
                time.advance(by: .seconds(2))
                let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
                #expect(exchange.receive(try #require(response)))
            }
            #expect(recorder.metrics.firstByte == .seconds(4))
        }
    }
#endif
