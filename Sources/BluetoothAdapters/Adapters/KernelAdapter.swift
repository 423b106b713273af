// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import LinuxIO
import SystemPackage

/// A kernel adapter that is powered and ready for Low Energy.
///
/// Scanning and advertising use raw HCI sockets, connections use L2CAP sockets.
package final class KernelAdapter: LowEnergyAdapter {
    /// The adapter's index: 0 is hci0.
    package let index: ControllerIndex
    /// The adapter's address, name, version and settings when it was opened.
    package let information: ControllerInformation
    /// The management channel, which delivers this adapter's events.
    package let management: ManagementChannel

    /// The handler that is called once, when the adapter is removed or powered off.
    package var onLoss: ((AdapterLoss) -> Void)?
    package var onWake: (() -> Void)?
    package var onStalledConnection: (() -> Void)?

    let loop: EventLoop
    /// True until the adapter is removed or powered off.
    private var isOn = true
    private var restartCause: String?
    /// Devices that connected after the adapter was opened and are still connected.
    private var connected: Set<ManagementAddress> = []
    private var failedAttempts = StaleConnectAttempts()
    /// Channels that this process requested; they are notified when their timing changes.
    private var channels: [ManagementAddress: WeakChannel] = [:]
    private struct WeakChannel { weak var channel: KernelATTChannel? }
    /// Watches that detect orphaned links left by the current attempt and by recently cancelled attempts.
    private var crossedLinks: [OrphanedConnectionWatch] = []
    /// Maximum number of simultaneous watches.
    private static let crossedLinkCapacity = 4
    package private(set) var controllerCounts = ControllerCounts()
    /// The signal strength of each connected device in dBm, and the time when it was last requested.
    private var signals: [ManagementAddress: (rssi: Int8?, asked: Duration)] = [:]
    /// The handler that is called when the kernel reports the end of a discovery.
    var onDiscoveryEnd: (() -> Void)?
    /// Address types of the kernel's last discovery; empty if there was none.
    ///
    /// The command that stops the discovery must contain the same address types.
    private(set) var discoveryTypes: DiscoveryTypes = []
    /// The pairing started by the user; nil if there is none.
    var pairing: KernelPairing?
    /// The pairable mode, in which centrals may pair.
    weak var window: KernelPairableMode?
    /// Bonds with this adapter, whose keys are loaded into the kernel.
    var bonds: [Bond] = []
    /// Devices to which this process has connected since the adapter was opened.
    var asked: Set<ManagementAddress> = []
    /// The resolver of private addresses, for scans; nil while no identity resolving key is known.
    var resolver: AddressResolver?
    /// True once keys have been loaded; from then on, an empty list must be loaded too.
    var hasLoadedKeys = false
    /// The key lists that the kernel rejected, with its reasons.
    ///
    /// While there are any, no connection is made to bonded devices.
    var refusedKeys: [ManagementOpcode: LinkFailure] = [:]
    /// True from the first advertisement until advertising is stopped.
    ///
    /// Centrals that connect during this time belong to this process.
    var isServing = false
    /// Centrals connected to this process.
    var served: Set<ManagementAddress> = []
    /// The advertiser; nil before the first advertisement.
    var advertiser: KernelAdvertiser?

    /// Creates an adapter that is ready, with the channel that delivers its events.
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
        // After the machine resumes, the controller neither scans nor advertises.
        case .controllerResumed:
            onWake?()
            advertiser?.resume()
        case .discovering(let types, isOn: true): discoveryTypes = types
        case .discovering(_, isOn: false): onDiscoveryEnd?()
        // When a central connects, the controller stops advertising, and it cannot resume until a connection is free.
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

    package func connections(completion: @escaping ([DeviceAddress]?) -> Void) {
        management.send(.getConnections(index)) { reply in
            guard case .status(.success, let returned) = reply,
                let devices = try? ManagementReturn.connections(returned.span)
            else { return completion(nil) }
            completion(devices.compactMap(\.device))
        }
    }

    package func restart(_ cause: String) {
        guard isOn else { return }
        restartCause = cause
        // Ignore a failure, because the adapter's state is checked again when it is reopened.
        management.send(.setPowered(index, false)) { [weak self] _ in
            guard let self else { return }
            lose(off)
        }
    }

    /// Powers the adapter off and on, unless the kernel has a connection, which may belong to another program.
    package func renew(completion: @escaping (Bool) -> Void) {
        management.send(.getConnections(index)) { [weak self] reply in
            guard let self, isOn, case .status(.success, let returned) = reply,
                (try? ManagementReturn.connections(returned.span))?.isEmpty == true
            else { return completion(false) }
            // The kernel reports a settings change to every socket except the socket that requested it.
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

    /// Creates a scanner, which `start` starts.
    package func makeScanner() throws(ScanError) -> any DeviceScanner {
        try AdapterScanner(self, on: loop)
    }

    /// Connects to a device; `completion` is called once, asynchronously.
    ///
    /// With the kernel's default parameters, a link is lost after 0.42 s without a packet. The kernel applies the
    /// parameters that are loaded here before the command's reply is read. If the kernel rejects them, its defaults
    /// remain.
    package func connect(
        to device: DeviceAddress,
        timeout: Duration,
        completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) throws(LinkFailure) -> any ConnectionAttempt {
        let peer = ManagementAddress(device)
        noteBeginning(peer)
        management.send(.loadConnectionParameters(index, peer, .standard)) { _ in }
        // Best effort: the connection can be made without this socket.
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
            let channel = try KernelATTChannel(
                to: device,
                from: address,
                on: loop,
                timeout: timeout,
                watchingWith: { [index] in try? EncryptionWatch(controller: index) },
                completion: ended
            )
            channels = channels.filter { $0.value.channel != nil }
            channels[peer] = WeakChannel(channel: channel)
            return KernelAttempt(channel, watch) { crossed?.noteEnd() }
        } catch {
            crossed?.end()
            throw error
        }
    }

    /// Records that this process is about to connect to or pair with a device.
    func noteBeginning(_ peer: ManagementAddress) {
        failedAttempts.noteBeginning(peer)
        asked.insert(peer)
    }

    /// Starts watching for an orphaned link of the attempt that is about to start; returns nil if the watch cannot be
    /// created.
    private func watchForCrossedLink() -> OrphanedConnectionWatch? {
        // Best effort: the attempt can be cancelled without this socket.
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

    /// Ends the connection with a device; `completion` is called asynchronously when the kernel has answered.
    ///
    /// An adapter that is powered off has already ended its connections, so nothing is sent to it (BT-10). The end of a
    /// link is often detected before the event that contains the reason, so pending events are read first.
    package func disconnect(_ device: DeviceAddress, completion: @escaping () -> Void) {
        _ = loop.schedule(at: .zero) { [self] in
            guard isOn else { return completion() }
            management.send(.disconnect(index, ManagementAddress(device))) { _ in completion() }
        }
    }

    /// Finds an adapter, preferably the `known` one, powers it on, and prepares it for use.
    ///
    /// `completion` is called once, asynchronously, on the loop's thread. Throws immediately if the kernel has no
    /// Bluetooth support.
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
            // Any process can query a powered adapter, but using it requires these capabilities.
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

    /// Maximum time between the kernel's reply and the end of the discovery.
    private static let discoveryTimeout = Duration.seconds(2)

    /// Stops the discovery that the kernel infers from the running active scan, so that it can connect.
    ///
    /// `completion` receives true if the kernel has disabled the scan, and false if the scan must still be disabled.
    ///
    /// Kernels from 6.12 on treat a raw active scan as a discovery, and start no connection while it runs. The scan
    /// must be running when the command is sent. Otherwise the kernel needs no HCI command to stop the discovery, and
    /// may finish before it records the stopping state; it then starts no connection until another active scan has
    /// ended (seen on a busy machine, in 18 of 3,561 cases). The kernel replies before the discovery has ended, so this
    /// method waits for the event of its end. Older kernels reject the command, which is harmless.
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
