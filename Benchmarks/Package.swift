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

let package = Package(
    name: "martlet-benchmarks",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "bench-server", targets: ["BenchServer"]),
        .executable(name: "martlet-bench", targets: ["MartletBench"]),
    ],
    dependencies: [
        .package(name: "martlet", path: "..", traits: ["AsyncHTTPClient", "ImageCodecs", "URLSession"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "BenchServer",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "MartletBench",
            dependencies: [
                // So that `swift run` builds it too: it is started as a process of its own.
                "BenchServer",
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletImages", package: "martlet"),
                .product(name: "MartletJSON", package: "martlet"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
