/// Values that independent features attach to a shared object, at most one value of each type.
package final class Attachments: Sendable {
    private let values = Locked<[ObjectIdentifier: any Sendable]>([:])

    package init() {}

    /// The value of a type, created on first use.
    package func value<Value: Sendable>(_ make: () -> Value) -> Value {
        values.withLock { values in
            if let value = values[ObjectIdentifier(Value.self)] as? Value { return value }
            let value = make()
            values[ObjectIdentifier(Value.self)] = value
            return value
        }
    }
}
