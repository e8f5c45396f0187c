// Data races that the compiler detects only after type checking: a value used in two places at the same time.

internal import Combine
internal import CoreGraphics
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

func sendsImage(_ image: CGImage) async -> Int {
    await Task.detached { image.width }.value  // mistake: closure as a 'sending' parameter risks causing data races
}

func sendsSubscriber(_ subscriber: AnySubscriber<Int, Never>) async {
    await Task.detached { _ = subscriber.receive(1) }.value  // mistake: closure as a 'sending' parameter risks causing data races
}

func sendsName(_ name: CFString) async {
    await Task.detached { _ = name.hashValue }.value  // mistake: closure as a 'sending' parameter risks causing data races
}
