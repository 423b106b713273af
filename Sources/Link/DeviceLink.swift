// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
package import BluetoothPackets
package import Configuration
package import Devices
package import HIDHost
package import HIDReports
import LinuxIO

/// The link to the device, from the attempt to connect until the link ends; there is only one at a time.
///
/// Each link has a number, called its epoch, which starts at 1. Values of a closed link are never passed on (BT-9).
/// Used on the event loop's thread.
package final class DeviceLink {
    package enum Event {
        case ready
        /// The device responds, but has no usable service or characteristic.
        case unsupported(LinkSetup.Lack)
        /// The link was lost, or could not be established or set up.
        case failed(Failure)
        /// The device has not proved that it is the paired device, or the link has become less secure than required.
        case notSecured
    }

    package enum Failure: Sendable {
        case link(LinkFailure)
        case handshake(ChatScript.Failure)
        case procedure(GATTError, DeviceAddress?, isEncrypted: Bool)
        /// The scan for a device that advertises its values failed.
        case scan(ScanError)

        /// True if the link was lost; false if the handshake or a procedure failed.
        package var isLoss: Bool {
            switch self {
            case .link, .scan: true
            case .handshake, .procedure: false
            }
        }
    }

    package enum SendError: Error, Equatable, Sendable {
        case noLink, noCharacteristic, notWritable
        case queueFull(unsent: Int, of: Int)
    }

    package var onEvent: ((Event) -> Void)?
    /// Handler for the values of the profile's characteristic, which are passed without copying.
    package var onValue: ((Span<UInt8>, _ isFromOpenDevice: Bool) -> Void)? {
        get { valueHandler }
        set { valueHandler = newValue }
    }
    /// The storage of `onValue`.
    ///
    /// It is private so that the compiler can see all accesses and omit exclusivity checks.
    private var valueHandler: ((Span<UInt8>, _ isFromOpenDevice: Bool) -> Void)?
    /// Handler for the timing of each new link, and for each change of the timing; nil if the timing is unknown.
    package var onTiming: ((ConnectionTiming?) -> Void)?
    /// Handler that is called after the kernel has dropped packets, before the next value is delivered.
    package var onGap: (() -> Void)?
    /// Handler for the profile found on the device; called before the first value.
    ///
    /// It is called with nil when a link begins.
    package var onProfile: ((Profile?) -> Void)?

    /// Handler for the services of a keyboard that were discovered, and must be kept for its next link.
    package var onKeyboard: ((HIDDevice, DeviceAddress) -> Void)?

    package var epoch: UInt32 { number }
    /// The storage of `epoch`, private for the same reason as that of `onValue`.
    private var number: UInt32 = 0
    package private(set) var device: DeviceAddress?
    private var received = ValueCounts()
    /// Time when the link became ready, and the number of notifications received by then; nil while no link is ready.
    private var beginning: (time: Duration, notifications: UInt64)?
    /// Minimum security level; nothing is accepted from a link with a lower level.
    package var required: GATTLinkSecurity.Level { demanded }
    /// The storage of `required`, private for the same reason as that of `onValue`.
    private var demanded = GATTLinkSecurity.Level.none
    /// True once a value has arrived over a link that is less secure than required.
    ///
    /// The link is then ended, and further values are refused.
    private var isRefused = false
    package private(set) var counts = LinkCounts()

    private let radio: RadioArbiter
    private let profiles: [Profile]
    private let numLock: Bool
    private let driver: LinkDriver
    /// Receiver of the values of a device without a connection; nil if there is none.
    private var listener: AdvertisementListener?
    private var link: ATTLink? { driver.link }
    private var reports: KeyboardReports
    /// Memory for the text of a report, between two reports.
    private var spareText: [UInt8] = []
    private let renewalTimer = LoopTimer()
    /// True if the device disconnected during its last renewal, so that the next link omits the renewal.
    private var leavesRenewal = false
    /// True if the services were discovered again on this link, because a value came from an unknown handle.
    private var didSearchAgain = false
    /// Longest time after the encryption of a kept keyboard's link before the first request is sent to it.
    ///
    /// A keyboard sends the report that woke it as soon as the link is encrypted; a request would delay that report.
    private static let renewalTime = Duration.milliseconds(500)
    private var isSecured: Bool { link?.security.suffices(for: required) == true }
    private var setup: LinkSetup {
        didSet { wanted = commands.isAwaiting ? nil : setup.wanted }
    }
    /// Pending commands to the connected device (BT-6).
    private var commands = CommandQueue() {
        didSet { wanted = commands.isAwaiting ? nil : setup.wanted }
    }
    private var commandEnds: [UInt64: (CommandQueue.Outcome) -> Void] = [:]
    /// GATT procedure that writes the current command; nil if no write is in progress.
    private var commandProcedure: GATTClient.ProcedureID?
    private let commandTimer = LoopTimer()
    /// Handle whose values are typed, cached for the hot path; nil while a reply is expected.
    private var wanted: AttributeHandle?
    /// Completion handlers passed to `close`, to be called when the link has been closed.
    private var closers: [() -> Void] = []
    private var closings = 0
    private let replyTimer = LoopTimer()

    package init(_ profiles: [Profile], keys keySettings: KeyDecoder.Settings = .init(), on radio: RadioArbiter) {
        self.radio = radio
        reports = KeyboardReports(keySettings)
        numLock = keySettings.numLock
        self.profiles = profiles
        setup = LinkSetup(profiles: profiles, numLock: numLock)
        driver = LinkDriver(on: radio)
        driver.onEvent = { [unowned self] event in take(event) }
    }

    package var values: ValueCounts {
        var values = received
        values.dropped = driver.droppedPackets
        values.tooLong = driver.tooLongValues
        values.refused &+= driver.refusedPackets
        values.early = driver.earlyValues
        (values.reports, values.keyboardChanges) = (reports.account, reports.changes)
        return values
    }

    /// Facts about the current link, for `status`; nil if no link is ready.
    package var facts: LinkFacts? {
        guard let link, let beginning else { return nil }
        return LinkFacts(
            age: MonotonicClock.now - beginning.time,
            notifications: received.notifications &- beginning.notifications,
            mtu: link.mtu,
            security: link.security,
            quality: radio.adapter?.quality(of: link.device) ?? LinkQuality()
        )
    }

    /// Connects to a device and sets up the link; any earlier link must be closed.
    ///
    /// No request is sent to the device, and nothing is accepted from it, before the link has the `required` security.
    ///
    /// `kept` are the services of a keyboard from an earlier link, with which its first report is decoded before any
    /// request is sent to it. Data that arrived at most `early` before the encryption is accepted (D-41).
    package func open(
        _ device: DeviceAddress,
        timeout: Duration,
        requiring required: GATTLinkSecurity.Level = .none,
        keyboard kept: HIDDevice? = nil,
        early: Duration = .zero
    ) {
        number &+= 1
        leavesRenewal = leavesRenewal && device == self.device
        didSearchAgain = false
        reports.begin(required > .none ? kept : nil)
        self.device = device
        demanded = required
        isRefused = false
        setup = LinkSetup(profiles: profiles, numLock: numLock)
        // With the default MTU, a value has room for 20 bytes.
        let exchangesMTU = reports.keyboard.map { $0.longestInput > 20 } ?? true
        driver.open(device, .once(timeout), requiring: required, early: early, exchangesMTU: exchangesMTU)
    }

    /// Receives the values that a device advertises in `field`; any earlier link must be closed.
    ///
    /// `heard` is the value in the advertisement by which the device was found.
    package func listen(to device: DeviceAddress, in field: AdvertisedField, heard: [UInt8]?) {
        number &+= 1
        self.device = device
        demanded = .none
        let listener = AdvertisementListener(device, field, on: radio)
        self.listener = listener
        listener.onValue = { [unowned self] value in receiveAdvertised(value) }
        listener.onFailure = { [unowned self] error in
            // Do nothing, because `AdapterCore` reports the loss of the adapter.
            guard error != .adapterGone else { return }
            counts.end(.failed)
            onEvent?(.failed(.scan(error)))
        }
        // Defer the event, because the caller is still handling the device's advertisement. Listen only after it, because
        // a value without its profile would be typed as text.
        _ = radio.loop.schedule(at: .zero) { [weak self, weak listener] in
            guard let self, let listener, listener === self.listener else { return }
            counts.begin()
            onProfile?(profile)
            onEvent?(.ready)
            if let heard { receiveAdvertised(heard.span) }
            if listener === self.listener { listener.start() }
        }
    }

    private func receiveAdvertised(_ value: Span<UInt8>) {
        received.notifications &+= 1
        onValue?(value, true)
    }

    /// Records that the device has sent too much, which is why the link is about to be ended.
    package func noteFlood() { counts.end(.flooded) }

    package func noteAdapterLoss() { counts.end(.withAdapter) }

    /// Ends the link or the attempt to connect, and then calls `completion` asynchronously.
    package func close(completion: @escaping () -> Void) {
        counts.end(.endedHere)
        replyTimer.cancel()
        endReports()
        endCommands()
        beginning = nil
        closers.append(completion)
        closings &+= 1
        let finish = { [weak self] in
            guard let self, closings > 0 else { return }
            closings &-= 1
            if closings == 0 { closed() }
        }
        if let listener {
            self.listener = nil
            return listener.stop(completion: finish)
        }
        driver.close(completion: finish)
    }

    /// Profile found on the device; nil before the profile is found, and without a link.
    package var profile: Profile? {
        if listener != nil { return profiles.first }
        return link == nil ? nil : setup.profile
    }

    /// Sends bytes to the device through the profile's output characteristic; their arrival is not confirmed.
    package func send(_ bytes: [UInt8]) throws(SendError) {
        guard let link else { throw .noLink }
        guard let output = setup.output else { throw .noCharacteristic }
        let sent = link.perform { client, now in setup.send(bytes, &client, now: now) }
        guard sent == bytes.count else {
            throw output.isWritable ? .queueFull(unsent: bytes.count - sent, of: bytes.count) : .notWritable
        }
    }

    /// Writes a command to the device after the earlier commands have ended.
    ///
    /// Returns false if too many commands are waiting. `completion` is called once, and no later than the end of the link.
    package func ask(_ command: ChatScript.Command, completion: @escaping (CommandQueue.Outcome) -> Void) -> Bool {
        guard let added = commands.add(command, now: MonotonicClock.now) else { return false }
        commandEnds[added.number] = completion
        take(added.steps)
        return true
    }

    /// Calls the completion handlers of all pending `close` calls because the adapter was lost.
    package func abandon() {
        closings = 0
        closed()
    }

    private func closed() {
        let callers = closers
        closers = []
        for caller in callers { caller() }
    }

    /// Raises the required security to the level of the profile; returns false if the link's level is lower.
    private func demand(_ level: GATTLinkSecurity.Level) -> Bool {
        guard level > required else { return true }
        demanded = level
        return link?.security.suffices(for: level) == true
    }

    @inline(never)
    private func refuseValue() {
        received.refused &+= 1
        guard !isRefused else { return }
        isRefused = true
        counts.end(.notSecured)
        _ = radio.loop.schedule(at: .zero) { [weak self, epoch] in
            guard let self, self.epoch == epoch, link != nil else { return }
            onEvent?(.notSecured)
        }
    }

    /// Handles a received value; this method is the start of the hot path to the keyboard's ring buffer.
    private func receive(_ value: ReceivedValue, _ bytes: Span<UInt8>) {
        if demanded > .none, isRefused || !isSecured { return refuseValue() }
        guard value.handle == wanted else { return takeReply(bytes, from: value.handle) }
        received.notifications &+= 1
        valueHandler?(bytes, demanded == .none)
    }

    private func take(_ event: LinkDriver.Event) {
        switch event {
        case .connected(let link):
            link.onGap = { [unowned self] in onGap?() }
            link.onTiming = { [unowned self] timing in onTiming?(timing) }
            onTiming?(link.timing)
            // The device chooses between notifications and indications (D-36).
            link.onValue = { [unowned self] value, bytes in receive(value, bytes) }
        case .ready(let link):
            setup = LinkSetup(profiles: profiles, numLock: numLock)
            if let kept = reports.keyboard { return resume(kept) }
            progress(link.perform { client, now in setup.begin(&client, now: now) })
        case .procedure(let event) where event.procedure == commandProcedure: commandWritten(event.result)
        case .procedure(let event):
            guard let link else { return }
            progress(link.perform { client, now in setup.handle(event, &client, now: now) })
        case .notSecured: onEvent?(.notSecured)
        // Do nothing, because `AdapterCore` reports the loss of the adapter.
        case .failed(.adapterLost) where link == nil: break
        case .failed(let failure):
            if link != nil { counts.end(LinkCounts.End(failure)) }
            leavesRenewal = setup.isRenewing && failure.isHangUp
            endReports()
            onEvent?(.failed(.link(failure)))
        }
    }

    private func progress(_ progress: LinkSetup.Progress) {
        armReplyTimer()
        onProfile?(setup.profile)
        if let keyboard = setup.keyboard { take(keyboard) }
        guard demand(setup.profile?.security ?? .none) else {
            onEvent?(.notSecured)
            return
        }
        switch progress {
        case .underWay: break
        case .ready:
            counts.begin()
            beginning = (MonotonicClock.now, received.notifications)
            // Query the link quality now, so that the first `status` includes the signal strength.
            if let device { _ = radio.adapter?.quality(of: device) }
            let earlyBytes = setup.earlyBytes
            onEvent?(.ready)
            if !earlyBytes.isEmpty, link != nil { onValue?(earlyBytes.span, required == .none) }
        case .refused(let failure): onEvent?(.failed(.handshake(failure)))
        case .unsupported(let lack): onEvent?(.unsupported(lack))
        // A failed bearer closes the link, which is reported separately.
        case .failed(.bearer): break
        case .failed(let error):
            let isEncrypted = required > .none && isSecured
            onEvent?(.failed(.procedure(error, device, isEncrypted: isEncrypted)))
        }
    }

    // MARK: Keyboards

    private func resume(_ kept: HIDDevice) {
        progress(setup.resume(kept))
        guard !leavesRenewal else { return }
        renewalTimer.set(on: radio.loop, after: Self.renewalTime) { [unowned self] in renew() }
    }

    /// Sends a resumed keyboard the requests that were delayed until after its first report.
    private func renew() {
        renewalTimer.cancel()
        guard let link, setup.isRenewalDue else { return }
        progress(link.perform { client, now in setup.renew(&client, now: now) })
    }

    /// Discovers the keyboard again, because its services or handles changed.
    private func discoverAgain() {
        guard let link else { return }
        progress(link.perform { client, now in setup.servicesChanged(&client, now: now) })
    }

    /// Uses a discovered keyboard, and passes it to `onKeyboard` if its services are new.
    private func take(_ keyboard: HIDDevice) {
        guard reports.use(keyboard), let device else { return }
        if let link, keyboard.longestInput + 3 > Int(link.mtu) {
            // This fails if the MTU was exchanged before.
            _ = try? link.perform { client, now throws(GATTError) in try client.exchangeMTU(now: now) }
        }
        onKeyboard?(keyboard, device)
    }

    private func endReports() {
        renewalTimer.cancel()
        reports.end()
    }

    /// Passes on the text of a report; returns false if the value is no report.
    private func receiveReport(_ value: Span<UInt8>, from handle: AttributeHandle) -> Bool {
        // The handler may end the link, so it is not called while the reports are accessed.
        var text = spareText
        spareText = []
        defer {
            text.removeAll(keepingCapacity: true)
            spareText = text
        }
        guard reports.receive(value, from: handle, into: &text) else { return false }
        received.notifications &+= 1
        if !text.isEmpty { valueHandler?(text.span, false) }
        if setup.isRenewalDue, !leavesRenewal {
            // Read the pending reports first.
            renewalTimer.set(on: radio.loop, after: .zero) { [unowned self] in renew() }
        }
        return true
    }

    /// Passes a value to the decoder of reports, to the command that expects a reply, or to the profile's handshake.
    ///
    /// If there is none, counts the value as stray.
    private func takeReply(_ value: Span<UInt8>, from handle: AttributeHandle) {
        if let keyboard = reports.keyboard {
            if receiveReport(value, from: handle) { return }
            if handle == keyboard.serviceChanged?.value { return discoverAgain() }
            // Handles may have moved.
            if handle != keyboard.battery?.value, !didSearchAgain {
                didSearchAgain = true
                discoverAgain()
            }
        }
        if commands.isAwaiting, handle == setup.wanted {
            return take(commands.receive([UInt8](copying: value), now: MonotonicClock.now))
        }
        guard let link, handle == setup.replies else {
            received.stray &+= 1
            return
        }
        let reply = [UInt8](copying: value)
        progress(link.perform { client, now in setup.receive(reply, &client, now: now) })
    }

    private func armReplyTimer() {
        replyTimer.set(on: radio.loop, at: setup.deadline) { [unowned self] in
            guard let link else { return }
            progress(link.perform { client, now in setup.handleDeadline(&client, now: now) })
        }
    }

    // MARK: Commands

    private func take(_ first: CommandQueue.Steps) {
        var steps = first
        while true {
            if !steps.others.isEmpty {
                received.notifications &+= 1
                valueHandler?(steps.others.span, required == .none)
            }
            armCommandTimer()
            for end in steps.ends { commandEnds.removeValue(forKey: end.number)?(end.outcome) }
            guard let bytes = steps.write else { return }
            guard let next = write(bytes) else { return }
            steps = next
        }
    }

    /// Writes a command; returns nil if an event will report when the write has completed.
    private func write(_ bytes: [UInt8]) -> CommandQueue.Steps? {
        guard let link, let output = setup.output, output.isWritable else {
            return commands.notWritten(now: MonotonicClock.now)
        }
        do throws(GATTError) {
            if output.properties.contains(.write) {
                commandProcedure = try link.perform { client, now throws(GATTError) in
                    try client.write(bytes, to: output.valueHandle, now: now)
                }
                return nil
            }
            try link.perform { client, now throws(GATTError) in
                try client.writeWithoutResponse(bytes, to: output.valueHandle, now: now)
            }
        } catch {
            return commands.notWritten(now: MonotonicClock.now)
        }
        return commands.written(now: MonotonicClock.now)
    }

    private func commandWritten(_ result: Result<GATTClient.Outcome, GATTError>) {
        commandProcedure = nil
        switch result {
        case .success: take(commands.written(now: MonotonicClock.now))
        // A failed bearer closes the link, which ends the commands.
        case .failure(.bearer): break
        case .failure: take(commands.notWritten(now: MonotonicClock.now))
        }
    }

    private func armCommandTimer() {
        commandTimer.set(on: radio.loop, at: commands.deadline) { [unowned self] in
            take(commands.handleDeadline(now: MonotonicClock.now))
        }
    }

    private func endCommands() {
        commandProcedure = nil
        take(commands.removeAll())
    }
}

/// Limit for the number of bytes that may be lost on one link because the device sends more than can be typed.
///
/// The limit applies to the loss, not to the rate. When an inventory scanner sends its memory as fast as the radio
/// allows, some bytes are typed from the ring buffer and the others are lost, but the burst ends by itself (D-1a). A
/// device that does not stop is faulty, and would delay the keys of clients indefinitely.
package struct FloodLimit {
    /// Maximum number of bytes that may be lost on a link: about 18,000 barcodes in addition to those in the ring
    /// buffer.
    package static let bytes: UInt64 = 1 << 18

    private var base: UInt64 = 0
    /// Total number of lost bytes above which the link is ended.
    private var border = UInt64.max

    package init() {}

    /// Starts counting for a new link; `lost` is the current total number of lost bytes.
    package mutating func begin(at lost: UInt64) {
        base = lost
        border = lost &+ Self.bytes
    }

    /// Returns the number of bytes lost on this link if it exceeds the limit, but only once per link; otherwise nil.
    package mutating func check(_ lost: UInt64) -> UInt64? {
        guard lost > border else { return nil }
        border = .max
        return lost &- base
    }
}
