// SPDX-License-Identifier: GPL-2.0-or-later

/// The ways in which an adapter that was in use is lost; the first value is the adapter's name, such as `hci0`.
package enum AdapterLoss: Equatable, Sendable {
    /// The adapter was unplugged, or its driver has let go of it.
    case removed(String)
    /// The adapter was switched off, by another program or by rfkill.
    case switchedOff(String)
    /// The controller failed, or the connection to it; the second value is the cause, in English.
    case failed(String, cause: String)

    /// The adapter's name.
    package var name: String {
        switch self {
        case .removed(let name), .switchedOff(let name), .failed(let name, _): name
        }
    }

    /// The cause, in one English sentence.
    package var cause: String {
        switch self {
        case .removed(let name): AdapterSentence.removed(name)
        case .switchedOff(let name): AdapterSentence.switchedOff(name)
        case .failed(_, let cause): cause
        }
    }

    /// The remedy, in one English sentence; nil if none is known.
    var remedy: String? {
        switch self {
        case .removed: AdapterSentence.Remedy.plugBackIn
        case .switchedOff(let name): AdapterSentence.Remedy.powerOn(name)
        case .failed: nil
        }
    }

    /// The state of Bluetooth until the next attempt to open the adapter has ended.
    var state: BluetoothState {
        switch self {
        case .switchedOff: .poweredOff
        case .removed, .failed: .resetting
        }
    }
}
