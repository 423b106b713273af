// swift-tools-version: 6.2
// SPDX-License-Identifier: GPL-2.0-or-later

import PackageDescription

let package = Package(
    name: "ApplicationTest",
    dependencies: [.package(name: "blewedge", path: "../../..")],
    targets: [
        .target(name: "Thermostat", dependencies: [.product(name: "BluetoothLE", package: "blewedge")]),
        .testTarget(
            name: "ThermostatTests",
            dependencies: ["Thermostat", .product(name: "VirtualTransport", package: "blewedge")]
        ),
    ]
)
