#if os(iOS)
    internal import UIKit

    func asksFromAnywhere() -> Bool {
        UIApplication.shared.isProtectedDataAvailable  // mistake: can not be referenced from a nonisolated context
    }
#endif
