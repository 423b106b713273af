// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Devices
import Testing

@Suite("Requests for a pairing, and selectors of devices")
struct PairingRequestTests {
    @Test("The user's part in a pairing is an IO capability, with questions only where there is an input")
    func consoles() {
        let consoles: [(String, IOCapability, isAsked: Bool)] = [
            ("none", .noInputNoOutput, false), ("display", .displayOnly, false), ("yes-no", .displayYesNo, true),
            ("keyboard", .keyboardOnly, true), ("keyboard-display", .keyboardDisplay, true),
        ]
        #expect(PairingConsole.allCases.map(\.rawValue) == consoles.map(\.0))
        for (console, expected) in zip(PairingConsole.allCases, consoles) {
            #expect(console.capability == expected.1 && console.isAsked == expected.isAsked)
        }
        let request = PairingRequest(.name("A"))
        #expect(request.console == .none && request.required == .encrypted && request.limit == .seconds(60))
        #expect(PairingRequest.limits == .seconds(1) ... .seconds(600))
    }

    @Test("A passkey has six digits, and nothing else is one")
    func passkeys() {
        for (number, text) in [
            (0, "000000"), (1, "000001"), (99_999, "099999"), (100_000, "100000"), (999_999, "999999"),
        ]
            as [(UInt32, String)]
        {
            #expect(PairingAnswer.digits(number) == text && PairingAnswer.number(text) == number)
        }
        for text in ["", "00000", "0000000", "00000/", "00000:", "-00001", "+00001", "１００００0", "12 456", "0x1234"] {
            #expect(PairingAnswer.number(text) == nil, "\(text)")
        }
    }

    private static let address = BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5)
    private static let other = BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F6)

    @Test("A selector is written as it is entered, and each kind selects by its parts")
    func selectors() throws {
        let device = DeviceAddress(Self.address, .random)
        let kept = SelectedDevice(device, name: "LINBLE-TEST")
        let texts: [(String, DeviceSelector)] = [
            ("F0:F1:F2:F3:F4:F5", .address(Self.address)), ("A", .name("A")), ("a@b", .name("a@b")), ("@", .name("@")),
            ("A@F0:F1:F2:F3:F4:F5", .named("A", Self.address)), ("a@b@F0:F1:F2:F3:F4:F5", .named("a@b", Self.address)),
            ("@F0:F1:F2:F3:F4:F5", .name("@F0:F1:F2:F3:F4:F5")),
        ]
        for (text, selector) in texts {
            #expect(DeviceSelector(text) == selector && "\(selector)" == text && selector.kept == nil, "\(text)")
        }
        #expect("\(DeviceSelector.kept(kept))" == "LINBLE-TEST" && DeviceSelector.kept(kept).kept == kept)
        #expect("\(DeviceSelector.kept(SelectedDevice(device, name: nil)))" == "\(Self.address)")

        // Each selector with the candidates that it means: the device, another address, another name, and no name.
        let candidates = [
            kept, SelectedDevice(DeviceAddress(Self.other, .random), name: "LINBLE-TEST"),
            SelectedDevice(device, name: "LINBLE"), SelectedDevice(device, name: nil),
            SelectedDevice(DeviceAddress(Self.address, .public), name: "LINBLE-TEST"),
        ]
        let meant: [(DeviceSelector, [Bool])] = [
            (.address(Self.address), [true, false, true, true, true]),
            (.name("linble-test"), [true, true, false, false, true]),
            (.named("linble-test", Self.address), [true, false, false, false, true]),
            (.kept(kept), [true, false, true, true, false]),
        ]
        for (selector, expected) in meant {
            #expect(candidates.map { selector.means($0) } == expected, "\(selector)")
        }
        for (selector, isActive) in [
            (.address(Self.address), false), (.kept(kept), false), (.name("A"), true),
            (.named("A", Self.address), true),
        ] as [(DeviceSelector, Bool)] {
            #expect((selector.scanParameters(advertisedAt: nil).type == .active) == isActive)
            let place = ManufacturerAddressField(offset: 2, isReversed: false)
            #expect(selector.scanParameters(advertisedAt: place).type == .active)
        }
    }

    @Test("Security levels are parsed from their words, and from nothing else")
    func levels() {
        #expect(GATTLinkSecurity.Level.words == "none, encrypted, authenticated")
        for level in GATTLinkSecurity.Level.allCases { #expect(GATTLinkSecurity.Level(word: level.word) == level) }
        for word in ["", "None", "encrypted ", "auth"] { #expect(GATTLinkSecurity.Level(word: word) == nil) }
        #expect(BondClaim().keys == .none && BondClaim().demanded == .none && !BondClaim().isLegacy)
        #expect(BondClaim(fault: .damaged).isUnusable && BondClaim(fault: .otherAdapter(Self.address)).isUnusable)
        let device = DeviceAddress(Self.address, .random)
        #expect(!BondClaim(fault: .otherDevice(device)).isUnusable && !BondClaim().isUnusable)
    }
}
