import Foundation
import HTTPTypes
import MartletTesting
import Testing

@testable import Martlet

/// A preset and the messages that its server is documented to exchange. The app has `access-1` and `refresh-1`.
struct ServerCase: Sendable, CustomTestStringConvertible {
    let name: String
    let refresher: HTTPTokenRefresher

    /// The request: method and URL, header fields besides `Accept`, and body.
    let line: String
    let headers: HTTPFields
    var form: String?
    var json: [String: String]?

    /// A response with the tokens that it issues.
    let good: StubTransport.Response
    let issued: Issued
    /// Responses to a dead refresh token, by description.
    let dead: [String: StubTransport.Response]
    /// Responses of this server that must not end the session.
    let temporary: [String: StubTransport.Response]

    struct Issued: Equatable {
        var access = "access-2"
        var refresh: String?
        var seconds: Double?
    }

    var testDescription: String { name }

    static let all = frameworks + services

    static let formType: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
    static let jsonType: HTTPFields = [.contentType: "application/json"]
    static func field(_ name: String, _ value: String) -> HTTPFields {
        HTTPField.Name(name).map { [$0: value] } ?? [:]
    }
}
