// swift-tools-version: 6.2
import PackageDescription

// For the Makefile and CI only, as in the manifest of the library.
let strictness: [SwiftSetting] = Context.environment["MARTLET_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + strictness

// The app's logic without its views, so that it can be tested anywhere.
let package = Package(
    name: "guest-kit",
    platforms: [.iOS(.v17), .macOS(.v14)],
    products: [
        .library(name: "GuestKit", targets: ["GuestKit"])
    ],
    traits: [
        .trait(name: "Encryption", description: "On Linux, the sign-in with a browser, over apple/swift-crypto.")
    ],
    dependencies: [
        .package(
            name: "martlet", path: "../../..",
            traits: [.defaults, .trait(name: "Encryption", condition: .when(traits: ["Encryption"]))])
    ],
    targets: [
        .target(
            name: "GuestKit",
            dependencies: [
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletOAuth", package: "martlet"),
                .product(name: "MartletUI", package: "martlet"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "GuestKitTests",
            dependencies: [
                "GuestKit",
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletTesting", package: "martlet"),
                .product(name: "MartletUI", package: "martlet"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
