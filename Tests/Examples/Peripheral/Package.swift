// swift-tools-version: 6.2
// SPDX-License-Identifier: GPL-2.0-or-later

import PackageDescription

let package = Package(
    name: "Peripheral",
    dependencies: [.package(name: "blewedge", path: "../../..")],
    targets: [
        .executableTarget(name: "Peripheral", dependencies: [.product(name: "BluetoothLE", package: "blewedge")])
    ]
)
