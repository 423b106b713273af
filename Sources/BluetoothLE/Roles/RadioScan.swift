// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO

/// A scan, which a `RadioArbiter` runs while the radio is free for it, or which overhears another one that runs.
///
/// It is used on the loop's thread.
package final class RadioScan {
    /// The parameters of the scan in the controller.
    package let parameters: ScanParameters

    /// The handler of the reports that pass the filter.
    package var onUpdate: ((DeviceTable.Update) -> Void)?
    /// The handler of the packets of advertising reports, as the controller sends them; where there is one, the scan keeps no
    /// devices while another scan runs.
    package var onPacket: ((Span<UInt8>, _ now: Duration) -> Void)?
    /// The handler that is called once, when the controller has first started scanning.
    package var onStarted: (() -> Void)?
    /// The handler that is called when the scan has failed, which ends it.
    package var onFailure: ((ScanError) -> Void)?

    /// The handler that is called each time that the controller has begun to scan, for the arbiter.
    var onArmed: (() -> Void)?

    /// The scanner that runs the scan; nil while the scan is paused, or overhears another.
    var scanner: (any DeviceScanner)?
    /// What is known while there is no scanner.
    private var last: (devices: DeviceTable, droppedReports: UInt32)

    /// Makes a scan, which begins with `RadioArbiter.start`.
    ///
    /// The table's filter decides which devices are reported, and if each of their reports is.
    package init(_ parameters: ScanParameters, devices: DeviceTable) {
        self.parameters = parameters
        last = (devices, 0)
    }

    /// The devices that the scan began with, and those that were heard since.
    package var devices: DeviceTable { scanner?.devices ?? last.devices }

    /// The number of reports that were lost since the scan last got the radio because they were not read in time.
    package var droppedReports: UInt32 { scanner?.droppedReports ?? last.droppedReports }

    /// Removes the devices that have not been heard for long (LK-3).
    ///
    /// It is called before the devices are shown.
    package func expireDevices() {
        if let scanner { scanner.expireDevices() } else { _ = last.devices.expire(now: MonotonicClock.now) }
    }

    /// Begins or resumes the scan with this scanner, which the arbiter has lent.
    func begin(_ scanner: any DeviceScanner) {
        self.scanner = scanner
        scanner.onUpdate = { [weak self] update in self?.onUpdate?(update) }
        scanner.onStarted = { [weak self] in self?.onArmed?() }
        scanner.start(parameters, devices: last.devices)
    }

    /// Notes that the controller has begun to scan, for this scan or for another that it overhears.
    func noteStart() {
        let handler = onStarted
        onStarted = nil
        handler?()
    }

    /// Takes a packet of advertising reports from the scan that runs.
    func overhear(_ packet: Span<UInt8>, now: Duration) {
        if let onPacket { return onPacket(packet, now) }
        // The updates are passed on after the table has returned, because a handler may end the scan.
        var updates: [DeviceTable.Update] = []
        last.devices.handle(packet, now: now) { update in updates.append(update) }
        for update in updates { onUpdate?(update) }
    }

    /// Makes the controller begin the scan anew; the devices stay.
    func arm() {
        guard let scanner else { return }
        scanner.start(parameters, devices: scanner.devices)
    }

    /// Pauses the scan, and gives the scanner up; its devices and its count are kept.
    func rest() {
        guard let scanner else { return }
        scanner.onUpdate = nil
        scanner.onStarted = nil
        scanner.onPacket = nil
        onArmed = nil
        last = (scanner.devices, scanner.droppedReports)
        self.scanner = nil
    }

    /// Ends the scan, and calls `onFailure` with the error.
    func fail(_ error: ScanError) {
        rest()
        let handler = onFailure
        onFailure = nil
        handler?(error)
    }
}
