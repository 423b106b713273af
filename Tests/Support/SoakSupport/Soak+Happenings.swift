// SPDX-License-Identifier: GPL-2.0-or-later

import ClockSupport
import Daemon
import Link
import LinuxIO
import VirtualAdapters
import VirtualRadio

/// Events during a shift.
extension Soak {
    // MARK: Barcodes

    func scheduleBarcode(after time: Duration) {
        _ = loop.schedule(at: MonotonicClock.now + time) { [unowned self] in sendBarcode() }
    }

    /// Sends a barcode in one or two parts, if a host is subscribed.
    private func sendBarcode() {
        guard sentToday < plan.barcodes else { return endShift() }
        guard !isLate else {
            report.faults.append("\(plan.barcodes - sentToday) barcodes could not be sent in a day of 22 hours")
            return endShift()
        }
        guard let module, module.isSubscribed else { return scheduleBarcode(after: .milliseconds(500)) }
        let text = BarcodeTrail.text(trail.counts.sent + 1, padding: chance.number(0...12))
        let bytes = Array(text.utf8) + [0x0D]
        guard cutsNext || chance.once(in: 10) else {
            if module.notify(bytes) { noteSent(text) }
            return scheduleBarcode(after: nextGap())
        }
        let length = chance.number(1...bytes.count - 1)
        guard module.notify(Array(bytes.prefix(length))) else { return scheduleBarcode(after: .milliseconds(50)) }
        if cutsNext {
            // The delay is long enough for the first part to arrive.
            cutsNext = false
            report.note("a part is sent: \(text)")
            _ = loop.schedule(at: MonotonicClock.now + .milliseconds(60)) { [unowned self] in separate() }
            return scheduleBarcode(after: .seconds(5))
        }
        sendRest(text, Array(bytes.dropFirst(length)), link)
    }

    private func sendRest(_ text: String, _ rest: [UInt8], _ link: Int) {
        _ = loop.schedule(at: MonotonicClock.now + chance.time(1...80)) { [unowned self] in
            // After a reconnection, the barcode reader discards the second part.
            if link == self.link, let module, module.isSubscribed {
                guard module.notify(rest) else { return sendRest(text, rest, link) }
                noteSent(text)
            }
            scheduleBarcode(after: nextGap())
        }
    }

    private func noteSent(_ text: String) {
        sentToday += 1
        trail.noteSent(text, link: link)
    }

    /// Returns the delay before the next barcode; one in five is short, as when a pallet is scanned.
    private func nextGap() -> Duration {
        let mean = Int(SoakPlan.shift.components.seconds) * 1000 / max(1, plan.barcodes)
        return chance.once(in: 5) ? chance.time(20...60) : chance.time(100...max(200, mean * 23 / 10))
    }

    // MARK: Disturbances

    /// Distributes the day's disturbances over the shift.
    func scheduleDisturbances() {
        schedule(plan.losses) { [unowned self] in loseLink() }
        schedule(plan.replugs) { [unowned self] in replug() }
        schedule(plan.suspends) { [unowned self] in suspend() }
        schedule(plan.jumps) { [unowned self] in
            clock.jumpWallClock(by: chance.time(-40_000_000...40_000_000) * 10)
            report.jumps += 1
        }
    }

    private func schedule(_ count: Int, _ happening: @escaping () -> Void) {
        let last = Int(SoakPlan.shift.components.seconds) * 950
        for _ in 0..<count {
            _ = loop.schedule(at: MonotonicClock.now + chance.time(60_000...last), handler: happening)
        }
    }

    private func after(_ time: Duration, _ handler: @escaping () -> Void) {
        _ = loop.schedule(at: MonotonicClock.now + time, handler: handler)
    }

    private func loseLink() {
        guard !isDisturbed, let module, module.isSubscribed else {
            return after(.seconds(20)) { [unowned self] in loseLink() }
        }
        isDisturbed = true
        switch chance.number(0...3) {
        case 0: separate()
        case 1 where sentToday < plan.barcodes: cutsNext = true
        case 1: separate()
        case 2:
            report.note("the scanner is off")
            report.losses += 1
            module.stop { [unowned self] in
                after(chance.time(100...20_000)) { [unowned self] in
                    startModule()
                    isDisturbed = false
                }
            }
        default:
            report.note("disconnect")
            report.losses += 1
            trail.noteUserDrop()
            service?.device.disconnect()
            after(chance.time(100...20_000)) { [unowned self] in
                service?.device.connect()
                reachableSince = MonotonicClock.now
                isDisturbed = false
            }
        }
    }

    /// Moves the device out of range for longer than any supervision time-out.
    func separate() {
        report.note("out of range")
        report.losses += 1
        radio.radio.separate(scanner.controller, wedge.controller)
        after(chance.time(8000...40_000)) { [unowned self] in
            radio.radio.join(scanner.controller, wedge.controller)
            reachableSince = MonotonicClock.now
            isDisturbed = false
        }
    }

    private func replug() {
        guard !isDisturbed else { return after(.seconds(20)) { [unowned self] in replug() } }
        isDisturbed = true
        report.note("pulled")
        report.replugs += 1
        endTap()
        socket.pull()
        after(chance.time(500...30_000)) { [unowned self] in
            socket.plug()
            reachableSince = MonotonicClock.now
            isDisturbed = false
        }
    }

    /// Suspends the machine; every second time, the controller loses its power too.
    private func suspend() {
        guard !isDisturbed else { return after(.seconds(20)) { [unowned self] in suspend() } }
        report.note("suspended")
        report.suspends += 1
        clock.suspend(for: .seconds(chance.number(60...3600)))
        if chance.once(in: 2) { replug() }
    }
}
