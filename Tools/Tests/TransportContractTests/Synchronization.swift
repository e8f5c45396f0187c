import Foundation

/// A one-time event that tasks can wait for.
final class Signal: Sendable {
    private let state = Locker((fired: false, waiters: [CheckedContinuation<Void, Never>]()))

    var hasFired: Bool { state.with { $0.fired } }

    func fire() {
        let waiters = state.with { state in
            defer { state = (true, []) }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { waiter in
            let fired = state.with { state in
                if !state.fired { state.waiters.append(waiter) }
                return state.fired
            }
            if fired { waiter.resume() }
        }
    }
}

/// A value protected by a lock.
final class Locker<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
