// What only shows once bodies are lowered: a value in two places at the same time.

internal import Foundation

final class Holder {
    var output: OutputStream?
}

func sendsHolder() async {
    let holder = Holder()
    let task = Task { holder.output?.close() }  // mistake: sending value of non-Sendable type
    holder.output = nil
    await task.value
}
