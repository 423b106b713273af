// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
package import BluetoothPackets
package import Configuration

/// A simulated device with a profile.
///
/// It advertises, accepts centrals, sends notifications, and reports the bytes that it receives. Like the real module,
/// it discards values while no central is subscribed. Used on the loop's thread.
package final class SimulatedModule {
    package enum Event {
        case connected(DeviceAddress)
        /// A central has subscribed (true) or unsubscribed (false).
        case subscribed(Bool)
        case received([UInt8])
        case disconnected(DeviceAddress, DisconnectReason)
    }

    package struct Counts: Equatable, Sendable {
        package var values = 0
        package var bytes = 0
        /// Number of values discarded because no central was subscribed.
        package var discarded = 0
    }

    private let name: String
    private let profile: Profile
    private let output: AttributeHandle
    private let server: ServerCore

    /// A value that some subscribers had no room for, and the subscribers that have not received it yet.
    private var held: (value: [UInt8], missing: [GATTServer.PeerID])?

    package private(set) var counts = Counts()
    /// Handler that is called when `notify` accepts values again.
    package var onRoom: (() -> Void)?

    /// Creates a module, which does not advertise yet.
    ///
    /// Subscribing and writing require `access` with a 16-byte key. Throws if the name is longer than 248 bytes.
    package init(
        _ profile: Profile,
        name: String,
        access: GATTAccess = .open,
        on radio: RadioArbiter,
        onEvent: @escaping (Event) -> Void
    ) throws(GATTDatabaseError) {
        self.profile = profile
        self.name = name
        var builder = try GATTDatabaseBuilder(deviceName: name)
        let service = try builder.add(
            GATTServiceDefinition(
                uuid: profile.service,
                characteristics: [
                    GATTCharacteristicDefinition(
                        uuid: profile.fromPeripheral,
                        properties: .notify,
                        value: .dynamic,
                        subscribe: access,
                        minimumKeySize: GATTLinkSecurity.longestKey
                    ),
                    GATTCharacteristicDefinition(
                        uuid: profile.toPeripheral,
                        properties: .writeWithoutResponse,
                        value: .dynamic,
                        write: access,
                        minimumKeySize: GATTLinkSecurity.longestKey
                    ),
                ]
            )
        )
        output = service.value(of: profile.fromPeripheral) ?? .invalid
        let box = Box()
        server = ServerCore(
            radio,
            builder.database,
            onEvent: { core, event in
                switch event {
                case .command(_, _, let value), .written(_, _, let value): onEvent(.received(value))
                case .subscribed: onEvent(.subscribed(true))
                case .unsubscribed:
                    onEvent(.subscribed(false))
                    box.module?.retry()
                case .readyToUpdate: box.module?.retry()
                case .read(let request, _, _, _):
                    // This cannot happen: the server itself refuses reads, because the profile has no readable
                    // characteristic.
                    _ = try? core.perform { server throws(GATTServerError) in
                        try server.refuse(request, .readNotPermitted)
                    }
                case .write(let request, _, let writes):
                    for write in writes { onEvent(.received(write.value)) }
                    _ = try? core.perform { server throws(GATTServerError) in try server.accept(request) }
                case .requestEnded, .confirmed: break
                }
            },
            onConnection: { _, address, reason in
                onEvent(reason.map { .disconnected(address, $0) } ?? .connected(address))
            }
        )
        box.module = self
    }

    private final class Box {
        weak var module: SimulatedModule?
    }

    /// Advertises the service and the name until `stop` is called; throws if the name does not fit into the
    /// advertisement.
    package func start(completion: @escaping (Result<Void, BluetoothError>) -> Void) throws(SimulationFailure) {
        do {
            let layout = try AdvertisementLayout(
                AdvertisementLayout.Content(localName: name, services: [profile.service])
            )
            try server.advertise(
                Advertisement(data: layout.data, scanResponse: layout.scanResponse),
                completion: completion
            )
        } catch let failure as AdvertisementLayout.Failure {
            throw .doesNotFit(failure)
        } catch {
            throw .refused("\(error)")
        }
    }

    /// Stops advertising, and disconnects the centrals; calls `completion` when all are disconnected.
    package func stop(completion: @escaping () -> Void) {
        server.stopAdvertising { [server] in
            let centrals = Array(server.centrals.keys)
            var remaining = centrals.count
            if remaining == 0 { completion() }
            for id in centrals {
                server.disconnect(id) {
                    remaining -= 1
                    if remaining == 0 { completion() }
                }
            }
        }
    }

    /// True if a central is subscribed to the output characteristic.
    package var isSubscribed: Bool { !server.subscribers(of: output).isEmpty }

    /// Maximum length, in bytes, of a value that fits into one notification for every subscriber.
    ///
    /// Without subscribers, it is the length that any MTU allows.
    package var longestValue: Int {
        let lengths = server.subscribers(of: output).compactMap { server.mtu(of: $0) }
        return Int(lengths.min() ?? 23) - 3
    }

    /// Sends a value to all subscribers.
    ///
    /// Returns false while the previous value is waiting for room, until `onRoom` is called. An accepted value reaches
    /// every subscriber once and in order, unless the subscriber leaves. Values are truncated to `longestValue` bytes.
    package func notify(_ value: [UInt8]) -> Bool {
        guard held == nil else { return false }
        guard isSubscribed else {
            counts.discarded += 1
            return true
        }
        counts.values += 1
        counts.bytes += value.count
        deliver(value, to: nil)
        return true
    }

    private func deliver(_ value: [UInt8], to missing: [GATTServer.PeerID]?) {
        _ = try? server.perform { server throws(GATTServerError) in
            let full = try server.update(value, of: output, for: missing)
            // Set this before the server continues, because it may have room immediately.
            held = full.isEmpty ? nil : (value, full)
        }
    }

    /// Sends the held value to the subscribers that have not received it.
    private func retry() {
        if let (value, missing) = held {
            held = nil
            deliver(value, to: missing)
        }
        if held == nil { onRoom?() }
    }
}

/// The reason why a simulated module cannot start.
package enum SimulationFailure: Error, CustomStringConvertible {
    case doesNotFit(AdvertisementLayout.Failure)
    case refused(String)

    package var description: String {
        switch self {
        case .doesNotFit(let failure): failure.description
        case .refused(let reason): reason
        }
    }
}

/// Sample barcodes for simulated devices, as a scanner would send them.
package enum Barcodes {
    /// Barcodes for the demo: books, food, a parcel, a serial number and a web address.
    package static let samples = [
        ean13("490277802014"), ean13("978014044926"), ean13("400638133393"), ean13("501234567890"),
        "LOT-2026/11-A7", "SN:LT01 BC000120", ean13("307560000135"), "https://example.org/t?id=4711",
    ]

    /// Appends the EAN-13 check digit to twelve digits.
    ///
    /// Any other text is returned unchanged. According to ISO/IEC 15420, the digits have weights 1 and 3 in turn, and
    /// the check digit makes the sum a multiple of ten.
    package static func ean13(_ digits: String) -> String {
        let values = digits.utf8.map { Int($0) - 0x30 }
        guard values.count == 12, values.allSatisfy({ (0...9).contains($0) }) else { return digits }
        let sum = values.enumerated().reduce(0) { $0 + $1.element * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
        return digits + String((10 - sum % 10) % 10)
    }

    /// Returns the sample EAN-13 number with this index; the numbers repeat after 10,000,000,000.
    package static func numbered(_ index: Int) -> String {
        // The prefixes 20 to 29 are reserved for internal use by shops.
        let number = String(UInt(bitPattern: index) % 10_000_000_000)
        return ean13("20" + String(repeating: "0", count: 10 - number.count) + number)
    }
}
