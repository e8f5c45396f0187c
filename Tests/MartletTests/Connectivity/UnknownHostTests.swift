import Testing

@testable import Martlet

@Suite("Hosts whose names cannot be resolved", .timeLimit(.minutes(10))) struct UnknownHostTests {
    @Test("without a network the device is offline, and otherwise the host is unknown") func kinds() {
        guard case .offline = TransportError.unknownHost("api.example.com", hasNetwork: false) else {
            Issue.record("a device without a network blames the host")
            return
        }
        guard case .cannotConnect(let reason) = TransportError.unknownHost("api.example.com", hasNetwork: true) else {
            Issue.record("a device with a network blames the network")
            return
        }
        #expect(reason == "unknown host api.example.com")
    }
}
