// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
import SystemPackage

/// An adapter of the kernel that is powered and ready for Low Energy, and whatever becomes of it: raw HCI sockets for
/// scanning and advertising, L2CAP sockets for connections.
///
/// To be used on the event loop's thread.
package final class KernelAdapter: LowEnergyAdapter {
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
    /// The kinds of address of the kernel's last discovery, which its end must name; none where all scans were raw ones.
    private(set) var discoveryTypes: DiscoveryTypes = []
    /// Advertises, where asked to.
    var advertiser: KernelAdvertiser?

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
        case .discovering(let types, isOn: true): discoveryTypes = types
        case .discovering(_, isOn: false): onDiscoveryEnd?()
        // The controller stops advertising when a central connects, and could not begin again while it had no room.
        case .deviceConnected, .deviceDisconnected: advertiser?.resume()
        default: break
        }
    }

    package func close() {
        onLoss = nil
        onDiscoveryEnd = nil
        advertiser?.close()
        advertiser = nil
        management.close()
    }

    private func lose(_ reason: String) {
        advertiser?.close()
        advertiser = nil
        let handler = onLoss
        onLoss = nil
        handler?(reason)
    }

    /// The kernel's name, such as `hci0`.
    package var name: String { "hci\(index.rawValue)" }

    /// Its public address.
    package var address: BluetoothAddress { information.address }

    /// A scanner that does not scan yet.
    package func makeScanner() throws(ScanError) -> any DeviceScanner {
        try AdapterScanner(self, on: loop)
    }

    /// Connects; `completion` is called once, later.
    package func connect(
        to device: DeviceAddress,
        timeout: Duration,
        completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt {
        try KernelATTChannel(to: device, from: address, on: loop, timeout: timeout, completion: completion)
    }

    /// Ends the connection with a device at once; `completion` is called when the kernel is done with it.
    package func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void) {
        management.send(.disconnect(index, ManagementAddress(device))) { _ in completion() }
    }

    /// Finds and readies an adapter; `completion` is called once, later, on the loop's thread.
    ///
    /// Throws at once where the kernel has no Bluetooth at all.
    package static func open(
        _ selector: AdapterSelector,
        on loop: EventLoop,
        completion: @escaping (Result<KernelAdapter, AdapterError>) -> Void
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
                    .success(KernelAdapter(index: index, information: information, management: management, loop: loop))
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
