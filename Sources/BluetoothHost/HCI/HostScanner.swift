// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Scanner of a host; its `scanner` is nil until the controller has reported that it can scan.
struct HostScanner: Sendable {
    private var scanner: Scanner?

    var isIdle: Bool { scanner == nil || scanner?.state == .idle }
    var isScanning: Bool { scanner?.state == .scanning }
    var isWaitingForAnswer: Bool { scanner?.isWaitingForAnswer == true }
    /// True if the scanner uses the legacy commands.
    var isLegacy: Bool { scanner?.generation == .legacy }
    var deadline: Duration? { scanner?.deadline }
    var devices: DeviceTable? { scanner?.devices }

    mutating func begin(_ generation: Scanner.Generation?) {
        scanner = generation.map { Scanner($0) }
    }

    mutating func nextCommand(now: Duration) -> HCICommand? { scanner?.nextCommand(now: now) }

    /// Starts a scan, or restarts it with other parameters; returns false if the controller cannot scan.
    mutating func start(_ parameters: ScanParameters, _ devices: DeviceTable, _ output: inout HostOutput) -> Bool {
        update(&output) { scanner in
            let resolver = scanner.devices.resolver
            scanner.devices = devices
            scanner.devices.resolver = resolver
            scanner.start(parameters)
        }
        return scanner != nil
    }

    mutating func stop(_ output: inout HostOutput) {
        update(&output) { $0.stop() }
    }

    mutating func handleDeadline(now: Duration, _ output: inout HostOutput) {
        update(&output) { $0.advance(now: now) }
    }

    mutating func receive(_ packet: Span<UInt8>, now: Duration, _ output: inout HostOutput) {
        var updates: [DeviceTable.Update] = []
        update(&output) { scanner in
            scanner.handle(packet, now: now) { update in updates.append(update) }
        }
        for update in updates { output.emit(.scanned(update)) }
    }

    mutating func expireDevices(now: Duration) {
        _ = scanner?.devices.expire(now: now)
    }

    mutating func use(_ resolver: AddressResolver?) {
        scanner?.devices.resolver = resolver
    }

    /// Returns the address that a device used last.
    func address(of device: DeviceAddress) -> DeviceAddress {
        scanner?.devices.resolver?.address(of: device) ?? device
    }

    /// Calls `body` with the scanner, and reports resulting changes of the scanner's state.
    private mutating func update(_ output: inout HostOutput, _ body: (inout Scanner) -> Void) {
        guard var scanner else { return }
        self.scanner = nil
        let before = scanner.state
        body(&scanner)
        let after = scanner.state
        self.scanner = scanner
        guard before != after else { return }
        switch after {
        case .scanning: output.emit(.scanStarted)
        case .idle: output.emit(.scanStopped)
        case .failed(let failure): output.emit(.scanFailed(failure))
        case .starting, .stopping: break
        }
    }
}
