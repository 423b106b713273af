// swift-tools-version: 6.2
// SPDX-License-Identifier: GPL-2.0-or-later

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]
let warnings: [CSetting] = [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]

let measured = Target.Dependency.product(name: "_Measured", package: "blewedge")

let package = Package(
    name: "blewedge-benchmarks",
    dependencies: [
        .package(name: "blewedge", path: "../"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        // Without traits, because the allocation counters need libraries that Debian does not have.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
    ],
    targets: [
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .target(
            name: "CPeers",
            dependencies: ["CGLib"],
            cSettings: warnings,
            cxxSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"])]
        ),
        .target(name: "CAllocations", cSettings: warnings),
        .target(name: "FilterKernel", swiftSettings: settings),
        // Linked like the product; otherwise, loading Swift's libraries would be half of a short run.
        .executableTarget(
            name: "Filter",
            dependencies: ["FilterKernel"],
            swiftSettings: settings,
            linkerSettings: [.unsafeFlags(["-static-stdlib"])]
        ),
        .target(name: "Advertisements", dependencies: [measured], swiftSettings: settings),
        .executableTarget(
            name: "Ratios",
            dependencies: [
                measured, "Advertisements", "CPeers", "FilterKernel",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Allocations",
            dependencies: [measured, "Advertisements", "CAllocations"],
            swiftSettings: settings
        ),
        .executableTarget(name: "Flood", dependencies: [measured, "CPeers"], swiftSettings: settings),
        .executableTarget(
            name: "Percentiles",
            dependencies: [measured, .product(name: "Benchmark", package: "benchmark")],
            path: "Percentiles",
            swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
    ],
    cxxLanguageStandard: .cxx17
)
