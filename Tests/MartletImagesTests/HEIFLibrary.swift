#if ImageCodecs || canImport(ImageIO)
    import Foundation
    import Testing

    @testable import MartletImages

    /// The decoder for HEIC and AVIF. On Linux this is libheif, which is optional.
    enum HEIFLibrary {
        /// Skips a test if libheif is missing, except in CI, where it must be installed.
        static let isThere: ConditionTrait = .enabled(
            if: canDecode || ProcessInfo.processInfo.environment["CI"] != nil,
            "needs libheif with its decoder for HEVC (Debian, Ubuntu: apt-get install libheif1)")

        #if os(Linux)
            /// Skips a test if libheif is too old to have security limits.
            static let hasLimits: ConditionTrait = .enabled("needs libheif 1.19 or newer") {
                guard let library = dlopen("libheif.so.1", RTLD_NOW) else { return false }
                defer { dlclose(library) }
                return dlsym(library, "heif_context_get_security_limits") != nil
            }
        #endif

        private static let canDecode: Bool = {
            do throws(ImageError) {
                guard let file = try? Pictures.data("quarters.heic") else { return false }
                let codec = PlatformCodec.standard
                let description = try codec.inspect(file, as: .heic)
                _ = try codec.decode(file, description, to: description.size, Cancellation())
            } catch {
                if case .unsupported = error { return false }
            }
            return true
        }()
    }
#endif
