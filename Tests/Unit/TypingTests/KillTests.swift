// SPDX-License-Identifier: GPL-2.0-or-later

import Keystrokes
import TestSupport
import Testing
import Typing

/// Effect of SIGKILL on the data path and the kernel's keyboard: the process cannot clean up, and its state is lost.
@Suite("A process that is killed", .timeLimit(.minutes(30)))
struct KillTests {
    /// Returns numbered barcodes for a run: letters with Shift, punctuation and digits.
    private static func barcodes(_ seed: UInt64) -> [String] {
        var random = SeededGenerator(seed: seed)
        let letters = Array("ABcd{}|:<>?~!@#$%^&*()_+0123456789")
        return (0..<6).map { number in
            let rest = (0..<Int.random(in: 0...10, using: &random)).compactMap { _ in
                letters.randomElement(using: &random)
            }
            return "\(number)/\(seed % 10)" + String(rest) + "\r"
        }
    }

    /// Splits a barcode into notifications of at most 8 bytes.
    private static func notifications(_ barcode: String, _ framing: Framing?) -> [[UInt8]] {
        var bytes = Array(barcode.utf8)
        if framing != nil {
            bytes = [0x02, UInt8(bytes.count)] + bytes
            bytes += Checksum.crc8Maxim.value(of: bytes[...])
        }
        return stride(from: 0, to: bytes.count, by: 8).map { Array(bytes[$0..<min($0 + 8, bytes.count)]) }
    }

    private struct Outcome {
        /// Number of moments at which the process could have been killed.
        var moments = 0
        var fault: String?
    }

    /// Types the barcodes in one process, which is killed at a moment, and the rest in another; nil does not kill it.
    private func run(
        _ settings: KillSettings,
        on keyboard: KernelKeyboard,
        seed: UInt64,
        killedAt moment: Int?,
        replays: Bool = false
    ) throws -> Outcome {
        let barcodes = Self.barcodes(seed)
        var outcome = Outcome()
        let mayGoOn = {
            defer { outcome.moments += 1 }
            return outcome.moments != moment
        }
        var now: Int64 = 1_000_000_000
        var first = try KeyboardProcess.start(settings)
        var next = barcodes.count
        var given: [UInt8] = []
        // In half of the runs, data arrive faster than they are typed.
        let gap: Int64 = seed % 2 == 0 ? 5_000_000 : 300_000_000
        deliver: for (number, barcode) in barcodes.enumerated() {
            for bytes in Self.notifications(barcode, settings.framing) {
                next = number + 1
                guard mayGoOn() else { break deliver }
                first.receive(bytes, now: now)
                given = bytes
                guard try first.type(on: keyboard, from: now, until: now + gap, mayGoOn) else { break deliver }
                now += gap
            }
            if number == barcodes.count - 1 {
                guard try first.type(on: keyboard, from: now, until: .max, mayGoOn) else { break deliver }
                next = barcodes.count
            }
        }
        try keyboard.close()
        let before = keyboard.takeText()
        if !keyboard.held.isEmpty { outcome.fault = "keys stay down" }

        // The device reconnects between two barcodes; data that it sent in the meantime were not received.
        now += 10_000_000_000
        var second = try KeyboardProcess.start(settings)
        if replays { second.receive(given, now: now) }
        let rest = barcodes[next...]
        for bytes in rest.flatMap({ Self.notifications($0, settings.framing) }) {
            second.receive(bytes, now: now)
            _ = try second.type(on: keyboard, from: now, until: now + gap) { true }
            now += gap
        }
        _ = try second.type(on: keyboard, from: now, until: .max) { true }
        let after = keyboard.takeText()
        let typed = { (barcodes: ArraySlice<String>) in
            barcodes.map { $0.dropLast() + "\n" }.joined()
        }
        if !typed(barcodes[..<next]).hasPrefix(before) { outcome.fault = "typed \(before) of \(barcodes)" }
        if moment == nil, before != typed(barcodes[...]) { outcome.fault = "typed \(before)" }
        if after != typed(rest) { outcome.fault = "then typed \(after) instead of \(typed(rest))" }
        if !keyboard.held.isEmpty { outcome.fault = "keys stay down" }
        return outcome
    }

    @Test(
        "Killed before and after every write and at every wait: no key stays down, nothing twice, no halves joined"
    )
    func moments() throws {
        let wanted = RunCount.from("BLEWEDGE_KILL_MOMENTS", usual: RunCount.isOptimized ? 10_000 : 500)
        let all = try KillSettings.all()
        let keyboard = try KernelKeyboard()
        var killed = 0
        var faults = 0
        var seed: UInt64 = 0
        while killed < wanted, faults < 3 {
            let moments = try all.map { try run($0, on: keyboard, seed: seed, killedAt: nil) }.map { outcome in
                if let fault = outcome.fault { Issue.record("alive, seed \(seed): \(fault)") }
                return outcome.moments
            }
            // If only a few moments are wanted, skips some of each run, so that all ways of typing are included.
            let step = max(1, moments.reduce(0, +) / wanted)
            for (index, settings) in all.enumerated() where faults < 3 {
                for moment in stride(from: index % step, to: moments[index], by: step) {
                    killed += 1
                    let outcome = try run(settings, on: keyboard, seed: seed, killedAt: moment)
                    guard let fault = outcome.fault else { continue }
                    faults += 1
                    Issue.record("settings \(index), seed \(seed), moment \(moment): \(fault)")
                }
            }
            seed += 1
        }
        print("X-2: killed at \(killed) moments")
        #expect(killed >= wanted)
    }

    @Test(
        "A kernel that keeps keys down, and a process that types what the last one was given, are found out (control)"
    )
    func control() throws {
        var found = [0, 0]
        for settings in try KillSettings.all() {
            for moment in stride(from: 3, to: 60, by: 19) {
                let keeper = try KernelKeyboard()
                keeper.releasesKeys = false
                if try run(settings, on: keeper, seed: 1, killedAt: moment).fault != nil { found[0] += 1 }
                let other = try KernelKeyboard()
                if try run(settings, on: other, seed: 1, killedAt: moment, replays: true).fault != nil { found[1] += 1 }
            }
        }
        #expect(found.allSatisfy { $0 > 3 }, "\(found)")
    }
}
