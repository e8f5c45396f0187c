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

// A session for gRPC Swift 2, which needs these systems.
let package = Package(
    name: "grpc-session",
    platforms: [.iOS("18.0"), .macOS("15.0"), .tvOS("18.0"), .watchOS("11.0"), .visionOS("2.0")],
    products: [
        .library(name: "GRPCSession", targets: ["GRPCSession"])
    ],
    dependencies: [
        .package(name: "martlet", path: "../..", traits: []),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.0"),
    ],
    targets: [
        .target(
            name: "GRPCSession",
            dependencies: [
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "Martlet", package: "martlet"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "GRPCSessionTests",
            dependencies: [
                "GRPCSession",
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCInProcessTransport", package: "grpc-swift-2"),
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletTesting", package: "martlet"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
