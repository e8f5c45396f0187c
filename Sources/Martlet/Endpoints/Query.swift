/// The query of a request: names and values in order. A name may occur more than once.
///
/// Values are percent-encoded so that the server receives them unchanged: a `+` arrives as `+`, a `&` as `&`.
///
/// ```swift
/// var query: Query { ["page": 2, "tag": "a+b", "draft": nil] }     // page=2&tag=a%2Bb
/// ```
public struct Query: Sendable, Hashable {
    /// A name with its value. A name without a value is a flag (`?draft`).
    package struct Item: Sendable, Hashable {
        package var name: String
        package var value: String?

        package init(_ name: String, _ value: String?) {
            self.name = name
            self.value = value
        }
    }

    package var items: [Item]

    package init(_ items: [Item]) {
        self.items = items
    }

    /// Creates an empty query.
    public init() {
        self.init([])
    }

    /// Adds a name and a value, which need not be encoded. Does nothing if the value is `nil`.
    public mutating func append(_ name: String, _ value: (any CustomStringConvertible)?) {
        guard let value else { return }
        items.append(Item(name, value.description))
    }

    /// Adds a name without a value: `?draft`.
    public mutating func append(flag name: String) {
        items.append(Item(name, nil))
    }

    package var isEmpty: Bool { items.isEmpty }

    /// The encoded query, without the question mark.
    package var encoded: String {
        items.map { item in
            let name = PercentEncoding.encode(item.name, allowing: PercentEncoding.isUnreserved)
            guard let value = item.value else { return name }
            return name + "=" + PercentEncoding.encode(value, allowing: PercentEncoding.isUnreserved)
        }.joined(separator: "&")
    }
}

extension Query: ExpressibleByDictionaryLiteral {
    /// Creates a query from names and values of any type with a description. Names with a `nil` value are left out.
    public init(dictionaryLiteral elements: (String, (any CustomStringConvertible)?)...) {
        self.init()
        for (name, value) in elements { append(name, value) }
    }
}
