// swift-tools-version: 6.2
// SPDX-License-Identifier: GPL-2.0-or-later

import PackageDescription

let package = Package(
    name: "Pairing",
    dependencies: [.package(name: "blewedge", path: "../../..")],
    targets: [
        .executableTarget(name: "Pairing", dependencies: [.product(name: "BluetoothLE", package: "blewedge")]),
        .testTarget(
            name: "PairingTests",
            dependencies: ["Pairing", .product(name: "BluetoothLE", package: "blewedge")]
        ),
    ]
)
