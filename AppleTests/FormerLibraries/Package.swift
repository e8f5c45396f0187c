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

// The libraries whose sessions MartletAdoption reads. This is a package of its own, so that no other build loads them.
// The versions are those that the readers in Sources/MartletAdoption/Formats name; AppleStubs/Foreign declares the same.
let package = Package(
    name: "former-libraries",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "martlet", path: "../..", traits: []),
        .package(url: "https://github.com/openid/AppAuth-iOS", exact: "2.1.0"),
        .package(url: "https://github.com/google/GTMAppAuth", exact: "5.0.0"),
        .package(url: "https://github.com/auth0/Auth0.swift", exact: "3.1.0"),
        // The version that Auth0.swift 3.1.0 demands.
        .package(url: "https://github.com/auth0/SimpleKeychain", exact: "1.3.0"),
        .package(url: "https://github.com/supabase/supabase-swift", exact: "2.55.1"),
    ],
    targets: [
        .testTarget(
            name: "FormerLibrariesTests",
            dependencies: [
                .product(name: "AppAuthCore", package: "AppAuth-iOS"),
                .product(name: "Auth", package: "supabase-swift"),
                .product(name: "Auth0", package: "Auth0.swift"),
                .product(name: "GTMAppAuth", package: "GTMAppAuth"),
                .product(name: "Martlet", package: "martlet"),
                .product(name: "MartletAdoption", package: "martlet"),
                .product(name: "SimpleKeychain", package: "SimpleKeychain"),
            ],
            swiftSettings: settings
        )
    ],
    swiftLanguageModes: [.v6]
)
