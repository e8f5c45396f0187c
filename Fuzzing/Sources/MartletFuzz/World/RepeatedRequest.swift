import HTTPTypes
import Martlet
import MartletTesting

#if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking
#else
    import Foundation
#endif

/// A request of another client. Its object identifies all attempts.
final class RepeatedRequest: Sendable {
    private let path: String
    private let url: URL

    init(_ call: Int) {
        path = "/\(call)"
        url = URL(string: "https://api.example.com/\(call)") ?? URL(fileURLWithPath: path)
    }

    /// Sends the request until it succeeds, its token is rejected for good, or the client gives up.
    func send(
        _ requirement: AuthenticationRequirement, over network: SimulatedServer.Network, _ signer: RequestSigner,
        pause: () async -> Void
    ) async throws {
        var attempt = URLRequest(url: url)
        for _ in 0..<6 {
            try await signer.sign(&attempt, requirement, of: self)
            let status = await send(attempt, over: network)
            if status == 200 { return }
            var isRecovered = false
            if let response = response(status) {
                isRecovered = try await signer.recover(from: response, to: &attempt, of: self)
            }
            if status == 401, !isRecovered { return }
            await pause()
        }
    }

    /// - Returns: The status of the response; `nil` if there was none.
    private func send(_ attempt: URLRequest, over network: SimulatedServer.Network) async -> Int? {
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: path)
        request.headerFields[.authorization] = attempt.value(forHTTPHeaderField: "Authorization")
        return try? await network.send(request, body: nil).head.status.code
    }

    private func response(_ status: Int?) -> HTTPURLResponse? {
        status.flatMap { HTTPURLResponse(url: url, statusCode: $0, httpVersion: "HTTP/1.1", headerFields: nil) }
    }
}
