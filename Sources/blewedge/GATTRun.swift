// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO
import SystemPackage
import Wedge

/// One look at a device's attributes from the command line, from the adapter to the exit status.
final class GATTRun {
    /// When a subscription ends by itself; never, if neither is given.
    struct SubscriptionLimit {
        /// After so many values.
        var count: Int?
        /// After this time.
        var time: Duration?
    }

    /// How long a connection may take.
    private static let connectTimeout = Duration.seconds(15)

    private let loop: EventLoop
    private let choice: DeviceChoice
    private let transport: AdapterTransport
    private let captureOptions: CaptureOptions
    private let output: GATTText
    private let limit: SubscriptionLimit
    private var browser: GATTBrowser
    private var adapter: (any LowEnergyAdapter)?
    private var search: DeviceSearch?
    private var attempt: (any ConnectionAttempt)?
    private var link: ATTLink?
    private var timer: EventLoop.Timer?
    private var values = 0
    private var outcome: Result<ExitStatus, CommandFailure>?

    init(
        _ task: GATTBrowser.Task,
        of choice: DeviceChoice,
        through transport: AdapterTransport,
        capture: CaptureOptions,
        output: GATTText,
        limit: SubscriptionLimit
    ) throws(CommandFailure) {
        do {
            loop = try EventLoop()
        } catch {
            throw CommandFailure(.internal, "cannot make an event loop: \(error)")
        }
        self.choice = choice
        self.transport = transport
        captureOptions = capture
        self.output = output
        self.limit = limit
        browser = GATTBrowser(task)
    }

    /// Runs until the task is done or a signal comes; throws the exit status unless it is success.
    func run() throws {
        try loop.handleSignals(ExitStatus.signals) { [unowned self] number in
            // The second signal does not wait for the controller.
            if outcome != nil { Process.exit(ExitStatus(signal: number).rawValue) }
            finish(.success(ExitStatus(signal: number)))
        }
        let capture = try captureOptions.begin(on: loop, for: transport)
        defer { capture?.finish() }
        do throws(AdapterError) {
            try LowEnergyAdapters.open(transport, on: loop, capture: capture) { [unowned self] result in
                guard outcome == nil else { return }
                switch result {
                case .failure(let error): finish(.failure(CommandFailure(error)))
                case .success(let adapter): scan(through: adapter)
                }
            }
        } catch {
            throw CommandFailure(error)
        }
        try loop.run()
        if let status = try outcome?.get(), status != .success { throw status }
    }

    // MARK: Finding the device

    private func scan(through adapter: any LowEnergyAdapter) {
        self.adapter = adapter
        adapter.onLoss = { [unowned self] reason in finish(.failure(CommandFailure(.unavailable, reason))) }
        let search = DeviceSearch(for: choice, on: loop) { [unowned self] result in
            self.search = nil
            switch result {
            case .success(let device): connect(to: device.address)
            case .failure(let failure): finish(.failure(failure))
            }
        }
        self.search = search
        search.start(through: adapter)
    }

    // MARK: The link

    private func connect(to device: DeviceAddress) {
        guard outcome == nil, let adapter else { return }
        do throws(LinkFailure) {
            attempt = try adapter.connect(to: device, timeout: Self.connectTimeout) { [unowned self] result in
                connected(result)
            }
        } catch {
            finish(.failure(CommandFailure(error)))
        }
    }

    private func connected(_ result: Result<any ATTChannel, LinkFailure>) {
        attempt = nil
        guard outcome == nil else { return }
        switch result {
        case .failure(let error): finish(.failure(CommandFailure(error)))
        case .success(let channel):
            let link = ATTLink(channel, on: loop)
            self.link = link
            link.onEvent = { [unowned self] event in take(event, link) }
            link.onValue = { [unowned self] handle, kind, value in take(value, of: handle, kind) }
            take(link.perform { client, now in browser.begin(&client, now: now) })
        }
    }

    private func take(_ event: ATTLink.Event, _ link: ATTLink) {
        guard outcome == nil else { return }
        switch event {
        case .procedure(let event): take(link.perform { client, now in browser.handle(event, &client, now: now) })
        case .closed(let failure): finish(.failure(CommandFailure(failure)))
        }
    }

    private func take(_ progress: GATTBrowser.Progress) {
        switch progress {
        case .underWay: break
        case .tree(let tree):
            print(output.tree(tree))
            finish(.success(.success))
        case .values(let values):
            print(values.map { output.value($0.value, of: $0.handle, .read) }.joined())
            finish(.success(.success))
        case .written: finish(.success(.success))
        case .subscribed(let characteristic):
            Console.note("subscribed to \(characteristic.value)")
            guard let time = limit.time else { return }
            setTimer(time) { [unowned self] in
                let isShort = limit.count.map { values < $0 } ?? false
                let failure = CommandFailure(.timeout, "\(values) values came in time")
                finish(isShort ? .failure(failure) : .success(.success))
            }
        // A bearer that failed closes the link, which is reported then, with the better reason.
        case .failed(.procedure(.bearer)): break
        case .failed(let failure): finish(.failure(CommandFailure(failure)))
        }
    }

    private func take(_ value: Span<UInt8>, of handle: AttributeHandle, _ kind: GATTSubscriptionKind) {
        guard outcome == nil, browser.isWanted(handle, kind) else { return }
        values &+= 1
        let origin: GATTText.Origin = kind == .notifications ? .notification : .indication
        print(output.value([UInt8](copying: value), of: handle, origin))
        if values == limit.count { finish(.success(.success)) }
    }

    // MARK: The end

    private func finish(_ result: Result<ExitStatus, CommandFailure>) {
        guard outcome == nil else { return }
        outcome = result
        cancelTimer()
        attempt?.cancel()
        attempt = nil
        let stopped = { [unowned self] in
            adapter?.close()
            loop.stop()
        }
        if let link, let adapter {
            self.link = nil
            link.close()
            adapter.disconnect(link.device, completion: stopped)
        } else if let search {
            search.cancel(stopped: stopped)
        } else {
            stopped()
        }
    }

    private func setTimer(_ time: Duration, _ handler: @escaping () -> Void) {
        cancelTimer()
        timer = loop.schedule(at: MonotonicClock.now + time) { [unowned self] in
            timer = nil
            handler()
        }
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    private func print(_ text: String) {
        do throws(Errno) {
            try StandardStream.output.write(text)
        } catch .brokenPipe {
            // Whoever read has enough.
            finish(.success(.success))
        } catch {
            finish(.failure(CommandFailure(.inputOutput, "cannot write to standard output: \(error)")))
        }
    }
}

extension CommandFailure {
    init(_ failure: LinkFailure) {
        let status: ExitStatus =
            switch failure {
            case .timedOut, .system(.timedOut), .bearer(.transactionTimeout): .timeout
            case .system(.permissionDenied), .system(.notPermitted): .permission
            // ENODEV: not the other device, but our adapter.
            case .system(.operationNotSupportedByDevice): .unavailable
            case .system, .bearer, .closedByPeer: .inputOutput
            }
        self.init(status, status == .unavailable ? "the adapter is gone" : "\(failure)")
    }

    init(_ failure: GATTBrowser.Failure) {
        switch failure {
        case .procedure(.errorResponse(_, _, let error)) where Self.refusals.contains(error):
            self.init(
                .permission,
                "\(failure)",
                remedy: "the device may want to be paired with, which is not done here"
            )
        case .procedure(.errorResponse(.writeRequest, _, .writeNotPermitted)):
            self.init(.permission, "\(failure)", remedy: "the characteristic may take --no-response only")
        case .procedure(.errorResponse(_, _, .readNotPermitted)), .procedure(.errorResponse(_, _, .writeNotPermitted)):
            self.init(.permission, "\(failure)")
        case .procedure(.tookTooLong): self.init(.timeout, "\(failure)")
        case .ambiguous: self.init(.inputOutput, "\(failure)", remedy: "name one by its handle")
        case .missing: self.init(.inputOutput, "\(failure)", remedy: "`blewedge gatt` without an action shows all")
        case .procedure: self.init(.inputOutput, "\(failure)")
        }
    }

    /// The answers of a device that trusts this link too little.
    private static let refusals: Set<ATTError> = [
        .insufficientAuthentication, .insufficientAuthorization, .insufficientEncryption, .encryptionKeySizeTooShort,
    ]
}
