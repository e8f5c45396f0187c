#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Where a picture comes from.
public enum ImageSource: Sendable, Hashable {
    /// The bytes of a picture's file, in memory.
    case data(Data)
    /// A file. What it holds is told from its content, so its name does not matter.
    case file(at: String)

    /// A file. What it holds is told from its content, so its name does not matter.
    public static func file(_ url: URL) -> ImageSource { .file(at: url.path) }
}
