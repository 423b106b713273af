// swift-tools-version: 6.2
// SPDX-License-Identifier: GPL-2.0-or-later

import PackageDescription

let package = Package(
    name: "Central",
    dependencies: [.package(name: "blewedge", path: "../../..")],
    targets: [
        .executableTarget(name: "Central", dependencies: [.product(name: "BluetoothLE", package: "blewedge")])
    ]
)
