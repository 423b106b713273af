// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
import SystemPackage

/// An adapter that is powered and ready for Low Energy, and whatever becomes of it.
///
/// To be used on the event loop's thread.
package final class Adapter {
    /// The kernel's number: 0 is hci0.
    package let index: ControllerIndex
    /// What the kernel tells of it.
    package let information: ControllerInformation
    /// Its management channel.
    package let management: ManagementChannel

    /// Called once when the adapter has gone or was switched off, with the reason for people.
    package var onLoss: ((String) -> Void)?

    let loop: EventLoop
    /// Called when the kernel says that a discovery has ended.
    var onDiscoveryEnd: (() -> Void)?

    init(
        index: ControllerIndex,
        information: ControllerInformation,
        management: ManagementChannel,
        loop: EventLoop
    ) {
        self.loop = loop
        self.index = index
        self.information = information
        self.management = management
        management.onEvent = { [weak self] event in self?.handle(event) }
    }

    private func handle(_ event: ManagementEvent) {
        guard event.index == index else { return }
        switch event.kind {
        case .indexRemoved: lose("\(name) was removed")
        case .newSettings(let settings) where !settings.contains(.powered): lose("\(name) was switched off")
        case .discovering(_, isOn: false): onDiscoveryEnd?()
        default: break
        }
    }

    private func lose(_ reason: String) {
        let handler = onLoss
        onLoss = nil
        handler?(reason)
    }

    /// The kernel's name, such as `hci0`.
    package var name: String { "hci\(index.rawValue)" }

    /// Finds and readies an adapter; `completion` is called once, later, on the loop's thread.
    ///
    /// Throws at once where the kernel has no Bluetooth at all.
    package static func open(
        _ selector: AdapterSelector,
        on loop: EventLoop,
        completion: @escaping (Result<Adapter, AdapterError>) -> Void
    ) throws(AdapterError) {
        let management: ManagementChannel
        do {
            management = try ManagementChannel(on: loop)
        } catch .addressFamilyNotSupported {
            throw .noBluetoothInKernel
        } catch {
            throw .system("open the Bluetooth management socket", error)
        }
        var bringUp = AdapterBringUp(for: selector)
        func take(_ step: AdapterBringUp.Step) {
            switch step {
            case .send(let command): send(command)
            case .sendLater(let command, let delay):
                _ = loop.schedule(at: MonotonicClock.now + delay) { send(command) }
            case .ready(let index, let information):
                completion(
                    .success(Adapter(index: index, information: information, management: management, loop: loop))
                )
            case .failed(let failure):
                management.close()
                completion(.failure(AdapterError(failure)))
            }
        }
        func send(_ command: ManagementCommand) {
            management.send(command) { reply in
                switch reply {
                case .status(let status, let returnParameters):
                    take(
                        bringUp.handle(
                            replyTo: command,
                            status: status,
                            returnParameters: returnParameters.span
                        )
                    )
                case .timedOut:
                    management.close()
                    completion(.failure(.silent(command.opcode)))
                }
            }
        }
        take(bringUp.begin())
    }
}
