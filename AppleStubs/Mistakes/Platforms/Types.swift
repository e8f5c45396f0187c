// Types that only some of Apple platforms have.

#if canImport(UIKit)
    internal import UIKit

    @MainActor func windows() -> UIWindow? {  // mistake on watchOS: cannot find type
        nil
    }
#endif
