// SPDX-License-Identifier: GPL-2.0-or-later

package import Texts

/// The three texts of a cause, which have the same arguments.
package struct FindingText: Sendable {
    /// The fault, in one sentence.
    package let what: LocalText
    /// The reason why it matters, in one sentence.
    package let why: LocalText
    /// The remedy, in one sentence.
    package let remedy: LocalText

    init(what: LocalText, why: LocalText, remedy: LocalText) {
        self.what = what
        self.why = why
        self.remedy = remedy
    }
}

extension Finding.Cause {
    /// The texts of the cause.
    package var text: FindingText {
        switch self {
        case .kernelWithoutBluetooth: .kernelWithoutBluetooth
        case .bluetoothRefused: .bluetoothRefused
        case .noAdapter: .noAdapter
        case .uartNotAttached: .uartNotAttached
        case .adapterTaken: .adapterTaken
        case .adapterNotFound: .adapterNotFound
        case .adapterWithoutLowEnergy: .adapterWithoutLowEnergy
        case .rfkillHard: .rfkillHard
        case .rfkillSoft: .rfkillSoft
        case .adapterDown: .adapterDown
        case .adapterUnreadable: .adapterUnreadable
        case .otherBluetoothService: .otherBluetoothService
        case .capabilitiesMissing: .capabilitiesMissing
        case .uinputMissing: .uinputMissing
        case .uinputNotPermitted: .uinputNotPermitted
        case .uinputRefused: .uinputRefused
        case .evdevMissing: .evdevMissing
        case .eventNodeNotReadable: .eventNodeNotReadable
        case .oldInputDriver: .oldInputDriver
        case .configurationWrong: .configurationWrong
        case .selectionUnreadable: .selectionUnreadable
        case .nothingSelected: .nothingSelected
        case .legacyBond: .legacyBond
        case .daemonSilent: .daemonSilent
        case .daemonNotAskable: .daemonNotAskable
        case .daemonNotRunning: .daemonNotRunning
        case .daemonOff: .daemonOff
        case .daemonUnauthorized: .daemonUnauthorized
        case .deviceUnsupported: .deviceUnsupported
        case .deviceNotReached: .deviceNotReached
        case .linkLost: .linkLost
        case .disconnectedByUser: .disconnectedByUser
        case .paused: .paused
        case .allDiscarded: .allDiscarded
        case .bytesLost: .bytesLost
        case .keysBeyondText: .keysBeyondText
        case .beaconsWithoutRegions: .beaconsWithoutRegions
        case .beaconsUnavailable: .beaconsUnavailable
        case .beaconNotAdvertised: .beaconNotAdvertised
        case .noBeaconNear: .noBeaconNear
        case .consoleIgnoresKeys: .consoleIgnoresKeys
        case .consoleLeaksKeys: .consoleLeaksKeys
        case .loginPromptInFront: .loginPromptInFront
        case .layoutDiffers: .layoutDiffers
        case .kernelUnfit: .kernelUnfit
        case .kernelLacks: .kernelLacks
        case .kernelQuirk: .kernelQuirk
        case .kernelQuirkPossible: .kernelQuirkPossible
        }
    }
}

/// The words for the severities, which begin a finding.
extension Finding.Severity: Localized {
    package var texts: LocalText {
        switch self {
        case .blocks: LocalText("blocks", "入力不可")
        case .hinders: LocalText("hinders", "要注意")
        case .note: LocalText("note", "参考")
        }
    }
}

/// Parts of the findings' texts, chosen by the details.
package enum FindingPartText: String, Localized {
    // The controller on a serial port.
    case notStarted, withoutDriver, loadSerialDriver
    // /dev/uinput.
    case withoutModule, makeNode
    // The daemon.
    case startService, process, because
    // The console.
    case off, raw, gives, givesNothing, more

    package var texts: LocalText {
        switch self {
        case .notStarted: LocalText("did not start", "が起動しませんでした")
        case .withoutDriver: LocalText("has no driver", "にはドライバがありません")
        case .loadSerialDriver:
            LocalText(
                "load the driver; for a port that the kernel does not drive by itself, run `btattach` of BlueZ",
                "ドライバを読み込んでください。カーネルが自動で扱わないポートでは、BlueZの `btattach` を実行します"
            )
        case .withoutModule:
            LocalText(
                "use a kernel built with CONFIG_INPUT_UINPUT: this one has no module `uinput`",
                "CONFIG_INPUT_UINPUTを有効にしたカーネルを使用してください。このカーネルにはモジュール `uinput` がありません"
            )
        case .makeNode:
            LocalText(
                "make the node: the kernel's part is there, but devtmpfs or udev is not",
                "ノードを作成してください。カーネルの機能はありますが、devtmpfsまたはudevがありません"
            )
        case .startService:
            LocalText(
                "start the service; the system's log (`journalctl -u blewedge -b`) says why it ended",
                "サービスを起動してください。終了した理由はシステムのログ(`journalctl -u blewedge -b`)で分かります"
            )
        case .process: LocalText(" (process {1})", "(プロセス{1})")
        case .because: LocalText(": {1}", ": {1}")
        case .off: LocalText("off", "オフ")
        case .raw: LocalText("in raw mode", "rawモード")
        case .gives: LocalText("{1} gives {2}", "{1} が {2} になります")
        case .givesNothing: LocalText("{1} gives nothing", "{1} は何も入力されません")
        case .more: LocalText(", and {1} more", "、ほか{1}件")
        }
    }
}
