#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    internal import Foundation

    extension DataProtection {
        /// The data protection of the operating system.
        package static let platform: DataProtection? = DataProtection { path, newClass in
            let type: FileProtectionType =
                switch newClass {
                case .afterFirstUnlock: .completeUntilFirstUserAuthentication
                case .none: .none
                }
            try? FileManager.default.setAttributes([.protectionKey: type], ofItemAtPath: path)
        }
    }
#else
    extension DataProtection {
        /// `nil`: on this system, a process can always open its files.
        package static let platform: DataProtection? = nil
    }
#endif
