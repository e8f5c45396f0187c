/// The encryption of files by iOS, tvOS, watchOS and visionOS, with keys that may be unavailable
/// while the device is locked.
///
/// An app can choose a default class that prevents files from being opened while the device is locked. Martlet
/// therefore sets the class of its own files.
package struct DataProtection: Sendable {
    /// The condition under which a file can be opened.
    package enum Class: Sendable, Hashable {
        /// Class C: after the first unlock since the device started. For records and markers.
        case afterFirstUnlock
        /// Class D: always. For locks and other coordination files, which contain no secrets: processes must see each
        /// other at any time.
        case none
    }

    /// Sets the class of a file or folder; new files have the class of their folder. Blocks. A failure is ignored: the
    /// file keeps the app's default class.
    let protect: @Sendable (_ path: String, Class) -> Void
}
