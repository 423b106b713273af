// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage

/// The self-check on the event loop: reads the keyboard's event node, and compares its events with the meant ones.
///
/// It is used on the loop's thread.
package final class Verifier {
    /// The silence after which no event is on its way; it is longer than any pause within a barcode.
    private static let quiet = Duration.milliseconds(200)

    private let loop: EventLoop
    private var node: EventNode
    private var meant: MeantEvents.Reader
    private var check = SelfCheck()
    private var events: [EventNode.Event] = []
    private var registration: EventLoop.Registration?
    private let timer = LoopTimer()

    /// Opens the event node and begins to read it.
    package init(_ path: String, meant: consuming MeantEvents.Reader, on loop: EventLoop) throws(Errno) {
        self.loop = loop
        self.meant = meant
        node = try EventNode(path)
        try watch()
    }

    /// Reads the event node of another keyboard from now on; what was meant for the one before did not arrive.
    package func follow(_ path: String) throws(Errno) {
        _ = read()
        check.settle()
        if let registration { loop.unwatch(registration, node.descriptor) }
        registration = nil
        node = try EventNode(path)
        try watch()
    }

    private func watch() throws(Errno) {
        registration = try loop.watch(node.descriptor, for: .readable) { [unowned self] _ in
            _ = read()
            if check.needsQuiet { waitForQuiet() }
        }
    }

    /// The counts of the comparison, including the events that wait to be read.
    package var counts: SelfCheck.Counts {
        _ = read()
        return check.counts
    }

    /// Reads and compares the events that wait.
    ///
    /// Returns true if there were any.
    private func read() -> Bool {
        var found: [EventNode.Event] = []
        do throws(Errno) {
            while try node.read(into: &found) {}
        } catch {
            // The keyboard was removed: no more events follow.
            if let registration { loop.unwatch(registration, node.descriptor) }
            registration = nil
        }
        // An event that was read is in the queue already, so the queue is read after the node.
        events.removeAll(keepingCapacity: true)
        if !meant.read(into: &events) { check.lose() }
        check.expect(events)
        for event in found { check.read(event) }
        return !found.isEmpty
    }

    private func waitForQuiet() {
        timer.set(on: loop, after: Self.quiet) { [unowned self] in
            if read() { waitForQuiet() } else { check.settle() }
        }
    }
}
