// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// The self-check on the event loop: reads the keyboard's own event node beside what was meant.
///
/// To be used on the loop's thread.
package final class Verifier {
    /// How long nothing may be read before all counts as quiet; longer than any pause within a barcode.
    private static let quiet = Duration.milliseconds(200)

    private let loop: EventLoop
    private var node: EventNode
    private var meant: MeantEvents.Reader
    private var check = SelfCheck()
    private var events: [EventNode.Event] = []
    private var registration: EventLoop.Registration?
    private var timer: EventLoop.Timer?

    /// Begins to read the node.
    package init(_ path: String, meant: consuming MeantEvents.Reader, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.meant = meant
        node = try EventNode(path)
        registration = try loop.watch(node.descriptor, for: .readable) { [unowned self] _ in
            _ = read()
            if check.needsQuiet { waitForQuiet() }
        }
    }

    /// What was found, after a look at what waits.
    package var counts: SelfCheck.Counts {
        _ = read()
        return check.counts
    }

    /// Compares what waits; true when something did.
    private func read() -> Bool {
        var found: [EventNode.Event] = []
        do throws(Errno) {
            while try node.read(into: &found) {}
        } catch {
            // The device is gone: nothing more comes.
            if let registration { loop.unwatch(registration, node.descriptor) }
            registration = nil
        }
        // What was read was meant before, so it is looked for after.
        events.removeAll(keepingCapacity: true)
        if !meant.read(into: &events) { check.lose() }
        check.expect(events)
        for event in found { check.read(event) }
        return !found.isEmpty
    }

    private func waitForQuiet() {
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(at: MonotonicClock.now + Self.quiet) { [unowned self] in
            timer = nil
            if read() { waitForQuiet() } else { check.settle() }
        }
    }
}
