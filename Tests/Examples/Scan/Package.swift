// swift-tools-version: 6.2
// SPDX-License-Identifier: GPL-2.0-or-later

import PackageDescription

let package = Package(
    name: "Scan",
    dependencies: [.package(name: "blewedge", path: "../../..")],
    targets: [
        .executableTarget(name: "Scan", dependencies: [.product(name: "BluetoothLE", package: "blewedge")])
    ]
)
