/// A type that has calls of its own in every container.
protocol Scalar: Decodable {
    /// The value at an index of the tape. Errors contain the position's path and one more step. The path is built only
    /// for them.
    static func read(
        _ position: Position, _ value: UInt32, _ step: @autoclosure () -> Position.Step
    ) throws -> Self
}

extension Bool: Scalar {
    @inline(__always)
    static func read(_ position: Position, _ value: UInt32, _ step: @autoclosure () -> Position.Step) throws -> Bool {
        guard let result = position.document.bool(value) else { throw position.failure(Bool.self, at: value, step()) }
        return result
    }
}

extension String: Scalar {
    @inline(__always)
    static func read(_ position: Position, _ value: UInt32, _ step: @autoclosure () -> Position.Step) throws -> String {
        guard let result = position.document.string(value) else {
            throw position.failure(String.self, at: value, step())
        }
        return result
    }
}

extension Scalar where Self: FixedWidthInteger {
    @inline(__always)
    static func read(_ position: Position, _ value: UInt32, _ step: @autoclosure () -> Position.Step) throws -> Self {
        guard value != Tape.absent, let result = position.document.number(value).integer(Self.self) else {
            throw position.failure(Self.self, at: value, step())
        }
        return result
    }
}

extension Scalar where Self: DecimalConvertible {
    @inline(__always)
    static func read(_ position: Position, _ value: UInt32, _ step: @autoclosure () -> Position.Step) throws -> Self {
        if value != Tape.absent, let result = position.document.number(value).floatingPoint(Self.self) { return result }
        return try position.nonConforming(Self.self, value, step())
    }
}

extension Double: Scalar {}
extension Float: Scalar {}
extension Int: Scalar {}
extension Int8: Scalar {}
extension Int16: Scalar {}
extension Int32: Scalar {}
extension Int64: Scalar {}
extension UInt: Scalar {}
extension UInt8: Scalar {}
extension UInt16: Scalar {}
extension UInt32: Scalar {}
extension UInt64: Scalar {}
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Int128: Scalar {}
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UInt128: Scalar {}

extension Position {
    /// A string that stands for infinity or NaN in the decoder's strategy.
    @inline(never)
    func nonConforming<Value: DecimalConvertible>(_ type: Value.Type, _ value: UInt32, _ step: Step) throws -> Value {
        if case .convertFromString(let positive, let negative, let nan) = document.strategies.nonConformingFloat,
            let text = document.plainText(value)
        {
            if text.elementsEqual(positive.utf8) { return .infinity }
            if text.elementsEqual(negative.utf8) { return -.infinity }
            if text.elementsEqual(nan.utf8) { return .nan }
        }
        throw failure(type, at: value, step)
    }
}
