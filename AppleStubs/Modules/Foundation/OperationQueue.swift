// https://developer.apple.com/documentation/foundation/operationqueue
open class OperationQueue: NSObject, @unchecked Sendable {
    open func addOperation(_ block: @escaping @Sendable () -> Void) { fatalError() }
    open var maxConcurrentOperationCount: Int {
        get { fatalError() }
        set { fatalError() }
    }
}
