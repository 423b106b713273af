// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import Link
import LinuxIO
import SystemPackage
import Texts

/// A GATT operation from the command line, from opening the adapter to the exit status.
final class GATTRun {
    /// Limits at which a subscription ends; if both are nil, it continues until a signal arrives.
    struct SubscriptionLimit {
        /// Maximum number of values.
        var count: Int?
        var time: Duration?
    }

    private static let connectTimeout = Duration.seconds(15)

    private let foreground: ForegroundRun
    private let choice: DeviceSelector
    private let output: GATTText
    private let limit: SubscriptionLimit
    private let task: GATTBrowser.Task
    private let known: BondStore.Contents
    private var browser: GATTBrowser
    private var finder: DeviceFinder?
    private var heard: DiscoveredDevice?
    private var driver: LinkDriver?
    /// Security that the device's bond demands; `none` for an unpaired device.
    private var required = GATTLinkSecurity.Level.none
    private let timer = LoopTimer()
    private var values = 0

    init(
        _ task: GATTBrowser.Task,
        of choice: DeviceSelector,
        through transport: AdapterTransport,
        capture: CaptureOptions,
        output: GATTText,
        limit: SubscriptionLimit
    ) throws(CommandFailure) {
        // Without a state directory, there are no bonds.
        let store = (try? DaemonPaths.current()).map { BondStore($0.bonds) }
        known = try store.map { store throws(CommandFailure) in try store.found() } ?? BondStore.Contents()
        foreground = try ForegroundRun(transport, capture: capture)
        self.choice = choice
        self.output = output
        self.limit = limit
        self.task = task
        browser = GATTBrowser(task)
        foreground.onFinish = { [unowned self] completion in end(completion) }
    }

    /// Runs until the operation is completed or a signal arrives; throws the exit status unless it is success.
    func run() throws {
        try foreground.run { [unowned self] radio in find(on: radio) }
    }

    // MARK: Finding the device

    private func find(on radio: RadioArbiter) {
        // The adapter needs the bonds before the scan, to identify a device with a private address by its key.
        radio.adapter?.use(known.bonds)
        let finder = DeviceFinder(choice, advertisedAt: nil, on: radio)
        self.finder = finder
        finder.onResult = { [unowned self, unowned finder] result in
            finder.stop()
            self.finder = nil
            switch result {
            case .success(let device):
                heard = device
                connect(to: device.address, on: radio)
            case .failure(let failure): foreground.finish(.failure(CommandFailure(failure, of: choice)))
            }
        }
        finder.start(for: DeviceFinder.usualLimit)
    }

    // MARK: The link

    private func connect(to device: DeviceAddress, on radio: RadioArbiter) {
        // A bond whose keys cannot be used is ignored, because nothing that this command reads is typed.
        let claim = known.claim(of: device, on: radio.adapter?.address)
        required = claim.fault == nil ? claim.demanded : .none
        let driver = LinkDriver(on: radio)
        self.driver = driver
        driver.onEvent = { [unowned self, unowned driver] event in take(event, driver) }
        driver.open(device, .once(Self.connectTimeout), requiring: required)
    }

    private func take(_ event: LinkDriver.Event, _ driver: LinkDriver) {
        guard foreground.outcome == nil else { return }
        switch event {
        case .connected(let link):
            link.onValue = { [unowned self] value, bytes in take(value, bytes) }
            keepDevice()
        case .ready(let link):
            browser = GATTBrowser(task)
            take(link.perform { client, now in browser.begin(&client, now: now) })
        case .procedure(let event):
            guard let link = driver.link else { return }
            take(link.perform { client, now in browser.handle(event, &client, now: now) })
        case .failed(let failure):
            // Some devices disconnect when the MTU is exchanged, so the next connection omits the exchange.
            guard let device = driver.link?.device, driver.leavesMTU else {
                return foreground.finish(.failure(CommandFailure(failure)))
            }
            driver.close { [weak self] in
                guard let self, foreground.outcome == nil else { return }
                driver.open(device, .once(Self.connectTimeout), requiring: required)
            }
        case .notSecured:
            let device = driver.link.map { "\($0.device.address)" } ?? ""
            foreground.finish(.failure(CommandFailure(.permission, LinkFaultText.notSecured, device)))
        }
    }

    /// Stores the connected device (CB-14).
    private func keepDevice() {
        guard let heard, let paths = try? DaemonPaths.current() else { return }
        let failure = KnownDeviceStore(paths.known).keep(heard.address, name: heard.name?.text)
        if let failure { Console.note(failure) }
    }

    private func take(_ progress: GATTBrowser.Progress) {
        switch progress {
        case .underWay: break
        case .tree(let tree):
            foreground.print(output.tree(tree))
            foreground.finish(.success(.success))
        case .values(let values):
            let type = browser.valueType
            foreground.print(values.map { output.value($0.value, of: $0.handle, .read, type: type) }.joined())
            foreground.finish(.success(.success))
        case .written: foreground.finish(.success(.success))
        case .subscribed(let characteristic):
            Console.note(LogText.subscribed.message("\(characteristic.valueHandle)"))
            guard let time = limit.time else { return }
            timer.set(on: foreground.loop, after: time) { [unowned self] in
                let isShort = limit.count.map { values < $0 } ?? false
                let failure = CommandFailure(.timeout, CommandFaultText.tooFewValues, "\(values)")
                foreground.finish(isShort ? .failure(failure) : .success(.success))
            }
        // A failed bearer also closes the link; the failure of the link is reported instead, because its reason is more
        // precise.
        case .failed(.procedure(.bearer)): break
        case .failed(let failure): foreground.finish(.failure(CommandFailure(failure)))
        }
    }

    private func take(_ value: ReceivedValue, _ bytes: Span<UInt8>) {
        guard foreground.outcome == nil, browser.isWanted(value.handle) else { return }
        values &+= 1
        let origin: GATTText.Origin = value.kind == .notifications ? .notification : .indication
        foreground.print(output.value([UInt8](copying: bytes), of: value.handle, origin))
        if values == limit.count { foreground.finish(.success(.success)) }
    }

    // MARK: The end

    private func end(_ completion: @escaping () -> Void) {
        timer.cancel()
        if let driver {
            driver.close(completion: completion)
        } else if let finder {
            finder.stop(completion: completion)
        } else {
            completion()
        }
    }
}

extension CommandFailure {
    init(_ failure: LinkFailure) {
        let status: ExitStatus =
            switch failure {
            case .timedOut, .notEstablished, .system(.timedOut), .bearer(.transactionTimeout): .timeout
            case .system(.permissionDenied), .system(.notPermitted): .permission
            // ENODEV refers to this machine's adapter, not to the other device.
            case .system(.operationNotSupportedByDevice), .adapterLost: .unavailable
            case .notSecured: .permission
            case .system, .refused, .bearer, .closedByPeer: .inputOutput
            }
        self.init(status, status == .unavailable ? AdapterFaultText.gone.message() : failure.message)
    }

    init(_ failure: GATTBrowser.Failure) {
        switch failure {
        case .procedure(let error): self.init(error)
        case .ambiguous(let target, let handles):
            let list = handles.map(\.description).joined(separator: ", ")
            self.init(.inputOutput, CommandFaultText.ambiguous, "\(target)", list)
        case .missing(let target): self.init(.inputOutput, CommandFaultText.missing, "\(target)")
        }
    }

    private init(_ error: GATTError) {
        switch error {
        case .errorResponse(_, _, let answer) where Self.refusals.contains(answer):
            self.init(.permission, CommandFaultText.wantsPairing, "\(error)")
        case .errorResponse(.writeRequest, _, .writeNotPermitted):
            self.init(.permission, CommandFaultText.wantsNoResponse, "\(error)")
        case .errorResponse(_, _, .readNotPermitted), .errorResponse(_, _, .writeNotPermitted):
            self.init(.permission, CommandFaultText.procedure, "\(error)")
        case .tookTooLong: self.init(.timeout, CommandFaultText.procedure, "\(error)")
        default: self.init(.inputOutput, CommandFaultText.procedure, "\(error)")
        }
    }

    /// ATT errors with which a device requests a more secure link.
    private static let refusals: Set<ATTError> = [
        .insufficientAuthentication, .insufficientAuthorization, .insufficientEncryption, .encryptionKeySizeTooShort,
    ]
}
