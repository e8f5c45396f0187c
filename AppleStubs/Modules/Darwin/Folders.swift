public import _DarwinTypes

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man3/directory.3.html
// Always available.
public struct DIR {}
@discardableResult public func opendir(_: UnsafePointer<CChar>!) -> UnsafeMutablePointer<DIR>! { fatalError() }
@discardableResult public func readdir(_: UnsafeMutablePointer<DIR>!) -> UnsafeMutablePointer<dirent>! { fatalError() }
@discardableResult public func closedir(_: UnsafeMutablePointer<DIR>!) -> Int32 { fatalError() }

// https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man5/dir.5.html
// Always available.
public struct dirent {
    public var d_ino: ino_t = 0
    // Apple's tuple has 1024 elements, which would slow down the compiler. No code uses a single element.
    public var d_name: (CChar, CChar, CChar, CChar)
}
