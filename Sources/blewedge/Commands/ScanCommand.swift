// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import Texts

struct ScanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Show the Bluetooth LE devices nearby.",
        usage: "blewedge scan [<options>]",
        discussion: """
            On a terminal, the command shows a table of devices, sorted by signal strength. By default, the table is \
            refreshed every two seconds. A device disappears from the table if it is not heard for one minute. The \
            selected device is always at the top of the table, marked with an asterisk. If the output is not a \
            terminal, the command prints a line for each new device, and again when the data of the device changes. \
            Each line contains the address, the address type, the RSSI, the name and the services of a device, \
            separated by tabs.

            If a daemon uses the adapter, the daemon performs the scan, for only one client at a time. With --passive, \
            --duplicates or --capture, the command scans without the help of the daemon. The command and the daemon \
            can use an adapter at the same time if the kernel manages the adapter. Only one process can use a \
            controller on a serial line or on the user channel. If another process uses the controller, the command \
            prints the name of that process, and exits with status 69.

            EXAMPLES:
              blewedge scan
              blewedge scan --once --json
              blewedge scan --service 27ADC9CA-35EB-465A-9154-B8FF9076F3E8
              blewedge scan --name LINBLE-TEST --seconds 30
              blewedge scan --adapter memory: --once
            """
    )

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var captureOptions: CaptureOptions

    @Flag(help: "Print the output as JSON, with one object per line.")
    var json = false

    @Flag(help: "Scan for 5 s, or for --seconds, and then print each device once.")
    var once = false

    @Option("Stop the scan after this time.", value: "time")
    var seconds: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Show only devices that offer this service. Repeat the option to specify several services.",
            valueName: "uuid"
        )
    )
    var service: [BluetoothUUID] = []

    @Option("Show only devices with this name, regardless of case.", value: "text")
    var name: String?

    @Flag(help: "Scan passively, without requesting scan responses, which often contain the device name.")
    var passive = false

    @Flag(help: "Print every advertisement, even if its content has not changed.")
    var duplicates = false

    @Option("Refresh interval of the table (default: scan.refresh in the configuration, or 2s).", value: "time")
    var refresh: TimeArgument?

    func validate() throws {
        if let seconds, seconds.duration == .zero { throw ValidationError("--seconds must be more than 0.") }
        if let refresh, refresh.duration < .milliseconds(100) {
            throw ValidationError("--refresh must be at least 100ms.")
        }
        if once, duplicates { throw ValidationError("--once and --duplicates exclude each other.") }
    }

    func run() throws {
        let isTable = StandardStream.output.isTerminal && !json
        let filter = ScanFilter(services: Set(service), name: name.map { .exactly($0) })
        let display: ScanDisplay =
            switch (once, isTable) {
            case (true, _): .atTheEnd(isTable ? .table : json ? .json : .lines)
            case (false, true):
                .live(every: refresh?.duration ?? (Configuration.ofUser ?? Configuration()).refreshPeriod)
            case (false, false): .news(json ? .json : .lines)
            }
        // Captures, passive scans and duplicate reports need direct access to the adapter, so the daemon cannot be
        // used.
        if captureOptions.capture == nil, !passive, !duplicates,
            var scan = DaemonScan(filter, through: adapterOptions.transport)
        {
            return try scan.run(for: seconds?.duration ?? (once ? .seconds(5) : nil), display)
        }
        let run = try ScanRun(
            transport: adapterOptions.transport,
            capture: captureOptions,
            parameters: passive ? ScanParameters(type: .passive) : .discovery,
            devices: DeviceTable(filter: filter, reportsDuplicates: duplicates),
            duration: seconds?.duration ?? (once ? .seconds(5) : nil),
            display: display
        )
        try run.run()
    }
}

/// The ways in which a scan can show devices.
enum ScanDisplay {
    /// Prints each update as it arrives.
    case news(DeviceText)
    /// Shows a table, and redraws it at this interval.
    case live(every: Duration)
    /// Prints all devices once, at the end of the scan.
    case atTheEnd(DeviceText)
}

/// A scan from the command line, from opening the adapter to the exit status.
final class ScanRun {
    private let foreground: ForegroundRun
    private let duration: Duration?
    private let display: ScanDisplay
    private let scan: RadioScan
    private var rows: ListedRows
    private var table = LiveTable()
    /// Devices with keys in the bond file.
    private let paired: Set<DeviceAddress>

    init(
        transport: AdapterTransport,
        capture: CaptureOptions,
        parameters: ScanParameters,
        devices: DeviceTable,
        duration: Duration?,
        display: ScanDisplay
    ) throws(CommandFailure) {
        foreground = try ForegroundRun(transport, capture: capture)
        scan = RadioScan(parameters, devices: devices)
        rows = ListedRows(devices.filter)
        self.duration = duration
        self.display = display
        // Without the bond file, no device is marked as paired.
        let bonds = (try? DaemonPaths.current()).flatMap { try? BondStore($0.bonds).read().bonds } ?? []
        paired = Set(bonds.map(\.identityAddress))
        foreground.onFinish = { [unowned self] completion in stop(completion) }
    }

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
        if case .news(let text) = display { foreground.print(text.line(listed(device))) }
    }

    private func listed(_ device: DiscoveredDevice) -> ListedDevice {
        ListedDevice(device, isPaired: paired.contains(device.address))
    }

    private func redraw(every period: Duration) {
        guard foreground.outcome == nil else { return }
        scan.expireDevices()
        let size = StandardStream.output.windowSize ?? (80, 24)
        let devices = rows.rows(scan.devices.devices.map(listed), Self.choice())
        foreground.print(table.frame(DeviceText.table(devices, columns: size.columns), rows: size.rows))
        _ = foreground.loop.schedule(at: MonotonicClock.now + period) { [unowned self] in redraw(every: period) }
    }

    /// Returns the selected device, to which the next `run` connects.
    ///
    /// The result is nil if no device is selected, or if the file cannot be read.
    private static func choice() -> SelectedDevice? {
        (try? DaemonPaths.current()).flatMap { try? ChoiceStore($0.choice).read() }
    }

    /// Stops scanning, and prints the devices if they are shown only at the end.
    private func stop(_ completion: @escaping () -> Void) {
        let finished = { [unowned self] in
            if case .success(.success)? = foreground.outcome, case .atTheEnd(let text) = display {
                let columns = StandardStream.output.windowSize?.columns ?? 80
                foreground.print(text.all(scan.devices.devices.map(listed), columns: columns))
            }
            if scan.droppedReports > 0 {
                Console.note(LogText.reportsDropped.message("\(scan.droppedReports)"))
            }
            completion()
        }
        if let radio = foreground.core?.radio { radio.stop(scan, completion: finished) } else { finished() }
    }
}
