// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import HIDHost
import HIDReports

/// Decoding of a keyboard's reports over all its links, and their counts.
struct KeyboardReports {
    /// Services of the connected keyboard, or those kept from an earlier link; nil if neither is known.
    private(set) var keyboard: HIDDevice?
    /// Number of times that kept services differed from those of the device.
    private(set) var changes: UInt64 = 0
    private let settings: KeyDecoder.Settings
    /// Decoder of the reports of `keyboard`; nil without it.
    private var input: HIDInput?
    /// Counts of the decoders before `input`.
    private var earlier = KeyAccount()

    init(_ settings: KeyDecoder.Settings) {
        self.settings = settings
    }

    /// Counts of all reports so far.
    var account: KeyAccount {
        var account = earlier
        if let input { account.add(input.account) }
        return account
    }

    /// Starts a link; `kept` are the device's services from an earlier link, with which its reports are decoded at
    /// once.
    mutating func begin(_ kept: HIDDevice?) { replace(kept) }

    /// Uses the services that were discovered; returns false if they are the known ones.
    mutating func use(_ discovered: HIDDevice) -> Bool {
        guard discovered != keyboard else { return false }
        if keyboard != nil { changes &+= 1 }
        replace(discovered)
        return true
    }

    /// Appends the text of a report, which may be none; returns false if the value is no report.
    mutating func receive(_ value: Span<UInt8>, from handle: AttributeHandle, into text: inout [UInt8]) -> Bool {
        input?.receive(value, from: handle, into: &text) != nil
    }

    /// Ends the link: all keys are released without text.
    mutating func end() { input?.linkLost() }

    private mutating func replace(_ keyboard: HIDDevice?) {
        if let input { earlier.add(input.account) }
        self.keyboard = keyboard
        input = keyboard.map { HIDInput($0, settings) }
    }
}
