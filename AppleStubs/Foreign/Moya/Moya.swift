// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations of Moya 15 that the documentation uses, so that its Swift blocks compile without that package.
// Sources: Sources/Moya/TargetType.swift, Task.swift, ValidationType.swift, Plugin.swift, MoyaProvider.swift and
// Moya+Alamofire.swift, where `Method` is an alias of Alamofire's `HTTPMethod`.

public import Alamofire
public import Foundation

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

public protocol PluginType {}

open class MoyaProvider<Target: TargetType> {
    public init(session: Session, plugins: [any PluginType] = []) {}
}
