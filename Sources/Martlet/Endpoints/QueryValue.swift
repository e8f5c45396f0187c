internal import MartletJSON

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A value that a ``Query`` can carry: a ``QueryValue``, or an array of them.
///
/// Nested arrays and dictionaries are not supported, because servers share no convention for them. A ``Secret`` is not
/// supported, because logs of servers and proxies contain queries. Code with such a value does not compile.
public protocol QueryParameter: Sendable {
    /// Adds the value to a query.
    func add(to query: inout Query, named name: String)
}

/// A single value in a ``Query``: a string, a number, a boolean, a `Date`, a `UUID`, a `URL`, or a type of your own.
///
/// A type with a raw value, or a `LosslessStringConvertible` one, needs no code:
///
/// ```swift
/// enum Order: String, QueryValue { case newest, oldest }
/// ```
public protocol QueryValue: QueryParameter {
    /// The value as text, without percent-encoding.
    var queryText: String { get }
}

extension QueryValue {
    /// Adds the text of the value to a query.
    public func add(to query: inout Query, named name: String) {
        query.add(.one(Query.Text(self)), named: name)
    }
}

extension QueryValue where Self: LosslessStringConvertible {
    /// The description.
    public var queryText: String { description }
}

extension QueryValue where Self: RawRepresentable, RawValue: QueryValue {
    /// The text of the raw value.
    public var queryText: String { rawValue.queryText }
}

extension QueryValue where Self: RawRepresentable & LosslessStringConvertible, RawValue: QueryValue {
    /// The text of the raw value.
    public var queryText: String { rawValue.queryText }
}

extension Array: QueryParameter where Element: QueryValue {
    /// Adds the elements to a query, in the format of the query's arrays.
    public func add(to query: inout Query, named name: String) {
        query.add(.many(map { Query.Text($0) }), named: name)
    }
}

extension String: QueryValue {}
extension Substring: QueryValue {}
extension Character: QueryValue {}
extension Bool: QueryValue {}
extension Int: QueryValue {}
extension Int8: QueryValue {}
extension Int16: QueryValue {}
extension Int32: QueryValue {}
extension Int64: QueryValue {}
extension UInt: QueryValue {}
extension UInt8: QueryValue {}
extension UInt16: QueryValue {}
extension UInt32: QueryValue {}
extension UInt64: QueryValue {}
extension Float: QueryValue {}
extension Double: QueryValue {}

extension Decimal: QueryValue {
    /// The number with a decimal point, in every locale.
    public var queryText: String { description }
}

extension UUID: QueryValue {
    /// The UUID in upper case.
    public var queryText: String { uuidString }
}

extension URL: QueryValue {
    /// The absolute URL.
    public var queryText: String { absoluteString }
}

extension Date: QueryValue {
    /// The date in ISO 8601 and UTC. A ``Query`` writes it in its own format (``Query/DateFormat``).
    public var queryText: String { ISO8601.format(self) }
}
