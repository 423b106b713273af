// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets

/// Adapter that only advertises; the test simulates its centrals.
final class StubPeripheral: LowEnergyAdapter {
    let name = "stub0"
    let address = BluetoothAddress(rawValue: 0xC0FF_EE00_0001)
    var onLoss: ((AdapterLoss) -> Void)?
    var onWake: (() -> Void)?
    var onStalledConnection: (() -> Void)?
    let isConnected = false
    private(set) var advertisement: Advertisement?
    private(set) var disconnected: [DeviceAddress] = []
    private var onConnection: ((any ATTChannel) -> Void)?

    func makeScanner() throws(ScanError) -> any DeviceScanner { throw .adapterGone }

    func makePairing(_ wish: PairingOptions) -> any DevicePairing { preconditionFailure("nobody pairs here") }

    func makePairableMode(_ offer: PairableOptions) -> any PairableMode { preconditionFailure("nobody pairs here") }

    func connections(completion: @escaping ([DeviceAddress]?) -> Void) { completion([]) }

    func connect(
        to device: DeviceAddress,
        timeout: Duration,
        completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt { throw .closedByPeer }

    func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void) {
        disconnected.append(device)
        completion()
    }

    func advertise(
        _ advertisement: Advertisement,
        onConnection: @escaping (any ATTChannel) -> Void,
        completion: @escaping (Result<Void, AdapterError>) -> Void
    ) {
        self.advertisement = advertisement
        self.onConnection = onConnection
        completion(.success(()))
    }

    func restart(_ cause: String) { onLoss?(.failed(name, cause: cause)) }

    func stopAdvertising(completion: @escaping () -> Void) {
        advertisement = nil
        completion()
    }

    func close() {}

    /// Connects a central.
    func connect(_ number: UInt64) -> StubCentral {
        let central = StubCentral(DeviceAddress(BluetoothAddress(rawValue: number), .public))
        onConnection?(central)
        return central
    }
}

/// Central that accepts data while it is writable.
final class StubCentral: ATTChannel {
    let device: DeviceAddress
    let droppedPackets: UInt32 = 0
    var onReceive: ((Span<UInt8>) -> Void)?
    var onGap: (() -> Void)?
    var onWritable: (() -> Void)?
    var onClosed: ((LinkFailure) -> Void)?
    var security = GATTLinkSecurity()
    /// Values of the received notifications.
    private(set) var values: [[UInt8]] = []
    var isWritable = true {
        didSet { if isWritable { onWritable?() } }
    }

    init(_ device: DeviceAddress) {
        self.device = device
    }

    func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool {
        guard isWritable else { return false }
        if pdu.first == 0x1B { values.append(Array(pdu.dropFirst(3))) }
        return true
    }

    func close() {}

    /// Sends a PDU of the central.
    func request(_ pdu: [UInt8]) {
        onReceive?(pdu.span)
    }
}
