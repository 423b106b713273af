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

    /// Pairings until the radio is free for them, on a radio that hears only what the test lets it hear.
    @Suite("The search for a device to pair", .virtualTime, .serialized, .timeLimit(.minutes(5)))
    struct DevicePairerTests {
        private static func name(_ name: String) -> [UInt8] { [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8) }
        private static let device = DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0001), .random)

        /// Pairer whose steps are recorded as text, and whose way to the device is never cleared.
        private final class Bench {
            let loop: EventLoop
            let radio = QuietRadio()
            let pairer: DevicePairer
            var steps: [String] = []
            private let directory: TestDirectory
            private let start = MonotonicClock.now

            init(_ choice: DeviceSelector, known: BondStore.Contents = BondStore.Contents()) throws {
                loop = try EventLoop()
                directory = try TestDirectory()
                let folder = FilePath(directory.path)
                pairer = DevicePairer(
                    PairingRequest(choice),
                    keepingIn: BondStore(folder.appending("bonds")),
                    known: known,
                    ChoiceStore(folder.appending("selection")),
                    on: RadioArbiter(on: loop, using: radio)
                )
                pairer.onEvent = { [unowned self] event in
                    switch event {
                    case .listening: add("listening")
                    case .failed(.notFound(_, .notHeard(let limit, _))): add("not heard \(limit.components.seconds)")
                    case .failed(.nameKnown(let name, _, _)): add("known \(name)")
                    default: add("\(event)")
                    }
                }
                pairer.onEnd = { [unowned self] in add("end") }
                pairer.clearWay = { [unowned self] device, proceed in
                    add(device == nil ? "clear" : "clear for device")
                    if device == nil { proceed() }
                }
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
    }
#endif
