// swift-tools-version: 6.2
import PackageDescription

// URLSession on Linux can hang, lose bodies and crash under cancellation, so async-http-client is the default there. On
// Apple platforms, URLSession is the default and SwiftPM resolves nothing but swift-http-types. The manifest is
// compiled for the machine that builds: a build for Linux on a Mac has to enable the trait.
#if os(Linux)
    let defaultTraits: Set<String> = ["AsyncHTTPClient"]
#else
    let defaultTraits: Set<String> = []
#endif

// Apple asks libraries to declare this. On Linux it has no use, and the code that finds resources would link all of
// Foundation.
#if os(Linux)
    let privacyManifest: (excluded: [String], resources: [Resource]) = (["PrivacyInfo.xcprivacy"], [])
#else
    let privacyManifest: (excluded: [String], resources: [Resource]) = ([], [.copy("PrivacyInfo.xcprivacy")])
#endif

// The Makefile and CI turn warnings into errors. A package must not: Xcode and SwiftPM's build system "swiftbuild" pass
// -suppress-warnings to dependencies, and the compiler rejects both together.
let isStrict = Context.environment["MARTLET_STRICT"] == "1"
let strictness: [SwiftSetting] = isStrict ? [.treatAllWarnings(as: .error)] : []
let strictnessOfC: [CSetting] = isStrict ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + strictness

let asyncHTTPClient: TargetDependencyCondition? = .when(traits: ["AsyncHTTPClient"])
let encryption: TargetDependencyCondition? = .when(traits: ["Encryption"])

// Apple platforms have CryptoKit and Security.
let cryptoOnLinux: TargetDependencyCondition? = .when(platforms: [.linux], traits: ["Encryption"])

// Apple platforms have Combine.
let openCombine: TargetDependencyCondition? = .when(platforms: [.linux], traits: ["OpenCombine"])

// Apple platforms have ImageIO. Without the trait, the C code includes no header of a codec, and no codec has to be
// installed.
let imageCodecs: BuildSettingCondition = .when(platforms: [.linux], traits: ["ImageCodecs"])

let package = Package(
    name: "martlet",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Martlet", targets: ["Martlet"]),
        .library(name: "MartletAdoption", targets: ["MartletAdoption"]),
        .library(name: "MartletBackground", targets: ["MartletBackground"]),
        .library(name: "MartletCombine", targets: ["MartletCombine"]),
        .library(name: "MartletGuests", targets: ["MartletGuests"]),
        .library(name: "MartletImages", targets: ["MartletImages"]),
        .library(name: "MartletOAuth", targets: ["MartletOAuth"]),
        .library(name: "MartletUI", targets: ["MartletUI"]),
        .library(name: "MartletTesting", targets: ["MartletTesting"]),
        .library(name: "MartletJSON", targets: ["MartletJSON"]),
    ],
    traits: [
        .default(enabledTraits: defaultTraits),
        .trait(
            name: "AsyncHTTPClient",
            description: "AsyncHTTPClientTransport over swift-server/async-http-client; the default transport on Linux."
        ),
        .trait(
            name: "URLSession",
            description: "On Linux, URLSessionTransport beside async-http-client. Elsewhere it is always there."
        ),
        .trait(
            name: "Encryption",
            description: "Over apple/swift-crypto: encrypted files for secrets; on Linux, MartletOAuth."
        ),
        .trait(
            name: "ImageCodecs",
            description: "On Linux, MartletImages over libjpeg-turbo, libpng, libwebp and Little CMS."
        ),
        .trait(
            name: "OpenCombine",
            description: "Where Combine is missing, publishers and view models over OpenCombine."
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    ],
    targets: [
        .target(name: "MartletLibc", swiftSettings: settings),
        .target(
            name: "MartletStorage",
            dependencies: [
                "MartletLibc",
                .product(name: "Crypto", package: "swift-crypto", condition: encryption),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: encryption),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Martlet",
            dependencies: [
                "MartletJSON", "MartletLibc", "MartletStorage",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
                .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras", condition: asyncHTTPClient),
                .product(name: "NIOPosix", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOSOCKS", package: "swift-nio-extras", condition: asyncHTTPClient),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: asyncHTTPClient),
                .product(name: "Crypto", package: "swift-crypto", condition: encryption),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: encryption),
            ],
            exclude: privacyManifest.excluded,
            resources: privacyManifest.resources,
            swiftSettings: settings
        ),
        .target(name: "MartletAdoption", dependencies: ["Martlet", "MartletStorage"], swiftSettings: settings),
        .target(
            name: "MartletBackground",
            dependencies: [
                "Martlet", "MartletLibc", "MartletStorage", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "MartletCombine",
            dependencies: [
                "Martlet",
                .product(name: "OpenCombine", package: "OpenCombine", condition: openCombine),
            ],
            swiftSettings: settings
        ),
        .target(name: "MartletGuests", dependencies: ["Martlet"], swiftSettings: settings),
        .target(
            name: "CMartletImages",
            cSettings: [.define("MARTLET_IMAGE_CODECS", imageCodecs)] + strictnessOfC,
            linkerSettings: ["jpeg", "png", "webp", "lcms2"].map { .linkedLibrary($0, imageCodecs) }
        ),
        .target(
            name: "MartletImages",
            dependencies: ["Martlet", "MartletLibc", "CMartletImages"],
            swiftSettings: settings
        ),
        .target(
            name: "MartletOAuth",
            dependencies: [
                "Martlet", "MartletLibc", "MartletStorage", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Crypto", package: "swift-crypto", condition: cryptoOnLinux),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: cryptoOnLinux),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "MartletUI",
            dependencies: [
                "Martlet", "MartletGuests", "MartletImages",
                .product(name: "OpenCombine", package: "OpenCombine", condition: openCombine),
            ],
            swiftSettings: settings
        ),
        .target(name: "MartletTesting", dependencies: ["Martlet", "MartletLibc"], swiftSettings: settings),
        .target(name: "MartletJSON", swiftSettings: settings),
        .target(
            name: "MartletTestSupport",
            dependencies: ["MartletStorage"],
            path: "Tests/MartletTestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "MartletAdoptionTests",
            dependencies: ["MartletAdoption", "Martlet", "MartletTesting"],
            exclude: ["Records", "make_records.py"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MartletBackgroundTests",
            dependencies: ["MartletBackground", "Martlet", "MartletStorage", "MartletTesting", "MartletTestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MartletTests",
            dependencies: [
                "Martlet", "MartletAdoption", "MartletGuests", "MartletJSON", "MartletStorage", "MartletTesting",
                "MartletTestSupport",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MartletCombineTests",
            dependencies: [
                "MartletCombine", "Martlet", "MartletTesting",
                .product(name: "OpenCombine", package: "OpenCombine", condition: openCombine),
                .product(name: "OpenCombineDispatch", package: "OpenCombine", condition: openCombine),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MartletGuestsTests",
            dependencies: ["MartletGuests", "Martlet", "MartletTesting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MartletImagesTests",
            dependencies: ["MartletImages", "Martlet", "MartletTesting", "CMartletImages"],
            exclude: ["Fixtures"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MartletOAuthTests",
            dependencies: [
                "MartletOAuth", "Martlet", "MartletLibc", "MartletStorage", "MartletTesting", "MartletTestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Crypto", package: "swift-crypto", condition: cryptoOnLinux),
                .product(name: "CryptoExtras", package: "swift-crypto", condition: cryptoOnLinux),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "MartletUITests",
            dependencies: [
                "MartletUI", "MartletGuests", "MartletImages", "Martlet", "MartletTesting",
                .product(name: "OpenCombine", package: "OpenCombine", condition: openCombine),
            ],
            swiftSettings: settings
        ),
        .testTarget(name: "MartletJSONTests", dependencies: ["MartletJSON"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
