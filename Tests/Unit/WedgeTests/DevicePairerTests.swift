// SPDX-License-Identifier: GPL-2.0-or-later

#if DEBUG
    import BluetoothAdapters
    import BluetoothHost
    import BluetoothPackets
    import Devices
    import LinuxIO
    import SystemPackage
    import TestSupport
    import Testing

    /// Pairings on a radio that hears only what the test lets it hear.
    @Suite("The search for a device to pair, and the pairing", .virtualTime, .serialized, .timeLimit(.minutes(5)))
    struct DevicePairerTests {
        private static func name(_ name: String) -> [UInt8] { [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8) }
        private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .random)

        /// Pairer whose steps are recorded as text, and whose way to the device is cleared only if `isFree` is true.
        private final class Bench {
            let loop: EventLoop
            let radio = QuietRadio()
            let pairer: DevicePairer
            let arbiter: RadioArbiter
            let bonds: BondStore
            let choices: ChoiceStore
            var steps: [String] = []
            let directory: TestDirectory
            private let start = MonotonicClock.now

            init(
                _ choice: DeviceSelector,
                known: BondStore.Contents = BondStore.Contents(),
                isFree: Bool = false,
                change: (inout PairingRequest) -> Void = { _ in }
            ) throws {
                loop = try EventLoop()
                directory = try TestDirectory()
                let folder = FilePath(directory.path)
                bonds = BondStore(folder.appending("bonds"))
                choices = ChoiceStore(folder.appending("selection"))
                arbiter = RadioArbiter(on: loop, using: radio)
                var request = PairingRequest(choice)
                change(&request)
                pairer = DevicePairer(request, keepingIn: bonds, known: known, [choices], on: arbiter)
                pairer.onEvent = { [unowned self] event in
                    switch event {
                    case .listening: add("listening")
                    case .failed(.notFound(_, .notHeard(let limit, _))): add("not heard \(limit.components.seconds)")
                    case .failed(.nameKnown(let name, _, _)): add("known \(name)")
                    case .failed(.failed(let failure, DevicePairerTests.device, let limit)):
                        add("failed \(failure) \(limit.components.seconds)")
                    case .failed(.adapterLost): add("adapter lost")
                    case .failed(.notKept): add("not stored")
                    case .pairing(DevicePairerTests.device): add("pairing")
                    case .ask(.compare(let number)): add("compare \(number)")
                    case .ask(.enter): add("enter")
                    case .raised(.success(let choice)): add("raised to \(choice.security)")
                    case .raised(.failure): add("not raised")
                    case .paired(let bond): add("paired \(bond.security.level)")
                    default: add("\(event)")
                    }
                }
                pairer.onRaised = { [unowned self] _, choice in
                    add("selected \(choice.device == DevicePairerTests.device)")
                }
                pairer.onEnd = { [unowned self] in add("end") }
                pairer.clearWay = { [unowned self] device, proceed in
                    add(device == nil ? "clear" : "clear for device")
                    if device == nil || isFree { proceed() }
                }
            }

            /// Hears the device after one second, which starts the pairing.
            func pair() throws -> QuietRadio.Pairing {
                pairer.begin()
                try hear(DevicePairerTests.name("A"), at: 10)
                steps.removeAll { $0.hasPrefix("0.") }
                return try #require(radio.pairing)
            }

            private func add(_ step: String) {
                let tenths = (MonotonicClock.now - start).components
                steps.append("\(tenths.seconds).\(tenths.attoseconds / 100_000_000_000_000_000) \(step)")
            }

            func run(to tenths: Int) throws {
                let end = start + .milliseconds(100 * tenths)
                #expect(try loop.run { MonotonicClock.now >= end })
            }

            func hear(_ data: [UInt8] = [], at tenths: Int) throws {
                try run(to: tenths)
                radio.advertise(DevicePairerTests.device.address, data)
            }
        }

        private static let begun = ["0.0 clear", "0.0 listening"]

        @Test("A device without a name is scanned for one second more, actively, and then paired without it")
        func nameless() throws {
            let bench = try Bench(.address(Self.device.address))
            bench.pairer.begin()
            #expect(bench.radio.isActive)
            for tenths in [10, 15] { try bench.hear(at: tenths) }
            try bench.run(to: 100)
            #expect(bench.steps == Self.begun + ["2.0 clear for device"] && bench.radio.listening == 0)
            bench.pairer.cancel()
            bench.pairer.cancel()
            #expect(bench.steps.count == 4 && bench.steps.last == "10.0 end")
        }

        @Test("A device whose name arrives within this second is paired at once, and only once")
        func named() throws {
            let bench = try Bench(.address(Self.device.address))
            bench.pairer.begin()
            try bench.hear(at: 10)
            try bench.hear(Self.name("A"), at: 13)
            try bench.run(to: 100)
            #expect(bench.steps == Self.begun + ["1.3 clear for device"] && bench.radio.listening == 0)
        }

        @Test("A device that is not heard in time ends the pairing; nothing follows a cancelled one")
        func silent() throws {
            let bench = try Bench(.name("A"))
            bench.pairer.begin()
            try bench.run(to: 700)
            #expect(bench.steps == Self.begun + ["60.0 not heard 60", "60.0 end"] && bench.radio.listening == 0)
            let other = try Bench(.name("A"))
            other.pairer.begin()
            try other.hear(Self.name("A"), at: 5)
            other.pairer.cancel()
            #expect(other.steps == Self.begun + ["0.5 end"] && other.radio.listening == 0)
            try other.hear(Self.name("A"), at: 30)
            other.pairer.answer(.same(true))
            #expect(other.steps.count == 3 && other.pairer.question == nil)
        }

        @Test("A device that is searched for under the name of a paired one is not paired")
        func known() throws {
            let paired = DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0002), .random)
            let key = LongTermKey(
                (1...16).map { UInt8($0) },
                isAuthenticated: false,
                isSecureConnections: true,
                role: .central
            )
            let address = BluetoothAddress(rawValue: 0xC0FF_EE00_0009)
            var known = BondStore.Contents()
            known.bonds = [
                try #require(
                    Bond(
                        identityAddress: paired,
                        localAddress: address,
                        longTermKeys: [key].compactMap(\.self),
                        identityResolvingKey: nil
                    )
                )
            ]
            known.names = [paired: "A"]
            let bench = try Bench(.name("A"), known: known)
            bench.pairer.begin()
            try bench.hear(Self.name("A"), at: 10)
            try bench.run(to: 30)
            #expect(bench.steps == Self.begun + ["2.0 known A", "2.0 end"] && bench.radio.listening == 0)
            #expect(bench.radio.address == address)
        }

        private static let started = ["1.0 clear for device", "1.0 pairing"]

        private static func bond(isAuthenticated: Bool) throws -> Bond {
            let key = LongTermKey(
                (1...16).map { UInt8($0) },
                isAuthenticated: isAuthenticated,
                isSecureConnections: true,
                role: .central
            )
            return try #require(
                Bond(
                    identityAddress: device,
                    localAddress: BluetoothAddress(rawValue: 0xC0FF_EE00_0009),
                    longTermKeys: [key].compactMap(\.self),
                    identityResolvingKey: nil
                )
            )
        }

        @Test("The user's options and the remaining time are those of the pairing, and answers reach it only if asked")
        func questions() throws {
            let bench = try Bench(.address(Self.device.address), isFree: true) {
                ($0.console, $0.required, $0.limit) = (.keyboardDisplay, .authenticated, .seconds(30))
            }
            let pairing = try bench.pair()
            #expect(pairing.wish.device == Self.device && pairing.wish.required == .authenticated)
            // One second of the limit has passed.
            #expect(pairing.wish.capability == .keyboardDisplay && pairing.wish.limit == .seconds(29))
            bench.pairer.answer(.same(true))
            pairing.onNews?(.ask(.compare(7)))
            #expect(bench.pairer.question == .compare(7))
            for _ in 0..<2 { bench.pairer.answer(.same(true)) }
            pairing.onNews?(.ask(.enter))
            bench.pairer.answer(.passkey(123_456))
            pairing.onNews?(.show(passkey: 20_608))
            #expect(pairing.calls == ["begin", "answer true", "passkey 123456"] && bench.pairer.question == nil)
            pairing.onNews?(.ask(.enter))
            pairing.onNews?(.ended(.failure(.declined)))
            #expect(bench.pairer.question == nil)
            // The adapter has no keys of a device that was not paired.
            #expect(pairing.calls.last == "close")
            try bench.run(to: 20)
            #expect(
                bench.steps == Self.started + [
                    "1.0 compare 7", "1.0 enter", "1.0 show(20608)", "1.0 enter", "1.0 failed the user declined 30",
                    "1.0 end",
                ]
            )
        }

        @Test("A cancelled pairing, and one whose adapter is lost, remove the keys from the adapter, and end once")
        func ends() throws {
            let cancelled = try Bench(.address(Self.device.address), isFree: true)
            var pairing = try cancelled.pair()
            for _ in 0..<2 { cancelled.pairer.cancel() }
            try cancelled.run(to: 20)
            #expect(cancelled.steps == Self.started + ["1.0 end"] && pairing.calls == ["begin", "close and forget"])
            let lost = try Bench(.address(Self.device.address), isFree: true)
            pairing = try lost.pair()
            lost.arbiter.lose(.failed("quiet0", cause: "silent"))
            lost.pairer.cancel()
            try lost.run(to: 20)
            #expect(pairing.calls == ["begin", "close and forget"])
            #expect(lost.steps == Self.started + ["1.0 adapter lost", "1.0 end"])
        }

        @Test("A bond is stored with the device's name, and raises the security of this device if it is selected")
        func stored() throws {
            for (isAuthenticated, level) in [(false, GATTLinkSecurity.Level.encrypted), (true, .authenticated)] {
                let bench = try Bench(.address(Self.device.address), isFree: true)
                try bench.choices.write(SelectedDevice(Self.device, name: "A"))
                let pairing = try bench.pair()
                let bond = try Self.bond(isAuthenticated: isAuthenticated)
                pairing.onNews?(.ended(.success(bond)))
                try bench.run(to: 20)
                #expect(
                    bench.steps == Self.started + [
                        "1.0 raised to \(level)", "1.0 selected true", "1.0 paired \(level)", "1.0 end",
                    ]
                )
                let kept = try bench.bonds.read()
                #expect(kept.bonds == [bond] && kept.names == [Self.device: "A"])
                #expect(try bench.choices.read()?.security == level && pairing.calls.last == "close")
                // The device is paired already: the second bond is not stored, and its keys are removed.
                let again = try Bench(.address(Self.device.address), isFree: true)
                try again.bonds.add(bond)
                let second = try again.pair()
                second.onNews?(.ended(.success(bond)))
                try again.run(to: 20)
                #expect(again.steps == Self.started + ["1.0 not stored", "1.0 end"])
                #expect(second.calls.last == "close and forget")
            }
        }

        @Test("A bond with a device that is not selected changes no selection; a selection that cannot be read is told")
        func unselected() throws {
            for (selection, step) in [(nil, nil), ("no device\n", "1.0 not raised")] as [(String?, String?)] {
                let bench = try Bench(.address(Self.device.address), isFree: true)
                if let selection { try bench.directory.write(selection, to: "selection") }
                let pairing = try bench.pair()
                pairing.onNews?(.ended(.success(try Self.bond(isAuthenticated: false))))
                try bench.run(to: 20)
                #expect(
                    bench.steps == Self.started + [step].compactMap(\.self) + ["1.0 paired encrypted", "1.0 end"]
                )
                #expect(pairing.calls == ["begin", "close"])
                #expect(try bench.bonds.read().bonds.count == 1)
            }
        }
    }
#endif
