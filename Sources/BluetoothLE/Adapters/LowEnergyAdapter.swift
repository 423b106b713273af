// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// What finds devices: the kernel's raw HCI sockets, or this library's own host.
///
/// To be used on the event loop's thread.
package protocol DeviceScanner: AnyObject {
    /// Called for each report that the filter lets through.
    var onUpdate: ((DeviceTable.Update) -> Void)? { get set }
    /// Called once scanning has begun, after each start.
    var onStarted: (() -> Void)? { get set }
    /// Called when the scan has failed; it has ended.
    var onFailure: ((ScanError) -> Void)? { get set }

    /// Scans until `stop`; replaces a scan that runs.
    func start(_ parameters: ScanParameters, devices: DeviceTable)
    /// Stops; `completion` is called when the controller scans no more.
    func stop(completion: @escaping () -> Void)
    /// Gives up at once; nothing more is reported.
    func close()

    /// The devices heard since the start.
    var devices: DeviceTable { get }
    /// Forgets devices that have not been heard for long (LK-3); call it before showing them.
    func expireDevices()
    /// Reports that were lost because nobody read them in time.
    var droppedReports: UInt32 { get }
}

/// What a peripheral says of itself, as bytes that fit the packets they go into.
package struct Advertisement: Equatable, Sendable {
    /// The advertising data, at most 31 bytes.
    package var data: [UInt8]
    /// The scan response, at most 31 bytes.
    package var scanResponse: [UInt8]
    /// Whether centrals may connect.
    package var isConnectable: Bool
    /// The time between advertising events, 20 ms to 10.24 s.
    package var interval: Duration

    /// An advertisement.
    package init(
        data: [UInt8],
        scanResponse: [UInt8] = [],
        isConnectable: Bool = true,
        interval: Duration = .milliseconds(100)
    ) {
        self.data = data
        self.scanResponse = scanResponse
        self.isConnectable = isConnectable
        self.interval = interval
    }

    /// The interval in units of 0.625 ms, within 20 ms … 10.24 s.
    var intervalSlots: UInt16 {
        let (seconds, attoseconds) = max(.zero, min(interval, .seconds(11))).components
        let slots = (seconds &* 1_000_000 &+ attoseconds / 1_000_000_000_000) / 625
        let range = AdvertisingParameters.intervals
        return UInt16(truncatingIfNeeded: min(max(slots, Int64(range.lowerBound)), Int64(range.upperBound)))
    }
}

/// A connection that is being made.
package protocol ConnectionAttempt: AnyObject {
    /// Gives the attempt up; its completion is not called any more.
    func cancel()
}

/// One adapter with both roles over whatever carries its packets.
///
/// To be used on the event loop's thread.
package protocol LowEnergyAdapter: AnyObject {
    /// What people call it, such as `hci0`.
    var name: String { get }
    /// Its public address.
    var address: BluetoothAddress { get }
    /// Called once when the adapter has gone, with the reason for people.
    var onLoss: ((String) -> Void)? { get set }

    /// A scanner that does not scan yet.
    func makeScanner() throws(ScanError) -> any DeviceScanner
    /// Connects; `completion` is called once, later.
    func connect(
        to device: DeviceAddress,
        timeout: Duration,
        completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt
    /// Ends the connection with a device at once; `completion` is called when it is no more.
    func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void)
    /// Advertises until `stopAdvertising`, again after each connection; replaces what was advertised.
    ///
    /// `onConnection` takes the channel of each central; `completion` tells whether advertising has begun.
    func advertise(
        _ advertisement: Advertisement,
        onConnection: @escaping (any ATTChannel) -> Void,
        completion: @escaping (Result<Void, AdapterError>) -> Void
    )
    /// Advertises no more; connections stay.
    func stopAdvertising(completion: @escaping () -> Void)
    /// Lets go of the adapter, whatever goes on; nothing more is reported.
    func close()
}
