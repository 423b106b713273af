// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Configuration

/// A device of a profile that we play ourselves: it advertises, takes centrals, notifies what it is given, and says what is
/// written to it.
///
/// Like the module that it plays, it discards what it is given while nobody has subscribed. To be used on the loop's
/// thread.
package final class SimulatedModule {
    package enum Event {
        case connected(DeviceAddress)
        /// A central wants the values, or wants them no more.
        case subscribed(Bool)
        case received([UInt8])
        case disconnected(DeviceAddress, DisconnectReason)
    }

    package struct Counts: Equatable, Sendable {
        package var values = 0
        package var bytes = 0
        /// Values that nobody wanted.
        package var discarded = 0
    }

    private let name: String
    private let profile: Profile
    private let output: AttributeHandle
    private let server: ServerCore

    /// A value that some of those who want it have no room for yet, and who these are.
    private var held: (value: [UInt8], missing: [GATTServer.PeerID])?

    package private(set) var counts = Counts()
    /// Called when there is room again for what `notify` did not take.
    package var onRoom: (() -> Void)?

    /// A module that does not advertise yet; only links of this access may subscribe and write, with keys of 16 bytes.
    ///
    /// Throws for a name of more than 248 bytes.
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
                    // No characteristic of the profile can be read: the server refuses before it asks.
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

    /// Advertises the service and the name until `stop`; throws where the name does not fit.
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

    /// Advertises no more and lets the centrals go; `completion` is called when they are gone.
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

    /// Whether somebody wants the values.
    package var isSubscribed: Bool { !server.subscribers(of: output).isEmpty }

    /// The longest value that one notification carries to all who want it, in bytes; the least that any MTU allows while
    /// nobody does.
    package var longestValue: Int {
        let lengths = server.subscribers(of: output).compactMap { server.mtu(of: $0) }
        return Int(lengths.min() ?? 23) - 3
    }

    /// Notifies a value to all who want it; false when the one before still waits for room: then `onRoom` tells when to try
    /// again.
    ///
    /// A value that was taken reaches all of them, once each and in order, as long as they stay. What is longer than
    /// `longestValue` is cut.
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
            // Before the server goes on, which may find room at once.
            held = full.isEmpty ? nil : (value, full)
        }
    }

    /// Gives the value that waits to those who have not had it.
    private func retry() {
        if let (value, missing) = held {
            held = nil
            deliver(value, to: missing)
        }
        if held == nil { onRoom?() }
    }
}

/// Why a simulated module cannot be reached.
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

/// Barcodes as a scanner would send them, for simulated devices.
package enum Barcodes {
    /// The barcodes of the demo: books, food, a parcel, a serial number and an address on the web.
    package static let samples = [
        ean13("490277802014"), ean13("978014044926"), ean13("400638133393"), ean13("501234567890"),
        "LOT-2026/11-A7", "SN:LT01 BC000120", ean13("307560000135"), "https://example.org/t?id=4711",
    ]

    /// Twelve digits with the check digit that makes them an EAN-13.
    ///
    /// Anything but twelve digits comes back as it is. ISO/IEC 15420: weights 1 and 3 in turn, the sum rounded up to a ten.
    package static func ean13(_ digits: String) -> String {
        let values = digits.utf8.map { Int($0) - 0x30 }
        guard values.count == 12, values.allSatisfy({ (0...9).contains($0) }) else { return digits }
        let sum = values.enumerated().reduce(0) { $0 + $1.element * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
        return digits + String((10 - sum % 10) % 10)
    }

    /// The `index`-th of an endless row of EAN-13, none twice within ten thousand million.
    package static func numbered(_ index: Int) -> String {
        // 20 to 29 are for a shop's own numbers.
        let number = String(UInt(bitPattern: index) % 10_000_000_000)
        return ean13("20" + String(repeating: "0", count: 10 - number.count) + number)
    }
}
