#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The query of a request: names and values in order. A name may occur more than once.
///
/// Values are percent-encoded so that the server receives them unchanged: a `+` arrives as `+`, a `&` as `&`. An item
/// whose value is `nil` is left out.
///
/// ```swift
/// var query: Query { ["page": 2, "tag": "a+b", "draft": nil] }        // page=2&tag=a%2Bb
/// var query: Query { ["ids": [1, 2, 3]] }                             // ids=1&ids=2&ids=3
/// var query: Query { Query(["ids": [1, 2, 3]], arrays: .comma) }      // ids=1,2,3
/// var query: Query { ["since": date] }                                // since=2026-03-01T08%3A30%3A00Z
/// ```
///
/// A value that has no meaning in a query does not compile; see ``QueryParameter``.
public struct Query: Sendable, Hashable {
    /// The format of an array. An empty array is left out in every format.
    public enum ArrayFormat: Sendable, Hashable {
        /// `ids=1&ids=2`, the default.
        case repeated
        /// `ids[]=1&ids[]=2`, with the brackets encoded, for PHP and Ruby on Rails.
        case brackets
        /// `ids=1,2`. A comma within an element is encoded. If elements may have one, the server must split before it
        /// decodes.
        case comma
    }

    /// The format of a `Date`.
    public enum DateFormat: Sendable, Hashable {
        /// ISO 8601 in UTC, the default: `2026-03-01T08:30:00Z`, with milliseconds if there are any.
        case iso8601
        /// The day in UTC: `2026-03-01`.
        case day
        /// Whole seconds since 1970, rounded down.
        case secondsSince1970
        /// Whole milliseconds since 1970, rounded to the nearest.
        case millisecondsSince1970
    }

    /// A name with its value. A name without a value is a flag (`?draft`).
    package struct Item: Sendable, Hashable {
        package var name: String
        package var value: String?

        package init(_ name: String, _ value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// A single value. A date is kept, because the format may be chosen later.
    enum Text: Sendable, Hashable {
        case text(String)
        case date(Date)

        init(_ value: some QueryValue) {
            self = (value as? Date).map(Text.date) ?? .text(value.queryText)
        }

        func written(_ format: DateFormat) -> String {
            switch self {
            case .text(let text): text
            case .date(let date): format.text(of: date)
            }
        }
    }

    /// The value of an entry.
    enum Content: Sendable, Hashable {
        case flag
        case one(Text)
        case many([Text])
    }

    /// A name with its values as they were added.
    private struct Entry: Sendable, Hashable {
        var name: String
        var content: Content
    }

    private var entries: [Entry]
    private var arrayFormat: ArrayFormat
    private var dateFormat: DateFormat

    /// Creates an empty query.
    public init() {
        self.init([Item]())
    }

    /// Creates a query with other formats: `Query(["ids": ids], arrays: .comma)`.
    /// - Parameters:
    ///   - items: The names and values.
    ///   - arrays: The format of all arrays.
    ///   - dates: The format of all dates.
    public init(_ items: Query, arrays: ArrayFormat = .repeated, dates: DateFormat = .iso8601) {
        self = items
        self.arrayFormat = arrays
        self.dateFormat = dates
    }

    package init(_ items: [Item]) {
        self.entries = items.map { Entry(name: $0.name, content: $0.value.map { .one(.text($0)) } ?? .flag) }
        self.arrayFormat = .repeated
        self.dateFormat = .iso8601
    }

    /// Adds a name and a value, which need not be encoded. Does nothing if the value is `nil`.
    public mutating func append(_ name: String, _ value: (any QueryParameter)?) {
        value?.add(to: &self, named: name)
    }

    /// Adds a name and the raw value of an enum. Does nothing if the value is `nil`.
    public mutating func append<Value: RawRepresentable>(_ name: String, _ value: Value?)
    where Value.RawValue: QueryValue {
        value?.rawValue.add(to: &self, named: name)
    }

    /// Adds a name without a value: `?draft`.
    public mutating func append(flag name: String) {
        add(.flag, named: name)
    }

    mutating func add(_ content: Content, named name: String) {
        entries.append(Entry(name: name, content: content))
    }

    package var isEmpty: Bool { encoded.isEmpty }

    /// The names and values, with arrays as they are sent. An array in the format ``ArrayFormat/comma`` is one value.
    package var items: [Item] {
        entries.flatMap { entry -> [Item] in
            switch entry.content {
            case .flag: return [Item(entry.name, nil)]
            case .one(let value): return [Item(entry.name, value.written(dateFormat))]
            case .many(let values):
                let texts = values.map { $0.written(dateFormat) }
                switch arrayFormat {
                case .repeated: return texts.map { Item(entry.name, $0) }
                case .brackets: return texts.map { Item(entry.name + "[]", $0) }
                case .comma: return texts.isEmpty ? [] : [Item(entry.name, texts.joined(separator: ","))]
                }
            }
        }
    }

    /// The encoded query, without the question mark.
    package var encoded: String {
        entries.flatMap { entry -> [String] in
            guard arrayFormat == .comma, case .many(let values) = entry.content, !values.isEmpty else {
                return Query(entry, like: self).items.map(Self.encode)
            }
            // A comma that separates elements must differ from one within an element.
            let texts = values.map { Self.encode($0.written(dateFormat)) }
            return [Self.encode(entry.name) + "=" + texts.joined(separator: ",")]
        }.joined(separator: "&")
    }

    private init(_ entry: Entry, like other: Query) {
        self = other
        self.entries = [entry]
    }

    private static func encode(_ item: Item) -> String {
        encode(item.name) + (item.value.map { "=" + encode($0) } ?? "")
    }

    private static func encode(_ text: String) -> String {
        PercentEncoding.encode(text, allowing: PercentEncoding.isUnreserved)
    }
}

extension Query.DateFormat {
    fileprivate func text(of date: Date) -> String {
        switch self {
        case .iso8601: date.queryText
        case .day: Date.ISO8601FormatStyle().year().month().day().format(date)
        case .secondsSince1970: Self.whole(date.timeIntervalSince1970.rounded(.down))
        case .millisecondsSince1970: Self.whole((date.timeIntervalSince1970 * 1000).rounded())
        }
    }

    private static func whole(_ number: Double) -> String {
        Int64(exactly: number).map(String.init) ?? number.description
    }
}

extension Query: ExpressibleByDictionaryLiteral {
    /// Creates a query from names and values. Names with a `nil` value are left out.
    public init(dictionaryLiteral elements: (String, (any QueryParameter)?)...) {
        self.init([Item]())
        for (name, value) in elements { append(name, value) }
    }
}

extension Query: CustomReflectable {
    /// The encoded query with secrets masked.
    public var customMirror: Mirror {
        Mirror(self, children: ["encoded": Redaction.redactForm(encoded[...])], displayStyle: .struct)
    }
}
