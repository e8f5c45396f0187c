// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of Moya 15 that the documentation uses, so that its Swift blocks compile without that package.
// Sources: Sources/Moya/TargetType.swift, Task.swift, ValidationType.swift, Plugin.swift, Response.swift, MoyaError.swift,
// MoyaProvider.swift and Moya+Alamofire.swift, where `Method` is an alias of Alamofire's `HTTPMethod`.

public import Alamofire
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

public struct Method: Sendable {
    public static let get = Method()
}

public enum Task {
    case requestPlain
}

public enum ValidationType {
    case none
    case successCodes
}

public protocol TargetType {
    var baseURL: URL { get }
    var path: String { get }
    var method: Moya.Method { get }
    var task: Moya.Task { get }
    var validationType: ValidationType { get }
    var headers: [String: String]? { get }
}

public final class Response: @unchecked Sendable {
    public let statusCode: Int

    init(statusCode: Int) { self.statusCode = statusCode }
}

public enum MoyaError: Error {
    case statusCode(Response)
    case underlying(any Error, Response?)
}

public protocol RequestType {
    var request: URLRequest? { get }
}

public protocol PluginType {
    func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest
    func willSend(_ request: any RequestType, target: any TargetType)
    func didReceive(_ result: Result<Response, MoyaError>, target: any TargetType)
    func process(_ result: Result<Response, MoyaError>, target: any TargetType) -> Result<Response, MoyaError>
}

open class MoyaProvider<Target: TargetType> {
    public init(session: Session, plugins: [any PluginType] = []) {}
}
