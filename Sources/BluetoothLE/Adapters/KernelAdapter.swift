// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
import SystemPackage

/// An adapter of the kernel that is powered and ready for Low Energy.
///
/// Scanning and advertising use raw HCI sockets, connections use L2CAP sockets.
package final class KernelAdapter: LowEnergyAdapter {
    /// The adapter's index: 0 is hci0.
    package let index: ControllerIndex
    /// The adapter's address, name, version and settings, as they were when it was opened.
    package let information: ControllerInformation
    /// The management channel, whose events of this adapter are read here.
    package let management: ManagementChannel

    /// The handler that is called once, when the adapter was removed or switched off.
    package var onLoss: ((AdapterLoss) -> Void)?
    package var onWake: (() -> Void)?
    package var onStalledConnection: (() -> Void)?

    let loop: EventLoop
    /// True until the adapter was removed or switched off.
    private var isOn = true
    private var restartCause: String?
    /// The devices that were connected since the adapter was opened, and still are.
    private var connected: Set<ManagementAddress> = []
    private var failedAttempts = StaleConnectAttempts()
    /// The channels that this process has asked for, which are told of their timing.
    private var channels: [ManagementAddress: WeakChannel] = [:]
    private struct WeakChannel { weak var channel: KernelATTChannel? }
    /// The looks at the attempt that is made, and at those that were given up a moment ago.
    private var crossedLinks: [OrphanedConnectionWatch] = []
    /// The most of them at a time.
    private static let crossedLinkCapacity = 4
    package private(set) var controllerCounts = ControllerCounts()
    /// The signal strengths that were read of connected devices, and the times when they were asked for.
    private var signals: [ManagementAddress: (rssi: Int8?, asked: Duration)] = [:]
    /// The handler that is called when the kernel reports the end of a discovery.
    var onDiscoveryEnd: (() -> Void)?
    /// The address types of the kernel's last discovery, which the command to end it must repeat; empty if there was
    /// none.
    private(set) var discoveryTypes: DiscoveryTypes = []
    /// The pairing that the user has begun; nil for none.
    var pairing: KernelPairing?
    /// The time in which centrals may pair.
    weak var window: KernelPairableMode?
    /// The bonds with this adapter, whose keys the kernel has.
    var bonds: [Bond] = []
    /// The devices that this process has connected to since the adapter was opened.
    var asked: Set<ManagementAddress> = []
    /// The resolver of private addresses, for scans; nil while no device has given its key.
    var resolver: AddressResolver?
    /// True once keys were loaded, so that none are a change too.
    var hasLoadedKeys = false
    /// The lists of keys that the kernel has refused, with its reasons: with a device of a bond no link is made.
    var refusedKeys: [ManagementOpcode: LinkFailure] = [:]
    /// True from the first advertisement to the end of the last: centrals that connect are this process's.
    var isServing = false
    /// The centrals that are connected to this process.
    var served: Set<ManagementAddress> = []
    /// The advertiser; nil before the first advertisement.
    var advertiser: KernelAdvertiser?

    /// An adapter that is ready, whose events come from this channel.
    package init(
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
        management.onFailure = { [weak self] error in
            guard let self else { return }
            lose(.failed(name, cause: AdapterErrorDescription.managementBroken("\(error)")))
        }
    }

    private func handle(_ event: ManagementEvent) {
        guard event.index == index else { return }
        switch event.kind {
        case .indexRemoved: lose(.removed(name))
        case .newSettings(let settings) where !settings.contains(.powered): lose(off)
        case .controllerError(let code): lose(.failed(name, cause: AdapterErrorDescription.controllerError(name, code)))
        // A controller that has slept neither scans nor advertises.
        case .controllerResumed:
            onWake?()
            advertiser?.resume()
        case .discovering(let types, isOn: true): discoveryTypes = types
        case .discovering(_, isOn: false): onDiscoveryEnd?()
        // The controller stops advertising when a central connects, and could not start again while it had no room.
        case .deviceConnected(let device, _, _):
            connected.insert(device)
            if isServing, !asked.contains(device) { served.insert(device) }
            for watch in crossedLinks { watch.noteKnownLink() }
            if failedAttempts.takesLink(device) { management.send(.disconnect(index, device)) { _ in } }
            advertiser?.resume()
        case .newConnectionParameters(let device, let parameters, _): channels[device]?.channel?.take(parameters)
        case .deviceDisconnected(let device, _):
            connected.remove(device)
            channels[device] = nil
            signals[device] = nil
            served.remove(device)
            window?.handle(event.kind)
            advertiser?.resume()
        default: handlePairing(event.kind)
        }
    }

    package var isConnected: Bool { !connected.isEmpty }

    package func quality(of device: DeviceAddress) -> LinkQuality? {
        let device = ManagementAddress(device)
        guard isOn, connected.contains(device) else { return nil }
        let (now, known) = (MonotonicClock.now, signals[device])
        guard known.map({ now - $0.asked >= LinkQuality.life }) ?? true else { return LinkQuality(rssi: known?.rssi) }
        signals[device] = (known?.rssi, now)
        management.send(.getConnectionInformation(index, device)) { [weak self] reply in
            guard let self, signals[device] != nil, case .status(.success, let returned) = reply,
                let answer = try? ManagementReturn.rssi(returned.span), answer.device == device
            else { return }
            signals[device]?.rssi = answer.rssi
        }
        return LinkQuality(rssi: known?.rssi)
    }

    package func restart(_ cause: String) {
        guard isOn else { return }
        restartCause = cause
        // A kernel that does not carry it out is asked anew when the adapter is opened.
        management.send(.setPowered(index, false)) { [weak self] _ in
            guard let self else { return }
            lose(off)
        }
    }

    /// Switches the adapter off and on, unless the kernel knows of a connection, which is somebody's.
    package func renew(completion: @escaping (Bool) -> Void) {
        management.send(.getConnections(index)) { [weak self] reply in
            guard let self, isOn, case .status(.success, let returned) = reply,
                (try? ManagementReturn.connections(returned.span))?.isEmpty == true
            else { return completion(false) }
            // The kernel tells a change of settings to everybody but who has asked for it.
            management.send(.setPowered(index, false)) { [weak self] reply in
                guard let self, case .status(.success, _) = reply else { return completion(false) }
                management.send(.setPowered(index, true)) { [weak self] reply in
                    if case .status(.success, _) = reply {} else if let self { lose(off) }
                    completion(true)
                }
            }
        }
    }

    private var off: AdapterLoss { restartCause.map { .failed(name, cause: $0) } ?? .switchedOff(name) }

    package func close() {
        onLoss = nil
        onWake = nil
        onStalledConnection = nil
        onDiscoveryEnd = nil
        endCrossedLinks()
        advertiser?.close()
        advertiser = nil
        management.close()
    }

    private func lose(_ loss: AdapterLoss) {
        isOn = false
        endCrossedLinks()
        advertiser?.close()
        advertiser = nil
        let handler = onLoss
        onLoss = nil
        handler?(loss)
    }

    /// The adapter's name, such as `hci0`.
    package var name: String { "hci\(index.rawValue)" }

    /// The adapter's public address.
    package var address: BluetoothAddress { information.address }

    /// Makes a scanner, which begins with `start`.
    package func makeScanner() throws(ScanError) -> any DeviceScanner {
        try AdapterScanner(self, on: loop)
    }

    /// Connects to a device; `completion` is called once, later.
    ///
    /// The kernel's own timing gives a link up after 0.42 s without a packet. It takes the one that is loaded here
    /// before the command's reply is read; where it does not, its own stays.
    package func connect(
        to device: DeviceAddress,
        timeout: Duration,
        completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt {
        let peer = ManagementAddress(device)
        noteBeginning(peer)
        management.send(.loadConnectionParameters(index, peer, .standard)) { _ in }
        // Without the socket the connection is made all the same.
        let watch = try? ConnectionWatch(controller: index, on: loop)
        watch?.onStalled = { [weak self] in
            self?.onStalledConnection?()
            self?.endDiscovery { _ in }
        }
        let crossed = watchForCrossedLink()
        let ended: KernelATTChannel.Completion = { [weak self] result in
            watch?.close()
            switch result {
            case .success(let channel):
                crossed?.end()
                if let failure = self?.keyFailure(of: device) {
                    channel.close()
                    return completion(.failure(failure))
                }
            case .failure:
                self?.failedAttempts.noteFailure(peer)
                crossed?.noteEnd()
            }
            completion(result)
        }
        do throws(LinkFailure) {
            let channel = try KernelATTChannel(to: device, from: address, on: loop, timeout: timeout, completion: ended)
            channels = channels.filter { $0.value.channel != nil }
            channels[peer] = WeakChannel(channel: channel)
            return KernelAttempt(channel, watch) { crossed?.noteEnd() }
        } catch {
            crossed?.end()
            throw error
        }
    }

    /// Notes that this process is about to have a link with a device.
    func noteBeginning(_ peer: ManagementAddress) {
        failedAttempts.noteBeginning(peer)
        asked.insert(peer)
    }

    /// Looks what comes of an attempt that begins now; nil where that cannot be seen.
    private func watchForCrossedLink() -> OrphanedConnectionWatch? {
        // Without the socket the attempt ends all the same.
        guard isOn, crossedLinks.count < Self.crossedLinkCapacity,
            let watch = try? OrphanedConnectionWatch(controller: index, on: loop)
        else { return nil }
        crossedLinks.append(watch)
        watch.onEnd = { [weak self, unowned watch] hasEnded in
            self?.crossedLinks.removeAll { $0 === watch }
            if hasEnded { self?.controllerCounts.crossedLinks &+= 1 }
        }
        return watch
    }

    private func endCrossedLinks() {
        for watch in crossedLinks { watch.close() }
        crossedLinks = []
    }

    /// Ends the connection with a device; `completion` is called, later, when the kernel has answered.
    ///
    /// An adapter that is switched off has ended its connections: nothing is sent to it (BT-10). The end of a link is
    /// often noticed before the event that says why, so the events that have arrived are read first.
    package func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void) {
        _ = loop.schedule(at: .zero) { [self] in
            guard isOn else { return completion() }
            management.send(.disconnect(index, ManagementAddress(device))) { _ in completion() }
        }
    }

    /// Finds an adapter, the `known` one before others, switches it on, and makes it ready; `completion` is called once, later, on the loop's
    /// thread.
    ///
    /// Throws at once if the kernel has no Bluetooth.
    package static func open(
        _ selector: AdapterSelector,
        known: BluetoothAddress? = nil,
        on loop: EventLoop,
        completion: @escaping (Result<KernelAdapter, AdapterError>) -> Void
    ) throws(AdapterError) {
        let management: ManagementChannel
        do {
            management = try ManagementChannel(on: loop)
        } catch {
            throw AdapterError(error, "open the Bluetooth management socket")
        }
        var bringUp = AdapterBringUp(for: selector, known: known)
        func take(_ step: AdapterBringUp.Step) {
            switch step {
            case .send(let command): send(command)
            case .sendLater(let command, let delay):
                _ = loop.schedule(at: MonotonicClock.now + delay) { send(command) }
            // A powered adapter can be looked at by anybody, and used by nobody without these.
            case .ready where !Capability.missing.isEmpty:
                management.close()
                completion(.failure(.notPermitted(missing: Capability.missing)))
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
                    take(bringUp.handle(replyTo: command, status: status, returnParameters: returnParameters.span))
                case .timedOut:
                    management.close()
                    completion(.failure(.silent(command.opcode)))
                }
            }
        }
        take(bringUp.begin())
    }

    /// The longest time from the kernel's answer to the end of the discovery.
    private static let discoveryTimeout = Duration.seconds(2)

    /// Makes the kernel end the discovery for which it takes the running active scan, so that it can connect.
    ///
    /// `completion` is called with true when the kernel has switched the scan off, with false when that is still to
    /// be done.
    ///
    /// Kernels from 6.12 on take a raw active scan for a discovery, and begin no connection while it lasts. The scan
    /// has to be running when the command is sent: a kernel that need not send a command to end a discovery may end
    /// it before it notes that it is ending, and then begins no connection until another active scan has ended (seen
    /// on a busy machine, in 18 of 3,561 cases). The kernel answers before the discovery has ended, so this method
    /// waits for the event of its end. Older kernels refuse the command, which does no harm.
    ///
    /// The corresponding C functions are `le_set_scan_enable_complete`, `stop_discovery` and
    /// `stop_discovery_complete`.
    func endDiscovery(completion: @escaping (_ isScanOff: Bool) -> Void) {
        management.send(.stopDiscovery(index, types: discoveryTypes)) { [weak self] reply in
            guard let self, case .status(.success, _) = reply else { return completion(false) }
            let timer = loop.schedule(at: MonotonicClock.now + Self.discoveryTimeout) { [weak self] in
                self?.onDiscoveryEnd = nil
                completion(false)
            }
            onDiscoveryEnd = { [weak self] in
                self?.onDiscoveryEnd = nil
                self?.loop.cancel(timer)
                completion(true)
            }
        }
    }
}
