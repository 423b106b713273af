// SPDX-License-Identifier: GPL-2.0-or-later

package import Keystrokes
package import LinuxIO
import SystemPackage
package import Texts
package import Typing

/// The wire to another end than the keyboard: what the device sends goes there, as text or as it is, and what comes from
/// there goes to the device (X-9, D-7).
///
/// As text, the bytes take the keyboard's whole way, with its table, barcodes and account, and what a reader would see
/// of the keystrokes is handed over. To be used on the loop's thread.
package final class Wire {
    /// The keyboard without a kernel that the service types on.
    package let screen: TextKeyboard
    /// The other end.
    package let end: WireEnd

    private let isRaw: Bool
    private let loop: EventLoop
    private var registration: EventLoop.Registration?

    /// The wire that the configuration asks for; nil for the keyboard.
    package init?(_ configuration: Configuration, layout: KeyboardLayout, on loop: EventLoop) throws(CommandFailure) {
        guard let end = try WireEnd(configuration.destination, on: loop) else { return nil }
        self.end = end
        self.loop = loop
        isRaw = configuration.isRaw
        do throws(Errno) {
            screen = try TextKeyboard(layout: layout)
            registration = try loop.watch(screen.screen.arrival.descriptor, for: .readable) { [unowned self] _ in
                screen.screen.arrival.reset()
                handOver()
            }
        } catch {
            throw CommandFailure(.internal, KeyboardFaultText.noScreen, "\(error)")
        }
    }

    /// Joins the wire with a service that types on its screen.
    package func join(_ service: KeyboardService) {
        if isRaw { service.keyboard.rawEnd = { [unowned self] bytes in end.deliver(bytes) } }
        // Bytes for a device that is not connected are dropped, as by a cable that is not plugged in.
        end.onBytes = { [unowned service] bytes in try? service.send(bytes) }
    }

    /// Hands over the rest, and closes the other end.
    package func close() {
        handOver()
        if let registration { loop.unwatch(registration, screen.screen.arrival.descriptor) }
        registration = nil
        end.close()
    }

    private func handOver() {
        let text = Array(screen.screen.takeText().utf8)
        if !text.isEmpty { screen.screen.addUndelivered(text.count - end.deliver(text.span)) }
    }
}
