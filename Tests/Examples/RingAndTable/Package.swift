// swift-tools-version: 6.2
// SPDX-License-Identifier: GPL-2.0-or-later

import PackageDescription

let package = Package(
    name: "RingAndTable",
    dependencies: [.package(name: "blewedge", path: "../../..")],
    targets: [
        .executableTarget(name: "RingAndTable", dependencies: [.product(name: "Keystrokes", package: "blewedge")])
    ]
)
