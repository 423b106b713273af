// SPDX-License-Identifier: GPL-2.0-or-later

import Testing

@testable import Keystrokes

@Suite("X-5: text comes out as meant while readers have CapsLock on")
struct CapsLockTests {
    static let text = "aZ bY,{1}!"

    /// Returns stream mode, and scan mode with letters around each barcode.
    static func modes() throws -> [BarcodeRules?] {
        [nil, try BarcodeRules(prefix: try BarcodeAffix("pR"), suffix: try BarcodeAffix("{tab}sU"))]
    }

    @Test("In every mode and at every pace, Shift is inverted for letters only while CapsLock is on")
    func turned() throws {
        for pace in [nil] + (try Pace.Profile.allCases.map { try Pace($0, queue: .small) }) {
            for barcodes in try Self.modes() {
                let light = CapsLockLight()
                let path = try Path(pace: pace, barcodes: barcodes, light: light)
                path.keyboard.capsLock = true
                light.set(true)
                path.receive((Self.text + "\r").bytes)
                try path.typeAll()
                let expected = barcodes == nil ? Self.text + "\n" : "pR" + Self.text + "\tsU"
                #expect(path.keyboard.text == expected)
                #expect(path.ledger.snapshot().typed == UInt64(Self.text.count + (barcodes == nil ? 1 : 0)))
            }
        }
    }

    @Test("A keyboard without a light, and one whose light was never told of, types as if CapsLock were off")
    func ignored() throws {
        for barcodes in try Self.modes() {
            for light in [nil, CapsLockLight()] {
                let path = try Path(barcodes: barcodes, light: light)
                path.receive((Self.text + "\r").bytes)
                try path.typeAll()
                #expect(path.keyboard.text.contains(Self.text))
            }
        }
        // Control: without the light, an application with CapsLock on receives letters in the wrong case.
        let path = try Path()
        path.keyboard.capsLock = true
        path.receive("aZ 1\r".bytes)
        try path.typeAll()
        #expect(path.keyboard.text == "Az 1\n")
    }

    @Test("A change in the middle of a paced barcode is taken up at the next keystroke")
    func changes() throws {
        for profile in [Pace.Profile.scanner, .slow, .desktop] {
            for barcodes in [nil, try BarcodeRules()] {
                let light = CapsLockLight()
                let path = try Path(pace: try Pace(profile, queue: .large), barcodes: barcodes, light: light)
                let text = String(repeating: "aB", count: 60)
                path.receive((text + "\r").bytes)
                var changes = 0
                while case .wait(let time) = try path.typeDue() {
                    try #require(time > path.now)
                    path.now = time
                    // Only between keystrokes, because a pressed key is released as if CapsLock had not changed.
                    guard path.keyboard.down.isEmpty else { continue }
                    light.set(!light.isOn)
                    path.keyboard.capsLock = light.isOn
                    changes += 1
                }
                #expect(path.keyboard.text == text + "\n")
                #expect(changes > 50)
            }
        }
    }

    @Test("A write cut short while the light is on is counted by what was meant")
    func failures() throws {
        for barcodes in [nil, try BarcodeRules()] {
            for accepted in 0...18 {
                let light = CapsLockLight()
                light.set(true)
                let path = try Path(barcodes: barcodes, light: light)
                // Six events for the letter that needs Shift now, and four for each of the other characters.
                path.receive("aB1\r".bytes)
                try #require(path.next() == .write)
                try #require(path.outputEvents().count == 18)
                path.fail(accepted: accepted)
                light.set(false)
                try path.typeAll()
                let account = path.ledger.snapshot()
                let typed = [5: 1, 10: 2, 14: 3, 18: 4].filter { $0.key <= accepted }.map(\.value).max() ?? 0
                #expect(account.typed == UInt64(typed), "\(accepted)")
                #expect(account.lost(.writeFailed) == UInt64(4 - typed) && account.waiting == 0)
                #expect(path.keyboard.text.isEmpty)
            }
        }
    }
}
