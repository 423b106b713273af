// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// A scan, which a `RadioArbiter` runs while the radio is free for it.
///
/// It is used on the loop's thread.
package final class RadioScan {
    /// The parameters of the scan in the controller.
    package let parameters: ScanParameters
    /// The empty table with which the scan begins each time it gets the radio; it holds the filter.
    private let table: DeviceTable

    /// The handler of the reports that pass the filter.
    package var onUpdate: ((DeviceTable.Update) -> Void)?
    /// The handler that is called once, when the controller has first started scanning.
    package var onStarted: (() -> Void)?
    /// The handler that is called when the scan has failed, which ends it.
    package var onFailure: ((ScanError) -> Void)?

    /// The scanner that runs the scan; nil while the scan is paused.
    var scanner: (any DeviceScanner)?
    private var last: (devices: DeviceTable, droppedReports: UInt32)

    /// Makes a scan, which begins with `RadioArbiter.start`.
    ///
    /// The table decides which devices are reported, and if each of their reports is.
    package init(_ parameters: ScanParameters, devices: DeviceTable) {
        self.parameters = parameters
        table = devices
        last = (devices, 0)
    }

    /// The devices that were heard since the scan last got the radio.
    package var devices: DeviceTable { scanner?.devices ?? last.devices }

    /// The number of reports that were lost since then because they were not read in time.
    package var droppedReports: UInt32 { scanner?.droppedReports ?? last.droppedReports }

    /// Removes the devices that have not been heard for long (LK-3).
    ///
    /// It is called before the devices are shown.
    package func expireDevices() { scanner?.expireDevices() }

    /// Begins or resumes the scan with this scanner, which the arbiter has lent.
    func begin(_ scanner: any DeviceScanner) {
        self.scanner = scanner
        scanner.onUpdate = { [weak self] update in self?.onUpdate?(update) }
        scanner.onStarted = { [weak self] in
            let handler = self?.onStarted
            self?.onStarted = nil
            handler?()
        }
        scanner.start(parameters, devices: table)
    }

    /// Pauses the scan, and gives the scanner up; its devices and its count are kept.
    func rest() {
        guard let scanner else { return }
        scanner.onUpdate = nil
        scanner.onStarted = nil
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
