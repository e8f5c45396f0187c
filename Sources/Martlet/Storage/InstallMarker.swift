#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A random number in the app's own container, which is deleted with the app: it tells one installation from the next.
/// Every call blocks.
struct InstallMarker: Sendable {
    private let file: PrivateFile

    enum Reading: Hashable {
        case number(Data)
        /// There is none, for certain.
        case missing
        /// It cannot be told now: the file is protected until the device is unlocked, say.
        case unknown
    }

    init(folder: String) {
        file = PrivateFile(path: folder + "/installation")
    }

    func read() -> Reading {
        do throws(StorageFailure) {
            guard let bytes = try file.read() else { return .missing }
            return bytes.isEmpty ? .unknown : .number(bytes)
        } catch {
            return .unknown
        }
    }

    /// The number of this installation, which is made where there is none.
    /// - Returns: `nil` where it can be neither read nor made.
    func make() -> Data? {
        if case .number(let number) = read() { return number }
        let number = Data((0..<16).map { _ in UInt8.random(in: 0 ... .max) })
        try? file.makeFolder()
        _ = try? file.create(with: number)
        // Another process may have been faster.
        if case .number(let number) = read() { return number }
        return nil
    }
}
