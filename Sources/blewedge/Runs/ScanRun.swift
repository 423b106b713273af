// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Control
import Daemon
import Devices
import LinuxIO
import Texts

/// How a scan shows what it hears.
enum ScanDisplay {
    /// Each piece of news as it comes.
    case news(DeviceText)
    /// A table that is drawn anew.
    case live(every: Duration)
    /// All devices once, when the scan is over.
    case atTheEnd(DeviceText)
}

/// One scan from the command line, from the adapter to the exit status.
final class ScanRun {
    private let foreground: ForegroundRun
    private let duration: Duration?
    private let display: ScanDisplay
    private let scan: RadioScan
    private let choice: () -> KeptChoice?
    private var rows: ListedRows
    private var table = LiveTable()

    /// A scan that has not begun; `choice` answers the chosen device, which stands on top of a table that is drawn anew.
    init(
        transport: AdapterTransport,
        capture: CaptureOptions,
        parameters: ScanParameters,
        devices: DeviceTable,
        duration: Duration?,
        display: ScanDisplay,
        choice: @escaping () -> KeptChoice?
    ) throws(CommandFailure) {
        foreground = try ForegroundRun(transport, capture: capture)
        scan = RadioScan(parameters, devices: devices)
        rows = ListedRows(devices.filter)
        self.duration = duration
        self.display = display
        self.choice = choice
        foreground.onFinish = { [unowned self] completion in stop(completion) }
    }

    /// Scans until the time is over or a signal comes; throws the exit status unless it is success.
    func run() throws {
        try foreground.run { [unowned self] radio in begin(on: radio) }
    }

    private func begin(on radio: RadioArbiter) {
        scan.onUpdate = { [unowned self] update in heard(update.device) }
        scan.onFailure = { [unowned self] error in foreground.finish(.failure(CommandFailure(error))) }
        scan.onStarted = { [unowned self] in started() }
        radio.start(scan)
    }

    private func started() {
        if let duration {
            _ = foreground.loop.schedule(at: MonotonicClock.now + duration) { [unowned self] in
                foreground.finish(.success(.success))
            }
        }
        if case .live(let period) = display { redraw(every: period) }
    }

    private func heard(_ device: DiscoveredDevice) {
        if case .news(let text) = display { foreground.print(text.line(ListedDevice(device))) }
    }

    private func redraw(every period: Duration) {
        guard foreground.outcome == nil else { return }
        scan.expireDevices()
        let size = StandardStream.output.windowSize ?? (80, 24)
        let devices = rows.rows(scan.devices.devices.map { ListedDevice($0) }, choice())
        foreground.print(table.frame(DeviceText.table(devices, columns: size.columns), rows: size.rows))
        _ = foreground.loop.schedule(at: MonotonicClock.now + period) { [unowned self] in redraw(every: period) }
    }

    /// Stops scanning, and prints what is to come at the end.
    private func stop(_ completion: @escaping () -> Void) {
        let finished = { [unowned self] in
            if case .success(.success)? = foreground.outcome, case .atTheEnd(let text) = display {
                let columns = StandardStream.output.windowSize?.columns ?? 80
                foreground.print(text.all(scan.devices.devices.map { ListedDevice($0) }, columns: columns))
            }
            if scan.droppedReports > 0 {
                Console.note(NoteText.reportsDropped.message("\(scan.droppedReports)"))
            }
            completion()
        }
        if let radio = foreground.core?.radio { radio.stop(scan, completion: finished) } else { finished() }
    }
}
