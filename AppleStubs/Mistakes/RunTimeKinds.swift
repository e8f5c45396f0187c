// Kinds of types and declarations that only later runtimes support, and API of later standard libraries.

internal import FoundationEssentials
internal import Synchronization

func counts() -> Int {
    let list: [any AsyncSequence<Int, Never>] = []
    return list.count  // too new: the Failure of an existential AsyncSequence
}

// too new: an integer generic parameter
struct Grid<let width: Int> {
    var rows = 0
}

// too new: a generic type with a parameter pack
struct Several<each Value> {
    var values: (repeat each Value)
}

// too new: a generic type with noncopyable arguments
struct Holder<Value: ~Copyable>: ~Copyable {
    var value: Value
}

@MainActor final class Screen {
    var title = ""

    // too new: isolated deinit
    isolated deinit { title = "" }
}

func row() -> Int {
    let row: [3 of Int] = [1, 2, 3]
    return row.count  // too new: InlineArray.count
}

func total() -> Int {
    let total = Mutex(0)  // too new: Mutex.init(_:)
    return total.withLock { $0 }
}

func languages() -> Int {
    Locale.preferredLocales.count  // too new: Locale.preferredLocales
}
