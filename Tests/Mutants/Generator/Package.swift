// swift-tools-version: 6.2
// SPDX-License-Identifier: GPL-2.0-or-later

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "Generator",
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", from: "602.0.0")],
    targets: [
        .target(
            name: "MutantGenerator",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftOperators", package: "swift-syntax"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "mutants", dependencies: ["MutantGenerator"], swiftSettings: settings),
        .testTarget(
            name: "MutantGeneratorTests",
            dependencies: ["MutantGenerator"],
            exclude: ["snippets.txt"],
            swiftSettings: settings
        ),
    ]
)
