// SPDX-License-Identifier: GPL-2.0-or-later

import LinuxIO

/// The watch over the running scan.
extension RadioArbiter {
    func setWatchTimer() {
        watchTimer.set(on: loop, at: watch.deadline) { [weak self] in self?.checkScan() }
    }

    func checkScan() {
        guard case .scanning(let scanner, let scan) = radio else { return }
        switch watch.check(reports: scanner.devices.counters.reports, now: MonotonicClock.now) {
        case .wait: break
        case .arm: scan.arm()
        case .restart: if !restart(AdapterSentence.nothingHeard) { scan.arm() }
        }
        setWatchTimer()
    }

    /// Restarts the adapter; false where it is left alone.
    @discardableResult
    func restart(_ cause: (String) -> String) -> Bool {
        // A controller with a link is alive, and a link is worth more than what may be heard.
        guard restartsAdapter, let adapter, !adapter.isConnected else { return false }
        noteRestart()
        adapter.restart(cause(adapter.name))
        return true
    }

    /// Counts a restart of the adapter.
    func noteRestart() { watch.counts.restarts &+= 1 }

    func endWatch(_ scanner: any DeviceScanner) {
        watch.end(reports: scanner.devices.counters.reports, now: MonotonicClock.now)
        isArmed = false
        scanner.onDisturbed = nil
        setWatchTimer()
    }
}
