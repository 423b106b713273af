// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// Somebody's wish to hear devices, which an arbiter fulfils whenever the radio is free for it.
///
/// To be used on the loop's thread.
package final class RadioScan {
    /// How the controller scans.
    package let parameters: ScanParameters
    /// The table that each of its turns on the radio begins with.
    private let table: DeviceTable

    /// Called for each report that the table passes on.
    package var onUpdate: ((DeviceTable.Update) -> Void)?
    /// Called once, when the controller scans for it the first time.
    package var onStarted: (() -> Void)?
    /// Called when the scan has failed; it has ended.
    package var onFailure: ((ScanError) -> Void)?

    /// The scanner that works for it; nil while the radio is somebody else's.
    var scanner: (any DeviceScanner)?
    private var last: (devices: DeviceTable, droppedReports: UInt32)

    /// A scan that has not begun; the table says which devices are passed on, and whether every report is.
    package init(_ parameters: ScanParameters, devices: DeviceTable) {
        self.parameters = parameters
        table = devices
        last = (devices, 0)
    }

    /// The devices heard in the present turn on the radio, or in the last one.
    package var devices: DeviceTable { scanner?.devices ?? last.devices }

    /// The reports that were lost because nobody read them in time, in that turn.
    package var droppedReports: UInt32 { scanner?.droppedReports ?? last.droppedReports }

    /// Forgets devices that have not been heard for long (LK-3); to be called before they are shown.
    package func expireDevices() { scanner?.expireDevices() }

    /// Takes the radio.
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

    /// Gives the radio back.
    func rest() {
        guard let scanner else { return }
        scanner.onUpdate = nil
        scanner.onStarted = nil
        last = (scanner.devices, scanner.droppedReports)
        self.scanner = nil
    }

    /// Ends for good, with the reason.
    func fail(_ error: ScanError) {
        rest()
        let handler = onFailure
        onFailure = nil
        handler?(error)
    }
}
