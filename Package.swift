// swift-tools-version: 6.2
// SPDX-License-Identifier: GPL-2.0-or-later

import PackageDescription

// No warning is left standing with the compiler that the product is made with. An older one, which Tests/Release/arm uses, sees unsafe
// uses in other places.
#if compiler(>=6.3)
    let warnings: [SwiftSetting] = [.treatAllWarnings(as: .error)]
#else
    let warnings: [SwiftSetting] = []
#endif

/// What every Swift target is built with.
///
/// Swift 6 mode (the tools version), explicit imports, strict memory safety, and no warning left standing. The tests' command adds `--explicit-target-dependency-import-check error`.
let swiftSettings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableExperimentalFeature("Lifetimes"),
        .strictMemorySafety(),
    ] + warnings

/// How Tests/Fuzzing/run has it built: `address` with address sanitizer, `quick` without; nil in every other build.
let fuzzing = Context.environment["BLEWEDGE_FUZZING"]

/// What takes hostile bytes, and counts its edges for libFuzzer; the rest would only be more to look at after each input.
let fuzzed: Set = [
    "BluetoothPackets", "BluetoothHost", "Keystrokes", "Typing", "Devices", "Configuration", "Link", "Control",
    "BeaconServer", "HIDReports", "HIDHost", "SensorValues",
]

/// The settings of a target of the product.
func settings(_ name: String) -> [SwiftSetting] {
    let counters = "edge,inline-8bit-counters,pc-table"
    switch fuzzing {
    case "address" where fuzzed.contains(name): return swiftSettings + [.unsafeFlags(["-sanitize=fuzzer,address"])]
    case "address": return swiftSettings + [.unsafeFlags(["-sanitize=address"])]
    case "quick" where fuzzed.contains(name):
        return swiftSettings + [.unsafeFlags(["-sanitize=fuzzer", "-sanitize-coverage=\(counters)"])]
    default: return swiftSettings
    }
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

/// A target of the product with the arrows of the architecture, and its tests beside it.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings(name))
}

/// Tests call the C library to play the other side; strict memory safety is for the product.
let testSettings = Array(swiftSettings.dropLast(1 + warnings.count)) + warnings

/// A test target.
func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name,
        dependencies: dependencies,
        path: "Tests/Unit/\(name)",
        exclude: exclude,
        swiftSettings: testSettings
    )
}

let package = Package(
    name: "blewedge",
    products: [
        .executable(name: "blewedge", targets: ["blewedge"]),
        .library(name: "BluetoothLE", targets: ["BluetoothLE"]),
        // A radio in memory, for the tests of an application on BluetoothLE.
        .library(name: "VirtualTransport", targets: ["VirtualTransport"]),
        // From bytes to key events: the ring, the table, the pace; it needs no Bluetooth.
        .library(name: "Keystrokes", targets: ["Keystrokes"]),
        // What the package Benchmarks measures; not for users.
        .library(
            name: "_Measured",
            targets: [
                "Measuring", "RadioMeasuring", "CReference", "Keystrokes", "HIDReports", "BluetoothHost",
                "BluetoothPackets",
            ]
        ),
        // What Tests/Fuzzing/run links with libFuzzer; not for users.
        .library(name: "_Fuzzed", type: .static, targets: ["Fuzzing"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        .systemLibrary(name: "CBluetooth", providers: [.apt(["libbluetooth-dev"])]),
        .systemLibrary(name: "CCapability", providers: [.apt(["libcap-dev"])]),
        .systemLibrary(name: "CJansson", providers: [.apt(["libjansson-dev"])]),
        .target(name: "CLinux"),
        // toml++ (libtomlplusplus-dev), headers only, behind a header of C's.
        .target(name: "CTOML"),
        // The part of mbedTLS (libmbedtls-dev) that pairing needs, behind a header of C; its archive by its file name, so that
        // it is linked statically (D-16).
        .target(name: "CMbedTLS", linkerSettings: [.linkedLibrary(":libmbedcrypto.a")]),
        module("Cryptography", ["CMbedTLS"]),
        // Which characters of a text from outside may be shown: one answer for names and for JSON.
        module("Printable"),
        module("BluetoothPackets", ["Printable"]),
        module("BluetoothHost", ["BluetoothPackets", "Cryptography"]),
        module("VirtualRadio", ["BluetoothPackets"]),
        module("LinuxIO", ["CLinux", "CBluetooth", "CCapability", systemPackage]),
        // The adapters of the kernel and of this process's host, their links, and the arbiter that shares a radio.
        module("BluetoothAdapters", ["BluetoothHost", "BluetoothPackets", "LinuxIO", systemPackage]),
        // What an application uses: the roles over an adapter, as actors.
        module("BluetoothLE", ["BluetoothAdapters", "BluetoothHost", "BluetoothPackets", "LinuxIO"]),
        module("VirtualAdapters", ["BluetoothAdapters", "BluetoothPackets", "LinuxIO", "VirtualRadio"]),
        module(
            "VirtualTransport",
            ["BluetoothLE", "BluetoothAdapters", "BluetoothPackets", "LinuxIO", "VirtualAdapters"]
        ),
        module("Keystrokes"),
        // From the reports of a keyboard to text: report descriptors, held keys, characters.
        module("HIDReports", ["Keystrokes"]),
        // The numbers that scales and sensors report.
        module("SensorValues", ["BluetoothPackets"]),
        // Host side of HID over GATT: discovery, subscriptions, input, and the saved record of a device.
        module("HIDHost", ["BluetoothHost", "BluetoothPackets", "HIDReports"]),
        // What is installed on a target system, beside the files that it is: one source for both.
        .target(
            name: "ServiceFiles",
            path: "udev",
            sources: ["ServiceFile.swift", "ServiceLines.swift"],
            resources: [
                .embedInCode("60-blewedge.rules"), .embedInCode("blewedge.service"), .embedInCode("modules-load.conf"),
                .embedInCode("blewedge-beacons.service"), .embedInCode("blewedge-beacons.timer"),
                .embedInCode("sysusers.conf"), .embedInCode("tmpfiles.conf"), .embedInCode("blewedge-service.sh"),
                .embedInCode("blewedge.openrc"), .embedInCode("blewedge.sysvinit"), .embedInCode("blewedge.runit"),
                .embedInCode("blewedge-finish.runit"), .embedInCode("blewedge-log.runit"),
                .embedInCode("inittab.sysvinit"), .embedInCode("inittab.busybox"), .embedInCode("mdev.conf"),
            ],
            swiftSettings: swiftSettings
        ),
        module("Texts", ["Printable", "CJansson"]),
        // Regions, watching, ranging, designated beacons: state machines on the library's packets.
        module("Beacons", ["BluetoothAdapters", "BluetoothHost", "BluetoothPackets", "Texts"]),
        // libcurl's functions with any argument, behind a header of C; the library is loaded when a server is first asked.
        .target(name: "CCurl"),
        module("BeaconServer", ["Texts", "LinuxIO", "CCurl", systemPackage]),
        module("Typing", ["SensorValues", "Texts", "Keystrokes", "LinuxIO", systemPackage]),
        // Which device is meant, how it is found, and what is kept of it.
        module(
            "Devices",
            ["Texts", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets", "HIDHost", "LinuxIO", systemPackage]
        ),
        // The configuration file and the profiles of devices.
        module(
            "Configuration",
            [
                "Devices", "HIDReports", "SensorValues", "Typing", "Beacons", "Texts", "BluetoothAdapters",
                "BluetoothHost",
                "BluetoothPackets",
                "Keystrokes", "LinuxIO", "CTOML", systemPackage,
            ]
        ),
        // The link of one device, from its set-up to the readers of its text.
        module(
            "Link",
            [
                "Configuration", "Devices", "HIDHost", "HIDReports", "Typing", "Texts", "BluetoothAdapters",
                "BluetoothHost", "BluetoothPackets",
                "Keystrokes", "LinuxIO", systemPackage,
            ]
        ),
        // The adapter `memory:` and the simulated devices around it.
        module(
            "Rehearsal",
            [
                "Link", "Configuration", "Beacons", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets",
                "HIDReports", "LinuxIO", "VirtualAdapters", "VirtualRadio",
            ]
        ),
        // Requests and answers over the control socket, its client and its server.
        module(
            "Control",
            [
                "Configuration", "Devices", "Typing", "Beacons", "Texts", "BluetoothAdapters", "BluetoothHost",
                "BluetoothPackets", "LinuxIO", systemPackage,
            ]
        ),
        module(
            "Daemon",
            [
                "Control", "Link", "HIDHost", "HIDReports", "SensorValues", "Configuration", "Devices", "Typing",
                "Beacons", "Texts",
                "BluetoothAdapters", "BluetoothHost", "BluetoothPackets",
                "Keystrokes", "LinuxIO", systemPackage,
            ]
        ),
        module(
            "Setup",
            [
                "Daemon", "Control", "Configuration", "Devices", "Typing", "Texts", "BluetoothAdapters",
                "BluetoothHost", "BluetoothPackets",
                "Keystrokes", "LinuxIO", "ServiceFiles", systemPackage,
            ]
        ),
        .target(name: "CReference"),
        module("Measuring", ["Keystrokes", "LinuxIO", "CReference", systemPackage]),
        .executableTarget(
            name: "blewedge",
            dependencies: [
                "Setup", "Daemon", "Control", "Rehearsal", "Link", "Configuration", "Devices", "BeaconServer", "Typing",
                "Beacons", "Texts", "Measuring", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets",
                "VirtualAdapters",
                "HIDReports", "SensorValues", "Keystrokes", "LinuxIO", "Cryptography",
                argumentParser, systemPackage,
            ],
            swiftSettings: swiftSettings,
            // Nobody links with the program: its names are not listed in it.
            linkerSettings: [.unsafeFlags(["-Xlinker", "--no-export-dynamic"])]
        ),
        // The library's user in the tests against other stacks.
        .executableTarget(
            name: "gattpeer",
            dependencies: ["BluetoothLE", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets"],
            path: "Tests/Support/GATTPeer",
            swiftSettings: testSettings
        ),
        .target(
            name: "TestSupport",
            dependencies: ["LinuxIO"],
            path: "Tests/Support/TestSupport",
            swiftSettings: testSettings
        ),
        // A time that passes only while all threads sleep.
        .target(
            name: "ClockSupport",
            dependencies: ["LinuxIO", "CLinux"],
            path: "Tests/Support/ClockSupport",
            swiftSettings: testSettings
        ),
        // Messages as literals, for tests of what is said.
        .target(
            name: "TextsSupport",
            dependencies: ["Texts"],
            path: "Tests/Support/TextsSupport",
            swiftSettings: testSettings
        ),
        // A controller at the end of a line that does what its script says, byte by byte.
        .target(
            name: "FirmwareSupport",
            dependencies: ["BluetoothPackets", "LinuxIO"],
            path: "Tests/Support/FirmwareSupport",
            swiftSettings: testSettings
        ),
        // The radio thread's own path over sockets of a pair, for the package Benchmarks and for tests.
        .target(
            name: "RadioMeasuring",
            dependencies: [
                "Beacons", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets", "LinuxIO", "Measuring",
                systemPackage,
            ],
            path: "Tests/Support/RadioMeasuring",
            swiftSettings: testSettings
        ),
        tests("BluetoothPacketsTests", ["TestSupport", "BluetoothPackets"]),
        .target(
            name: "ConformanceSupport",
            dependencies: [
                "TestSupport", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets", "LinuxIO", systemPackage,
            ],
            path: "Tests/Support/ConformanceSupport",
            swiftSettings: testSettings
        ),
        // Replays the conformance files over real transports, in the kernel lab.
        .executableTarget(
            name: "conformance",
            dependencies: [
                "ConformanceSupport", "TestSupport", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets",
                "LinuxIO",
            ],
            path: "Tests/Support/ConformanceRunner",
            swiftSettings: testSettings
        ),
        // Cases for the comparison of HIDReports with Linux in the kernel lab, and our verdicts.
        .executableTarget(
            name: "hidcases",
            dependencies: ["HIDReports", "Keystrokes", "TestSupport"],
            path: "Tests/Support/HIDCases",
            swiftSettings: testSettings
        ),
        // The daemon path through days of virtual time, and the program that runs it.
        .target(
            name: "SoakSupport",
            dependencies: [
                "Daemon", "Control", "Link", "Configuration", "Devices", "Typing", "BluetoothAdapters", "BluetoothHost",
                "BluetoothPackets", "VirtualAdapters",
                "VirtualRadio", "Keystrokes", "LinuxIO", "Measuring", "ClockSupport",
            ],
            path: "Tests/Support/SoakSupport",
            swiftSettings: testSettings
        ),
        .executableTarget(
            name: "soak",
            dependencies: ["SoakSupport", "LinuxIO"],
            path: "Tests/Support/Soak",
            exclude: ["figures.md"],
            swiftSettings: testSettings
        ),
        tests(
            "BluetoothHostTests",
            [
                "TestSupport", "ConformanceSupport", "BluetoothHost", "BluetoothPackets", "Cryptography",
                "VirtualRadio",
            ]
        ),
        tests("CryptographyTests", ["TestSupport", "Cryptography"]),
        tests("VirtualRadioTests", ["TestSupport", "VirtualRadio", "BluetoothPackets"]),
        tests("LinuxIOTests", ["TestSupport", "ClockSupport", "LinuxIO", "CLinux", "Keystrokes", systemPackage]),
        tests(
            "BluetoothLETests",
            [
                "TestSupport", "ClockSupport", "ConformanceSupport", "FirmwareSupport", "RadioMeasuring",
                "BluetoothLE", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets",
                "CLinux", "LinuxIO", "VirtualRadio", "VirtualAdapters", "VirtualTransport", systemPackage,
            ]
        ),
        tests(
            "BeaconsTests",
            [
                "TestSupport", "RadioMeasuring", "Beacons", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets",
                "Texts",
            ]
        ),
        tests("KeystrokesTests", ["TestSupport", "Keystrokes"]),
        tests("SensorValuesTests", ["TestSupport", "SensorValues", "BluetoothPackets"]),
        tests("HIDReportsTests", ["TestSupport", "HIDReports", "Keystrokes"]),
        tests(
            "HIDHostTests",
            ["TestSupport", "HIDHost", "HIDReports", "BluetoothHost", "BluetoothPackets", "Keystrokes"]
        ),
        tests("TextsTests", ["TestSupport", "Texts", "BluetoothPackets", "Printable"]),
        tests(
            "TypingTests",
            [
                "TestSupport", "ClockSupport", "Control", "SensorValues", "Typing", "Texts", "Keystrokes", "LinuxIO",
                systemPackage,
            ]
        ),
        tests(
            "CommandLineTests",
            [
                "TestSupport", "ClockSupport", "FirmwareSupport", "RadioMeasuring", "blewedge", "Setup", "Daemon",
                "Control", "Link", "Configuration", "Devices", "BeaconServer", "Beacons", "Measuring", "Rehearsal",
                "Typing", "Texts", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets",
                "VirtualAdapters", "Keystrokes", "LinuxIO", systemPackage,
            ]
        ),
        tests(
            "WedgeTests",
            [
                "TestSupport", "ClockSupport", "TextsSupport", "SoakSupport", "Setup", "Daemon", "Control", "Rehearsal",
                "Link", "Configuration", "Devices", "Typing", "Beacons", "Texts",
                "BluetoothAdapters", "BluetoothHost", "BluetoothPackets", "HIDHost", "HIDReports", "SensorValues",
                "VirtualAdapters",
                "Keystrokes",
                "LinuxIO", "CLinux", systemPackage,
            ]
        ),
        tests(
            "SetupTests",
            [
                "TestSupport", "TextsSupport", "Setup", "Daemon", "Control", "Link", "Configuration", "Devices",
                "Typing", "Texts", "ServiceFiles", "BluetoothAdapters", "BluetoothHost", "BluetoothPackets",
                "Keystrokes", "LinuxIO", systemPackage,
            ]
        ),
        tests(
            "BeaconServerTests",
            [
                "TestSupport", "LinuxIO", "blewedge", "BeaconServer", "Daemon", "Control", "Link", "Configuration",
                "Devices", "Texts", argumentParser, systemPackage,
            ],
            exclude: ["reference-server.py"]
        ),
        tests("MeasuringTests", ["TestSupport", "Measuring", "Keystrokes", systemPackage]),
        // What is fuzzed: Tests/Fuzzing/run builds it with libFuzzer, and FuzzingTests replays the corpus.
        .target(
            name: "Fuzzing",
            dependencies: [
                "BluetoothHost", "BluetoothPackets", "Keystrokes", "HIDReports", "SensorValues", "Typing", "Daemon",
                "Control", "Link",
                "Configuration", "Devices", "BeaconServer", "Texts",
            ],
            path: "Tests/Fuzzing/Entries",
            swiftSettings: testSettings
        ),
        tests("FuzzingTests", ["TestSupport", "Fuzzing"]),
        // What the repository says of itself: ids, and the README's table of modules.
        tests("RepositoryTests", ["TestSupport"]),
    ],
    cxxLanguageStandard: .cxx17
)

// The test targets that Tests/Release/arm names are built, and no other one; all in every other build.
if let named = Context.environment["BLEWEDGE_TESTS"]?.split(separator: " ") {
    package.targets.removeAll { $0.type == .test && !named.contains($0.name[...]) }
}
