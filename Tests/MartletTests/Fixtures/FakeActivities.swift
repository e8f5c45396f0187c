import Dispatch
import Foundation

@testable import Martlet
@testable import MartletStorage

/// Acts as the system: grants or refuses expiring activities, and ends them on request.
final class FakeActivities: Sendable {
    struct Activity {
        let block: @Sendable (Bool) -> Void
        var hasReturned = false
    }

    let grantsActivities = Locked(true)
    let started = Locked<[Activity]>([])

    var activities: ExpiringActivities {
        ExpiringActivities { _, block in
            guard self.grantsActivities.withLock({ $0 }) else {
                // The system reports a refused activity at once.
                DispatchQueue.global().async { block(true) }
                return
            }
            let index = self.started.withLock {
                $0.append(Activity(block: block))
                return $0.count - 1
            }
            // On its own thread, which lasts as long as the activity.
            Thread.detachNewThread {
                block(false)
                self.started.withLock { $0[index].hasReturned = true }
            }
        }
    }

    func expireLast() {
        let block = started.withLock { $0.last?.block }
        block?(true)
    }

    func waitUntilAllReturned() async {
        while started.withLock({ !$0.allSatisfy(\.hasReturned) }) { await Task.yield() }
    }
}
