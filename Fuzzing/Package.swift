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
    name: "martlet-fuzzing",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "martlet-fuzz", targets: ["MartletFuzz"]),
        .executable(name: "martlet-search", targets: ["MartletSearch"]),
        .executable(name: "martlet-mutants", targets: ["MartletMutants"]),
        .executable(name: "martlet-fuzz-json", targets: ["MartletFuzzJSON"]),
        .executable(name: "martlet-bench-json", targets: ["MartletBenchJSON"]),
        .executable(name: "martlet-bench-micro", targets: ["MartletBenchMicro"]),
    ],
    dependencies: [
        .package(name: "martlet", path: "..", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(name: "TrapReporting", swiftSettings: settings),
        // Imports the engine with `@testable`: build it with `-Xswiftc -enable-testing`.
        .executableTarget(
            name: "MartletFuzz",
            dependencies: [
                "TrapReporting",
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletAdoption", package: "martlet"),
                .product(name: "MartletGuests", package: "martlet"),
                .product(name: "MartletTesting", package: "martlet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        // Imports the engine with `@testable`: build it with `-Xswiftc -enable-testing`.
        .executableTarget(
            name: "MartletSearch",
            dependencies: [
                "TrapReporting",
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletTesting", package: "martlet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "MartletMutants",
            dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "MartletFuzzJSON",
            dependencies: [
                "TrapReporting",
                .product(name: "MartletJSON", package: "martlet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "MartletBenchJSON",
            dependencies: [
                .product(name: "MartletJSON", package: "martlet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        // Imports the engine with `@testable`: build it with `-Xswiftc -enable-testing`.
        .executableTarget(
            name: "MartletBenchMicro",
            dependencies: [
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletJSON", package: "martlet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
