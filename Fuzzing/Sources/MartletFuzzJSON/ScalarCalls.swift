// The containers have one call for each scalar type, and each call must be tried.

extension KeyedDecodingContainer where K == Name {
    func text(_ scalar: Scalar, _ key: Name) throws -> String {
        switch scalar {
        case .bool: try "\(decode(Bool.self, forKey: key))"
        case .string: try "\(decode(String.self, forKey: key).utf8.map { $0 })"
        case .double: try "\(decode(Double.self, forKey: key).bitPattern)"
        case .float: try "\(decode(Float.self, forKey: key).bitPattern)"
        case .int: try "\(decode(Int.self, forKey: key))"
        case .int8: try "\(decode(Int8.self, forKey: key))"
        case .int16: try "\(decode(Int16.self, forKey: key))"
        case .int32: try "\(decode(Int32.self, forKey: key))"
        case .int64: try "\(decode(Int64.self, forKey: key))"
        case .int128: try "\(decode(Int128.self, forKey: key))"
        case .uint: try "\(decode(UInt.self, forKey: key))"
        case .uint8: try "\(decode(UInt8.self, forKey: key))"
        case .uint16: try "\(decode(UInt16.self, forKey: key))"
        case .uint32: try "\(decode(UInt32.self, forKey: key))"
        case .uint64: try "\(decode(UInt64.self, forKey: key))"
        case .uint128: try "\(decode(UInt128.self, forKey: key))"
        }
    }

    func textIfPresent(_ scalar: Scalar, _ key: Name) throws -> String {
        switch scalar {
        case .bool: try "\(String(describing: decodeIfPresent(Bool.self, forKey: key)))"
        case .string: try "\(String(describing: decodeIfPresent(String.self, forKey: key).map { Array($0.utf8) }))"
        case .double: try "\(String(describing: decodeIfPresent(Double.self, forKey: key)?.bitPattern))"
        case .float: try "\(String(describing: decodeIfPresent(Float.self, forKey: key)?.bitPattern))"
        case .int: try "\(String(describing: decodeIfPresent(Int.self, forKey: key)))"
        case .int8: try "\(String(describing: decodeIfPresent(Int8.self, forKey: key)))"
        case .int16: try "\(String(describing: decodeIfPresent(Int16.self, forKey: key)))"
        case .int32: try "\(String(describing: decodeIfPresent(Int32.self, forKey: key)))"
        case .int64: try "\(String(describing: decodeIfPresent(Int64.self, forKey: key)))"
        case .int128: try "\(String(describing: decodeIfPresent(Int128.self, forKey: key)))"
        case .uint: try "\(String(describing: decodeIfPresent(UInt.self, forKey: key)))"
        case .uint8: try "\(String(describing: decodeIfPresent(UInt8.self, forKey: key)))"
        case .uint16: try "\(String(describing: decodeIfPresent(UInt16.self, forKey: key)))"
        case .uint32: try "\(String(describing: decodeIfPresent(UInt32.self, forKey: key)))"
        case .uint64: try "\(String(describing: decodeIfPresent(UInt64.self, forKey: key)))"
        case .uint128: try "\(String(describing: decodeIfPresent(UInt128.self, forKey: key)))"
        }
    }
}

extension UnkeyedDecodingContainer {
    mutating func text(_ scalar: Scalar) throws -> String {
        switch scalar {
        case .bool: try "\(decode(Bool.self))"
        case .string: try "\(decode(String.self).utf8.map { $0 })"
        case .double: try "\(decode(Double.self).bitPattern)"
        case .float: try "\(decode(Float.self).bitPattern)"
        case .int: try "\(decode(Int.self))"
        case .int8: try "\(decode(Int8.self))"
        case .int16: try "\(decode(Int16.self))"
        case .int32: try "\(decode(Int32.self))"
        case .int64: try "\(decode(Int64.self))"
        case .int128: try "\(decode(Int128.self))"
        case .uint: try "\(decode(UInt.self))"
        case .uint8: try "\(decode(UInt8.self))"
        case .uint16: try "\(decode(UInt16.self))"
        case .uint32: try "\(decode(UInt32.self))"
        case .uint64: try "\(decode(UInt64.self))"
        case .uint128: try "\(decode(UInt128.self))"
        }
    }

    mutating func textIfPresent(_ scalar: Scalar) throws -> String {
        switch scalar {
        case .bool: try "\(String(describing: decodeIfPresent(Bool.self)))"
        case .string: try "\(String(describing: decodeIfPresent(String.self).map { Array($0.utf8) }))"
        case .double: try "\(String(describing: decodeIfPresent(Double.self)?.bitPattern))"
        case .float: try "\(String(describing: decodeIfPresent(Float.self)?.bitPattern))"
        case .int: try "\(String(describing: decodeIfPresent(Int.self)))"
        case .int8: try "\(String(describing: decodeIfPresent(Int8.self)))"
        case .int16: try "\(String(describing: decodeIfPresent(Int16.self)))"
        case .int32: try "\(String(describing: decodeIfPresent(Int32.self)))"
        case .int64: try "\(String(describing: decodeIfPresent(Int64.self)))"
        case .int128: try "\(String(describing: decodeIfPresent(Int128.self)))"
        case .uint: try "\(String(describing: decodeIfPresent(UInt.self)))"
        case .uint8: try "\(String(describing: decodeIfPresent(UInt8.self)))"
        case .uint16: try "\(String(describing: decodeIfPresent(UInt16.self)))"
        case .uint32: try "\(String(describing: decodeIfPresent(UInt32.self)))"
        case .uint64: try "\(String(describing: decodeIfPresent(UInt64.self)))"
        case .uint128: try "\(String(describing: decodeIfPresent(UInt128.self)))"
        }
    }
}

extension SingleValueDecodingContainer {
    func text(_ scalar: Scalar) throws -> String {
        switch scalar {
        case .bool: try "\(decode(Bool.self))"
        case .string: try "\(decode(String.self).utf8.map { $0 })"
        case .double: try "\(decode(Double.self).bitPattern)"
        case .float: try "\(decode(Float.self).bitPattern)"
        case .int: try "\(decode(Int.self))"
        case .int8: try "\(decode(Int8.self))"
        case .int16: try "\(decode(Int16.self))"
        case .int32: try "\(decode(Int32.self))"
        case .int64: try "\(decode(Int64.self))"
        case .int128: try "\(decode(Int128.self))"
        case .uint: try "\(decode(UInt.self))"
        case .uint8: try "\(decode(UInt8.self))"
        case .uint16: try "\(decode(UInt16.self))"
        case .uint32: try "\(decode(UInt32.self))"
        case .uint64: try "\(decode(UInt64.self))"
        case .uint128: try "\(decode(UInt128.self))"
        }
    }
}
