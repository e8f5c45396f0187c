/// The encryption of files by iOS, tvOS, watchOS and visionOS, with keys that a locked device may lack.
///
/// An app can make a class the default in which no file can be opened while the device is locked. Martlet therefore
/// sets the class of its own files.
package struct DataProtection: Sendable {
    /// The condition under which a file can be opened.
    package enum Class: Sendable, Hashable {
        /// Class C: from the first unlock after the start of the device on. For records and markers.
        case afterFirstUnlock
        /// Class D: always. For locks and notes, which have no secrets: without them, processes would not see each other.
        case none
    }

    /// Sets the class of a file or folder; new files have the class of their folder. Blocks. A failure is ignored: the
    /// file keeps the app's default class.
    let protect: @Sendable (_ path: String, Class) -> Void
}
