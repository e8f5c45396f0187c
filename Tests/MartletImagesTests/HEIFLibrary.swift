#if ImageCodecs || canImport(ImageIO)
    import Foundation
    import Testing

    @testable import MartletImages

    /// What reads HEIC and AVIF. On Linux that is libheif, which need not be installed.
    enum HEIFLibrary {
        /// Skips a test where there is none, unless the tests run for everybody: there they are not to be left out.
        static let isThere: ConditionTrait = .enabled(
            if: canDecode || ProcessInfo.processInfo.environment["CI"] != nil,
            "needs libheif with its decoder for HEVC (Debian, Ubuntu: apt-get install libheif1)")

        #if os(Linux)
            /// Skips a test where there is no libheif that can be told how large parts may be.
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
