// SPDX-License-Identifier: GPL-2.0-or-later

/// The sentences about an adapter and about scanning, in English, each standing here alone.
///
/// A table of translations is made of the same ones: it gives the places for what they are told of, such as `{1}`.
package enum AdapterSentence {
    static func managementBroken(_ error: String) -> String { "the kernel's management channel broke: \(error)" }
    package static let noBluetooth = "this kernel has no Bluetooth (AF_BLUETOOTH is unknown)"
    package static let noAdapter = "no Bluetooth adapter"
    package static let refusedByKernel = "not permitted: the kernel refuses"
    package static let scanRefused = "not permitted to scan"
    package static let scanUnsupported = "the controller knows no scan commands"
    package static let gone = "the adapter is gone"

    package static func notFound(_ selector: String, _ available: String) -> String {
        "no adapter \(selector); there is \(available)"
    }

    package static func noLowEnergy(_ name: String) -> String { "\(name) has no Bluetooth Low Energy" }

    package static func softBlocked(_ name: String) -> String { "\(name) is blocked by rfkill (soft)" }

    package static func hardBlocked(_ name: String) -> String {
        "\(name) is blocked by a switch or the firmware (rfkill hard)"
    }

    package static func removed(_ name: String) -> String { "\(name) was removed" }

    package static func switchedOff(_ name: String) -> String { "\(name) was switched off" }

    package static func controllerError(_ name: String, _ code: UInt8) -> String {
        "\(name) reported a hardware error, code \(code)"
    }

    package static func nothingHeard(_ name: String) -> String {
        "nothing was heard for long: \(name) is switched off and on"
    }

    package static func scanFailsAlways(_ name: String) -> String {
        "scanning fails again and again: \(name) is switched off and on"
    }

    package static func endsNothing(_ name: String) -> String {
        "\(name) does not end what it was asked for: it is switched off and on"
    }

    package static func missingRights(_ capabilities: String) -> String { "not permitted: \(capabilities) missing" }

    package static func scanWithoutRights(_ capabilities: String) -> String {
        "\(scanRefused): \(capabilities) missing"
    }

    package static func refused(_ request: String, _ status: String) -> String {
        "the kernel refused \(request): \(status)"
    }

    package static func unknownToKernel(_ request: String) -> String { "this kernel does not know \(request)" }

    package static func silent(_ opcode: String) -> String { "the kernel did not answer \(opcode)" }

    package static func system(_ work: String, _ error: String) -> String { "cannot \(work): \(error)" }

    package static func noAddress(_ address: String) -> String { "h4:\(address) has no IPv4 address" }

    package static func noLine(_ path: String) -> String { "\(path) is no serial line" }

    package static func stream(_ address: String, _ error: String) -> String { "cannot open h4:\(address): \(error)" }

    /// The sentences that say what mends it.
    package enum Remedy {
        package static let loadModule =
            "load it with `modprobe bluetooth`, or use a kernel built with CONFIG_BT and CONFIG_BT_LE"
        package static let plugIn =
            "plug one in; `dmesg | grep -i bluetooth` tells of one that did not start, and a UART controller needs `btattach`"
        package static let plugBackIn = "plug it in again"
        package static let newerAdapter = "use an adapter of Bluetooth 4.0 or later"
        package static let unblock = "unblock it with `rfkill unblock bluetooth`"
        package static let switchOn = "turn the switch on, or look for it in the firmware's settings"
        package static let kernelLog = "`dmesg` may say more"
        package static let offAndOn = "\(kernelLog); switching the adapter off and on often helps"
        package static let newerKernel = "use a newer kernel, or one of which less was left out"
        package static let plugInAgain = "the adapter may hang: unplug it and plug it in again"
        package static let socketOwner = "run as the user who made the socket, or as root"
        package static let nameLine = "name the line that the controller is at; `dmesg | grep tty` lists them"
        package static let startEmulator = "start what emulates the controller first, and name where it listens"
        package static let startAnew =
            "start the controller anew: unplug it and plug it in again, or restart what emulates it"
        package static let otherScan = "another program may be scanning; else unplug the adapter and plug it in again"

        package static func powerOn(_ name: String) -> String {
            "it is switched on again within 3 s; `btmgmt -i \(name) power on` does it at once"
        }

        package static func lineOwner(_ path: String) -> String {
            "run as root, or as a member of the group that owns it (`ls -l \(path)`)"
        }
    }
}
