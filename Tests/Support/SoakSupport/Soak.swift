// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import ClockSupport
import Configuration
import Control
import Daemon
import Devices
import Glibc
import Keystrokes
import Link
import LinuxIO
import Typing
import VirtualAdapters
import VirtualRadio

/// Runs the daemon's data path for days of virtual time: a simulated barcode reader, a wedge, a keyboard whose typed
/// text is checked, and many disturbances.
///
/// Create only one per process, on its main thread, because it installs `VirtualClock`.
package final class Soak {
    private static let name = "LINBLE-SOAK"

    let plan: SoakPlan
    let clock: VirtualClock
    let loop: EventLoop
    let radio: MemoryRadio
    let scanner: MemoryTransport
    let wedge: MemoryTransport
    let socket: Socket
    var chance: Chance
    var trail = BarcodeTrail()
    var report: SoakReport
    var module: SimulatedModule?
    var service: KeyboardService?
    /// Number of the subscription over which barcodes are sent.
    var link = 0
    /// Time since which the wedge could connect; nil while it is connected or cannot connect.
    var reachableSince: Duration?
    /// True while the barcode reader or its radio is disturbed, or the user has disconnected.
    var isDisturbed = false
    var cutsNext = false
    var sentToday = 0

    private let keyboard: TextKeyboard
    private let passersBy: PassersBy
    private let scannerAdapter: HostAdapter
    private var tap = AirTap()
    private var typed = ""
    private var arrival: EventLoop.Registration?
    private var dayStart = Duration.zero
    private var isShiftOver = false

    /// Creates a soak test that has not started.
    package init(_ plan: SoakPlan) throws {
        clock = VirtualClock.begin()
        self.plan = plan
        report = SoakReport(plan)
        chance = Chance(seed: plan.seed)
        loop = try EventLoop()
        radio = MemoryRadio(on: loop)
        scanner = radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0001))
        wedge = radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0002))
        passersBy = PassersBy(radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0003)), on: loop)
        socket = Socket(wedge)
        scannerAdapter = HostAdapter(name: "scanner", transport: scanner, on: loop)
        keyboard = try TextKeyboard(layout: .us)
    }

    /// Runs all days, and returns the report.
    package func run() throws -> SoakReport {
        let start = Self.realTime
        arrival = try loop.watch(keyboard.screen.arrival.descriptor, for: .readable) { [unowned self] _ in
            keyboard.screen.arrival.reset()
            take(keyboard.screen.takeText())
        }
        let module = try SimulatedModule(.linble, name: Self.name, on: RadioArbiter(on: loop, using: scannerAdapter)) {
            [unowned self] event in
            if case .subscribed(true) = event { subscribed() }
        }
        self.module = module
        scannerAdapter.start { [unowned self] _ in beginDay() }
        var configuration = Configuration()
        configuration.barcodeMode.isOn = true
        let core = AdapterCore(loop) { [unowned self] loop, completion in open(loop, completion) }
        let service = try KeyboardService(
            try configuration.settings(device: .name(Self.name)),
            through: core,
            screen: keyboard
        ) { [unowned self] event in
            if case .state(.lost, _, _) = event { report.linksLost += 1 }
        }
        self.service = service
        service.start { _ in }
        try loop.run()
        report.realTime = Self.realTime - start
        report.virtualTime = MonotonicClock.now
        report.leaps = clock.leaps
        report.radio = service.radioCounts
        report.passersBy = passersBy.count
        return report
    }

    private static var realTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    // MARK: Connections of the wedge

    private func open(_ loop: EventLoop, _ completion: @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void) {
        guard socket.isPlugged else {
            _ = loop.schedule(at: MonotonicClock.now) { completion(.failure(.controller("there is no controller"))) }
            return
        }
        let adapter = HostAdapter(name: "memory", transport: socket.open(), on: loop)
        tap.reset()
        adapter.onPacket = { [unowned self] isSent, packet in
            guard !isSent, let news = tap.take([UInt8](copying: packet)) else { return }
            switch news {
            case .value(let value): trail.noteArrived(value)
            case .linkEnded: trail.noteLinkEnd()
            }
        }
        adapter.start { result in completion(result.map { adapter }) }
    }

    /// Discards all incomplete data, because the controller was unplugged.
    func endTap() {
        tap.reset()
        trail.noteLinkEnd()
    }

    private func take(_ text: String) {
        typed += text
        while let end = typed.firstIndex(of: "\n") {
            let line = String(typed[..<end])
            if !trail.noteTyped(line) { report.noteWrong(line) }
            typed.removeSubrange(...end)
        }
    }

    private func subscribed() {
        link += 1
        report.note("link \(link)")
        if let since = reachableSince { report.longestWait = max(report.longestWait, MonotonicClock.now - since) }
        reachableSince = nil
    }

    // MARK: Days

    private func beginDay() {
        dayStart = MonotonicClock.now
        sentToday = 0
        isShiftOver = false
        startModule()
        scheduleDisturbances()
        scheduleBarcode(after: .seconds(20))
    }

    func startModule() {
        reachableSince = MonotonicClock.now
        do {
            try module?.start { [unowned self] result in
                if case .failure = result { report.faults.append("the scanner does not advertise") }
            }
        } catch {
            report.faults.append("\(error)")
        }
    }

    /// Ends the shift after the last barcode of the day.
    func endShift() {
        guard !isShiftOver else { return }
        isShiftOver = true
        if cutsNext {
            cutsNext = false
            separate()
        }
        report.sentDays += 1
        // By then, disturbances are over, and all received data have been typed or discarded.
        let end = max(dayStart + SoakPlan.shift, MonotonicClock.now) + .seconds(120)
        _ = loop.schedule(at: end) { [unowned self] in
            guard let service else { return }
            trail.settle(service.counts.bytes)
            report.account = service.counts.bytes
            report.trail = trail.counts
            module?.stop { [unowned self] in beginNight() }
        }
    }

    var isLate: Bool { MonotonicClock.now > dayStart + .seconds(22 * 3600) }

    private func beginNight() {
        let end = max(dayStart + SoakPlan.day, MonotonicClock.now + .seconds(3600))
        passersBy.pass(plan.passersBy, every: (end - MonotonicClock.now - .seconds(60)) / plan.passersBy)
        _ = loop.schedule(at: end) { [unowned self] in
            report.footprints.append(.now)
            if report.footprints.count < plan.days, report.faults.isEmpty { beginDay() } else { loop.stop() }
        }
    }
}
