// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of Apollo iOS 2 that the documentation uses, so that its Swift blocks compile without that package.
// Sources: Sources/Apollo/ApolloURLSession.swift and ResponseParsing/AsyncHTTPResponseChunkSequence.swift.

public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

public protocol AsyncChunkSequence: AsyncSequence, Sendable where Element == Data {}

public protocol ApolloURLSession: Sendable {
    func chunks(for request: URLRequest) async throws -> (any AsyncChunkSequence, URLResponse)
}
