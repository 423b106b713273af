// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
import SystemPackage
package import Texts

/// Gate that controls whether received bytes are typed.
///
/// It is closed while the user has paused typing, and while the foreground terminal is not the configured one (LK-22).
package final class KeyboardGate {
    package var onChange: ((Bool) -> Void)?
    /// Handler called when the watched terminal comes to the foreground.
    package var onFront: (() -> Void)?

    private let loop: EventLoop
    private let wanted: Int?
    private var terminal: ForegroundTerminal?
    private var registration: EventLoop.Registration?
    /// Number of the foreground terminal; nil if unknown.
    private var front: Int?

    /// Creates a gate.
    ///
    /// `terminal` is the number of the virtual terminal that must be in the foreground; nil for any.
    package convenience init(terminal wanted: Int?, on loop: EventLoop) throws(KeyboardError) {
        try self.init(terminal: wanted, shownBy: ForegroundTerminal.path, on: loop)
    }

    /// Like `init(terminal:on:)`, with another file of the kernel.
    init(terminal wanted: Int?, shownBy path: String, on loop: EventLoop) throws(KeyboardError) {
        self.loop = loop
        self.wanted = wanted
        guard let wanted else { return }
        do throws(Errno) {
            let found = try ForegroundTerminal(path)
            front = found.number
            registration = try loop.watch(found.descriptor, for: []) { [unowned self] _ in look() }
            terminal = consume found
        } catch {
            throw .noGate(terminal: wanted, error)
        }
    }

    /// Throws the error that the initializer would throw for this terminal.
    package static func check(_ wanted: Int?) throws(KeyboardError) {
        guard let wanted else { return }
        do throws(Errno) {
            _ = try ForegroundTerminal()
        } catch {
            throw .noGate(terminal: wanted, error)
        }
    }

    package var isPaused = false {
        didSet { if isPaused != oldValue { changed(from: oldValue, front) } }
    }

    /// True while the gate may open only near a beacon, and no such beacon is near (D-30).
    package var isOutside = false {
        didSet {
            guard isOutside != oldValue, Self.isOpen(isPaused, wanted, front) else { return }
            onChange?(isOpen)
        }
    }

    package var isOpen: Bool { !isOutside && Self.isOpen(isPaused, wanted, front) }

    /// Reason why the gate is closed; nil while it is open.
    package var reason: Reason? {
        if isPaused { return Reason(ReasonText.paused.message(), remedy: RemedyText.resume.message()) }
        guard let wanted, wanted != front else {
            return isOutside ? Reason(BeaconText.gateOutside.message(), remedy: BeaconText.gateRemedy.message()) : nil
        }
        let cause =
            front.map { ReasonText.otherTerminal.message("\($0)", "\(wanted)") }
            ?? ReasonText.noTerminal.message("\(wanted)")
        return Reason(cause, remedy: RemedyText.bringToFront.message("\(wanted)"))
    }

    package func end() {
        if let registration, let terminal = terminal.take() { loop.unwatch(registration, terminal.descriptor) }
        registration = nil
    }

    func look() {
        let before = front
        front = terminal?.number
        changed(from: isPaused, before)
        if wanted != nil, wanted == front, before != front { onFront?() }
    }

    private func changed(from wasPaused: Bool, _ before: Int?) {
        let wasOpen = !isOutside && Self.isOpen(wasPaused, wanted, before)
        if isOpen != wasOpen { onChange?(isOpen) }
    }

    private static func isOpen(_ isPaused: Bool, _ wanted: Int?, _ front: Int?) -> Bool {
        !isPaused && (wanted == nil || wanted == front)
    }
}
