// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Testing

@Suite("Bringing up an adapter")
struct AdapterBringUpTests {
    private let first = ControllerIndex(rawValue: 0)
    private let second = ControllerIndex(rawValue: 1)

    /// Returns the 280 bytes of a Read Controller Information response.
    private func information(
        address: UInt64 = 0x0011_2233_4455,
        supported: ManagementSettings = [.powered, .lowEnergy],
        current: ManagementSettings = []
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(BluetoothAddress(rawValue: address))
        writer.write(UInt8(0x0C))
        writer.write(UInt16(0x003F))
        writer.write(supported.rawValue)
        writer.write(current.rawValue)
        writer.write([UInt8](repeating: 0, count: 3 + 249 + 11))
        return writer.bytes
    }

    private func settings(_ settings: ManagementSettings) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(settings.rawValue)
        return writer.bytes
    }

    private func answer(
        _ bringUp: inout AdapterBringUp,
        _ step: AdapterBringUp.Step,
        _ status: ManagementStatus = .success,
        _ returnParameters: [UInt8] = []
    ) throws -> AdapterBringUp.Step {
        switch step {
        case .send(let command), .sendLater(let command, _):
            return bringUp.handle(replyTo: command, status: status, returnParameters: returnParameters.span)
        case .ready, .failed:
            Issue.record("nothing was sent")
            return step
        }
    }

    @Test("Low Energy is set before power, and nothing is set that is set already")
    func order() throws {
        var bringUp = AdapterBringUp(for: .any)
        var step = try answer(&bringUp, bringUp.begin(), .success, [2, 0, 1, 0, 0, 0])
        #expect(step == .send(.readControllerInformation(first)))
        step = try answer(&bringUp, step, .success, information())
        #expect(step == .send(.setLowEnergy(first, true)))
        step = try answer(&bringUp, step, .success, settings(.lowEnergy))
        #expect(step == .send(.setPowered(first, true)))
        step = try answer(&bringUp, step, .success, settings([.lowEnergy, .powered]))
        guard case .ready(first, let ready) = step else {
            Issue.record("not ready: \(step)")
            return
        }
        #expect(ready.currentSettings.contains(.powered))

        var again = AdapterBringUp(for: .any)
        step = try answer(&again, again.begin(), .success, [1, 0, 0, 0])
        step = try answer(&again, step, .success, information(current: [.powered, .lowEnergy]))
        guard case .ready = step else {
            Issue.record("not ready: \(step)")
            return
        }
    }

    @Test("An adapter is found by its address under any number")
    func byAddress() throws {
        let address = BluetoothAddress(rawValue: 0x0000_00AA_0001)
        var bringUp = AdapterBringUp(for: .address(address))
        var step = try answer(&bringUp, bringUp.begin(), .success, [2, 0, 0, 0, 1, 0])
        step = try answer(&bringUp, step, .success, information())
        #expect(step == .send(.readControllerInformation(second)))
        step = try answer(
            &bringUp,
            step,
            .success,
            information(address: address.rawValue, current: [.powered, .lowEnergy])
        )
        guard case .ready(second, _) = step else {
            Issue.record("not ready: \(step)")
            return
        }
    }

    /// Returns the number of the adapter that is selected among adapters with these addresses.
    private func chosen(_ selector: AdapterSelector, known: UInt64?, among addresses: [UInt64]) throws -> UInt16? {
        var bringUp = AdapterBringUp(for: selector, known: known.map { BluetoothAddress(rawValue: $0) })
        let list: [UInt8] = addresses.indices.flatMap { index -> [UInt8] in [UInt8(index), 0] }
        var step = try answer(&bringUp, bringUp.begin(), .success, [UInt8(addresses.count), 0] + list)
        while true {
            switch step {
            case .send(let command):
                let address = addresses[Int(command.index.rawValue)]
                step = try answer(
                    &bringUp,
                    step,
                    .success,
                    information(address: address, current: [.powered, .lowEnergy])
                )
            case .ready(let index, let found):
                #expect(found.address.rawValue == addresses[Int(index.rawValue)])
                return index.rawValue
            default: return nil
            }
        }
    }

    @Test("The adapter that was used before is taken by its address under another number, whatever was asked for")
    func known() throws {
        for selector in [AdapterSelector.any, .index(first), .index(second)] {
            #expect(try chosen(selector, known: 0xA2, among: [0xA0, 0xA1, 0xA2]) == 2, "\(selector)")
            #expect(try chosen(selector, known: 0xA0, among: [0xA0, 0xA1, 0xA2]) == 0, "\(selector)")
        }
        // Without the known adapter, the requested one is selected.
        #expect(try chosen(.any, known: 0xA2, among: [0xA0, 0xA1]) == 0)
        #expect(try chosen(.index(second), known: 0xA2, among: [0xA0, 0xA1]) == 1)
        #expect(try chosen(.index(second), known: 0xA2, among: [0xA0]) == nil)
        #expect(try chosen(.address(BluetoothAddress(rawValue: 0xA1)), known: 0xA1, among: [0xA0, 0xA1]) == 1)
        // An adapter without a public address cannot be identified.
        #expect(try chosen(.index(second), known: 0, among: [0, 0xA1]) == 1)
        #expect(try chosen(.index(second), known: nil, among: [0xA0, 0xA1]) == 1)
    }

    @Test("Any adapter is the lowest that speaks Low Energy; with none, the first is named")
    func anyWithLowEnergy() throws {
        var bringUp = AdapterBringUp(for: .any)
        var step = try answer(&bringUp, bringUp.begin(), .success, [3, 0, 2, 0, 1, 0, 0, 0])
        step = try answer(&bringUp, step, .success, information(supported: .powered))
        #expect(step == .send(.readControllerInformation(second)))
        step = try answer(&bringUp, step, .success, information(current: [.powered, .lowEnergy]))
        guard case .ready(second, _) = step else {
            Issue.record("not ready: \(step)")
            return
        }

        var classic = AdapterBringUp(for: .any)
        step = try answer(&classic, classic.begin(), .success, [2, 0, 1, 0, 0, 0])
        for _ in 0..<2 { step = try answer(&classic, step, .success, information(supported: .powered)) }
        #expect(step == .failed(.lowEnergyUnsupported(first)))
    }

    @Test("LK-9: each cause of an unusable adapter is distinguished")
    func failures() throws {
        var none = AdapterBringUp(for: .any)
        #expect(try answer(&none, none.begin(), .success, [0, 0]) == .failed(.noAdapter))

        var other = AdapterBringUp(for: .index(second))
        var step = try answer(&other, other.begin(), .success, [1, 0, 0, 0])
        step = try answer(&other, step, .success, information())
        #expect(step == .failed(.notFound(.index(second), available: ["hci0 00:11:22:33:44:55"])))

        var classic = AdapterBringUp(for: .any)
        step = try answer(&classic, classic.begin(), .success, [1, 0, 0, 0])
        #expect(
            try answer(&classic, step, .success, information(supported: .powered))
                == .failed(.lowEnergyUnsupported(first))
        )

        for (status, failure) in [
            (ManagementStatus.rfkilled, AdapterFailure.blocked(first)),
            (.permissionDenied, .notPermitted(first)),
            (.failed, .refused(.setPowered, .failed)),
        ] {
            var bringUp = AdapterBringUp(for: .any)
            step = try answer(&bringUp, bringUp.begin(), .success, [1, 0, 0, 0])
            step = try answer(&bringUp, step, .success, information(current: .lowEnergy))
            #expect(try answer(&bringUp, step, status) == .failed(failure))
        }
    }

    @Test("A busy kernel is asked again, a bounded number of times")
    func busy() throws {
        var bringUp = AdapterBringUp(for: .any)
        var step = try answer(&bringUp, bringUp.begin(), .success, [1, 0, 0, 0])
        step = try answer(&bringUp, step, .success, information(current: .lowEnergy))
        var asked = 0
        while asked < 1000 {
            if case .failed = step { break }
            step = try answer(&bringUp, step, .busy)
            asked += 1
        }
        #expect(step == .failed(.refused(.setPowered, .busy)))
        #expect(asked == 21)
    }

    @Test("Answers cut at any byte are refused with their place")
    func truncated() throws {
        let whole = information()
        for count in 0..<whole.count {
            var bringUp = AdapterBringUp(for: .any)
            let step = try answer(&bringUp, bringUp.begin(), .success, [1, 0, 0, 0])
            guard case .failed(.malformed) = try answer(&bringUp, step, .success, Array(whole.prefix(count))) else {
                Issue.record("\(count) bytes were accepted")
                return
            }
        }
        var list = AdapterBringUp(for: .any)
        guard case .failed(.malformed) = try answer(&list, list.begin(), .success, [0xFF, 0xFF, 0, 0]) else {
            Issue.record("a lying count was accepted")
            return
        }
    }

    @Test("Selectors are read as they are written")
    func selectors() {
        #expect(AdapterSelector("hci0") == .index(first))
        #expect(AdapterSelector("hci1") == .index(second))
        #expect(AdapterSelector("00:11:22:33:44:55") == .address(BluetoothAddress(rawValue: 0x0011_2233_4455)))
        for text in ["", "hci", "hci-1", "hci65535", "hci65536", "00:11:22:33:44", "00:11:22:33:44:5G", "eth0"] {
            #expect(AdapterSelector(text) == nil, "\(text)")
        }
    }
}
