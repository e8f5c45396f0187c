#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A random number in the app's container, which distinguishes one installation from the next because it is deleted
/// with the app. Every call blocks.
struct InstallMarker: Sendable {
    private let file: PrivateFile

    /// The result of reading the number.
    enum Reading: Hashable {
        case number(Data)
        /// There is definitely no number.
        case missing
        /// The number cannot be read now, for example because the device is locked.
        case unknown
    }

    /// Returns `nil` for a folder of caches. The system may delete its files while the app stays installed, so neither
    /// a missing nor another number proves anything. tvOS has no other folders.
    init?(folder: String, steps: FileSteps = .unobserved) {
        if "\(folder)/".contains("/Library/Caches/") { return nil }
        file = PrivateFile(path: folder + "/installation", steps: steps)
    }

    func read() -> Reading {
        do throws(StorageError) {
            guard let bytes = try file.read() else { return .missing }
            return bytes.isEmpty ? .unknown : .number(bytes)
        } catch {
            return .unknown
        }
    }

    /// The number of this installation, created if missing.
    /// - Returns: `nil` if it can be neither read nor created.
    func readOrCreate() -> Data? {
        if case .number(let number) = read() { return number }
        let number = Data((0..<16).map { _ in UInt8.random(in: 0 ... .max) })
        try? file.makeFolder()
        _ = try? file.create(with: number)
        // Another process may have created it first.
        if case .number(let number) = read() { return number }
        return nil
    }
}
