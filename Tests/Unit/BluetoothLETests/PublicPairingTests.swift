// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothLE
import BluetoothPackets
import Synchronization
import Testing
import VirtualTransport

/// A server with a value that requires authentication, and a central, on a simulated radio.
private struct Pair {
    private static let station = BluetoothAddress(rawValue: 0xC0FF_EE00_0001)
    private static let secret: BluetoothUUID = 0xFFE1
    static let device = DeviceAddress(station, .public)

    let server: PeripheralServer
    let central: Central

    init(_ bonds: (server: Bond, central: Bond)? = nil) async throws {
        let radio = try SimulatedRadio()
        var builder = try GATTDatabaseBuilder(deviceName: "safe")
        let value = GATTCharacteristicDefinition(
            uuid: Self.secret,
            properties: .read,
            value: .constant([42]),
            read: .authenticated
        )
        try builder.add(GATTServiceDefinition(uuid: 0xFFE0, characteristics: [value]))
        server = PeripheralServer(try await radio.adapter(Self.station), database: builder.database)
        central = Central(try await radio.adapter(BluetoothAddress(rawValue: 0xC0FF_EE00_0002)))
        if let bonds {
            await server.adapter.use([bonds.server])
            await central.adapter.use([bonds.central])
        }
        try await server.advertise(.init(localName: "safe"))
    }

    /// Pairs from both sides at once, and returns both results.
    func pair(
        _ accepting: PairingUser,
        _ asking: PairingUser,
        requiring level: GATTLinkSecurity.Level = .encrypted
    ) async -> (server: Result<Bond, BluetoothError>, central: Result<Bond, BluetoothError>) {
        let accepted = Task {
            await result { () throws(BluetoothError) in
                try await server.adapter.acceptPairing(accepting, timeout: .seconds(60))
            }
        }
        let asked = await result { () throws(BluetoothError) in
            try await central.pair(with: Self.device, asking, requiring: level)
        }
        // The server continues to wait, because a failed central may try again.
        if case .failure = asked { accepted.cancel() }
        return (await accepted.value, asked)
    }

    private func result(
        _ body: @Sendable () async throws(BluetoothError) -> Bond
    ) async -> Result<Bond, BluetoothError> {
        do throws(BluetoothError) { return .success(try await body()) } catch { return .failure(error) }
    }

    func secret(requiring level: GATTLinkSecurity.Level) async throws -> [UInt8] {
        let peripheral = try await central.connect(to: Self.device, timeout: .seconds(60), requiring: level)
        #expect(await peripheral.security?.level == level)
        return try await peripheral.read(Self.secret)
    }
}

// In separate processes, because the users' answers need threads that sleeping tests would occupy.
@Suite("Pairing by the public functions, over a radio in memory", .timeLimit(.minutes(5)))
struct PublicPairingTests {
    /// Numbers that were displayed or compared.
    private final class Numbers: Sendable {
        private let all = Mutex<[UInt32]>([])
        private let (stream, source) = AsyncStream.makeStream(of: UInt32.self)

        var values: [UInt32] { all.withLock { $0 } }

        func add(_ number: UInt32) {
            all.withLock { $0.append(number) }
            source.yield(number)
        }

        func next() async -> UInt32? { await stream.first { _ in true } }
    }

    @Test("After a numeric comparison both sides have a bond, with which the value is read, also after a restart")
    func comparing() async {
        await #expect(processExitsWith: .success) {
            let pair = try await Pair()
            let numbers = Numbers()
            let user = PairingUser.displayYesNo({ _ in }) { number in
                numbers.add(number)
                return true
            }
            let (server, central) = await pair.pair(user, user)
            let bonds = (server: try server.get(), central: try central.get())
            #expect(numbers.values.count == 2 && Set(numbers.values).count == 1)
            #expect(bonds.central.security.level == .authenticated)
            #expect(try await pair.secret(requiring: .authenticated) == [42])

            let kept = (server: Bond(record: bonds.server.record), central: Bond(record: bonds.central.record))
            let later = try await Pair((try #require(kept.server), try #require(kept.central)))
            #expect(try await later.secret(requiring: .authenticated) == [42])
        }
    }

    @Test("The number that the server shows is entered at the central; another number makes no bond")
    func entering() async {
        await #expect(processExitsWith: .success) {
            let pair = try await Pair()
            let numbers = Numbers()
            let display = PairingUser.display { number in numbers.add(number) }
            let wrong = PairingUser.keyboard { await numbers.next().map { ($0 + 1) % 1_000_000 } }
            let (_, failed) = await pair.pair(display, wrong, requiring: .authenticated)
            #expect(failed == .failure(.pairingFailed(.disagreed)))

            let second = try await Pair()
            let again = Numbers()
            let right = PairingUser.keyboard { await again.next() }
            let (server, central) = await second.pair(.display { again.add($0) }, right, requiring: .authenticated)
            #expect(try server.get().security.level == .authenticated)
            #expect(try central.get().security.level == .authenticated)
            #expect(try await second.secret(requiring: .authenticated) == [42])
        }
    }

    @Test("A rejected number, or a level that cannot be reached, leaves no bond")
    func refusing() async {
        await #expect(processExitsWith: .success) {
            let pair = try await Pair()
            let (_, central) = await pair.pair(
                .displayYesNo({ _ in }) { _ in true },
                .displayYesNo({ _ in }) { _ in false }
            )
            #expect(central == .failure(.pairingFailed(.declined)))
            // Without a user's answer, nothing is authenticated.
            let (_, weak) = await pair.pair(.none, .none, requiring: .authenticated)
            guard case .failure(.pairingFailed) = weak else {
                Issue.record("\(weak)")
                return
            }
            await #expect(throws: BluetoothError.notSecured) {
                try await pair.central.connect(to: Pair.device, timeout: .seconds(60), requiring: .encrypted)
            }
        }
    }

    @Test("A device without the bond is refused before anything is asked of it, and one that has it is not")
    func strangers() async {
        await #expect(processExitsWith: .success) {
            let pair = try await Pair()
            let (server, central) = await pair.pair(.none, .none)
            let bonds = (server: try server.get(), central: try central.get())
            let stranger = try await Pair()
            await stranger.central.adapter.use([bonds.central])
            await #expect(throws: BluetoothError.notSecured) {
                try await stranger.central.connect(to: Pair.device, timeout: .seconds(60), requiring: .encrypted)
            }
            // A caller that joins an existing connection gets it only if it is secure enough.
            let open = try await stranger.central.connect(to: Pair.device, timeout: .seconds(60))
            #expect(await open.security?.level == GATTLinkSecurity.Level.none)
            await #expect(throws: BluetoothError.notSecured) {
                try await stranger.central.connect(to: Pair.device, requiring: .encrypted)
            }
            #expect(await open.isConnected)
        }
    }

    @Test("Accepting pairing ends at its time-out, and a pairing ends when its task is cancelled")
    func ending() async {
        await #expect(processExitsWith: .success) {
            let pair = try await Pair()
            await #expect(throws: BluetoothError.timedOut) {
                try await pair.server.adapter.acceptPairing(timeout: .milliseconds(10))
            }
            // Nobody has this address.
            let absent = DeviceAddress(BluetoothAddress(rawValue: 0xC0FF_EE00_0003), .public)
            await #expect(throws: BluetoothError.timedOut) {
                try await pair.central.pair(with: absent, timeout: .milliseconds(50))
            }
            let asked = Numbers()
            let task = Task {
                try await pair.central.pair(
                    with: Pair.device,
                    .displayYesNo({ _ in }) { number in
                        asked.add(number)
                        try? await Task.sleep(for: .seconds(600))
                        return true
                    }
                )
            }
            let accepting = Task {
                try await pair.server.adapter.acceptPairing(.displayYesNo({ _ in }) { _ in true })
            }
            _ = await asked.next()
            task.cancel()
            await #expect(throws: BluetoothError.cancelled) { try await task.value }
            // The cancelled pairing has released the radio.
            let peripheral = try await pair.central.connect(to: Pair.device, timeout: .seconds(60))
            #expect(await peripheral.security?.level == GATTLinkSecurity.Level.none)
            accepting.cancel()
            await #expect(throws: BluetoothError.cancelled) { try await accepting.value }
        }
    }
}
