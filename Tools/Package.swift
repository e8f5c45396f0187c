// swift-tools-version: 6.2

import PackageDescription

// For the Makefile and CI only, as in the manifest of the library.
let strictness: [SwiftSetting] = Context.environment["MARTLET_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + strictness

let package = Package(
    name: "martlet-tools",
    platforms: [.macOS(.v14)],
    products: [
        .library(name: "ReferenceBackend", targets: ["ReferenceBackend"]),
        .executable(name: "martlet", targets: ["MartletCommand"]),
    ],
    dependencies: [
        .package(name: "martlet", path: "..", traits: ["AsyncHTTPClient", "URLSession", "Encryption"]),
        .package(name: "guest-kit", path: "../Examples/GuestApp/GuestKit", traits: ["Encryption"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .target(
            name: "ReferenceBackend",
            dependencies: [
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        // On file systems that ignore case a module "martlet" would overwrite the library's.
        .executableTarget(
            name: "MartletCommand",
            dependencies: [
                "ReferenceBackend",
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletGuests", package: "martlet"),
                .product(name: "MartletOAuth", package: "martlet"),
                .product(name: "MartletTesting", package: "martlet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
            ],
            path: "Sources/martlet",
            swiftSettings: settings
        ),
        .testTarget(
            name: "MartletCommandTests",
            dependencies: [
                "MartletCommand",
                "ReferenceBackend",
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletOAuth", package: "martlet"),
                .product(name: "MartletTesting", package: "martlet"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TransportContractTests",
            dependencies: [
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletTesting", package: "martlet"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "ReferenceBackend",
                .product(name: "GuestKit", package: "guest-kit"),
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletGuests", package: "martlet"),
                .product(name: "MartletOAuth", package: "martlet"),
                .product(name: "MartletTesting", package: "martlet"),
                .product(name: "MartletImages", package: "martlet"),
                .product(name: "MartletUI", package: "martlet"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ReferenceBackendTests",
            dependencies: [
                "ReferenceBackend",
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletTesting", package: "martlet"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
    ]
)
