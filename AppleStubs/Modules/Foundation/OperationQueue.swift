// https://developer.apple.com/documentation/foundation/operationqueue
@available(iOS 2, macOS 10.5, tvOS 9, watchOS 2, visionOS 1, *)
open class OperationQueue: NSObject, @unchecked Sendable {
    open func addOperation(_ block: @escaping @Sendable () -> Void) { fatalError() }
    open var maxConcurrentOperationCount: Int {
        get { fatalError() }
        set { fatalError() }
    }
}
