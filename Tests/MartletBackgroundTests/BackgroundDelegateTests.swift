import Foundation
import Testing

/// The delegate is compiled for Apple platforms only, so its methods are read from its source.
@Suite("The delegate of a background session", .timeLimit(.minutes(10))) struct BackgroundDelegateTests {
    /// The methods for which the system launches the app and lets the transfer wait.
    /// https://developer.apple.com/documentation/uikit/uiapplicationdelegate/application(_:handleeventsforbackgroundurlsession:completionhandler:)
    private static let costly = ["challenge:", "willBeginDelayedRequest", "needNewBodyStream", "didReceive response:"]

    @Test("it has no method that makes the system launch the app before a transfer continues") func methods() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = "/\(root)/Sources/MartletBackground/BackgroundTransfers+Apple.swift"
        let source = try String(contentsOfFile: path, encoding: .utf8)
        let methods = source.split(separator: "\n").filter { $0.contains("func ") || $0.contains("didReceive") }
        // It is the file of the delegate.
        #expect(methods.contains { $0.contains("urlSessionDidFinishEvents") })
        for method in Self.costly { #expect(!source.contains(method), "\(method)") }
    }
}
