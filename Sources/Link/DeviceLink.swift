// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Configuration
import Devices
import LinuxIO

/// The one link of the wedge on the event loop, from the attempt to its end.
///
/// Each link has a number, its epoch, from 1 on; values of a link that was closed are never passed on (BT-9). To be used
/// on the loop's thread.
package final class DeviceLink {
    package enum Event {
        case ready
        /// The device answers, but offers nothing that can be used.
        case unsupported(LinkSetup.Lack)
        /// The link is gone, or did not come about.
        case failed(Failure)
        /// The device has not proved that it is the paired one, or the link is not as secure any more.
        case notSecured
    }

    package enum Failure: Sendable {
        case link(LinkFailure)
        case handshake(ChatScript.Failure)
        case procedure(GATTError, DeviceAddress?, isEncrypted: Bool)
    }

    package enum SendError: Error, Equatable, Sendable {
        case noLink, noCharacteristic, notWritable
        case queueFull(unsent: Int, of: Int)
    }

    package var onEvent: ((Event) -> Void)?
    /// Takes each value of the profile's characteristic, in place.
    package var onValue: ((Span<UInt8>, _ isFromOpenDevice: Bool) -> Void)?
    /// Told of the timing of a new link, nil where that is not known, and of each change.
    package var onTiming: ((ConnectionTiming?) -> Void)?
    /// Told before the first value behind packets that the kernel has dropped.
    package var onGap: (() -> Void)?
    /// Told of the profile that a device is found to have, before its first value; nil as a link begins.
    package var onProfile: ((Profile?) -> Void)?

    package private(set) var epoch: UInt32 = 0
    package private(set) var device: DeviceAddress?
    private var received = ValueCounts()
    /// The time when the link became ready, and the values of the characteristic before it; nil without such a link.
    private var beginning: (time: Duration, notifications: UInt64)?
    /// The security without which nothing of the link is taken.
    package private(set) var required = GATTLinkSecurity.Level.none
    /// True once a value came that was not secure: the link ends, and no other value of it is taken.
    private var isRefused = false
    package private(set) var counts = LinkCounts()

    private let radio: RadioArbiter
    private let profiles: [Profile]
    private let driver: LinkDriver
    private var link: ATTLink? { driver.link }
    private var isSecured: Bool { link?.security.suffices(for: required) == true }
    private var setup: LinkSetup {
        didSet { wanted = commands.isAwaiting ? nil : setup.wanted }
    }
    /// The commands to the device that were asked for since it is connected (BT-6).
    private var commands = CommandQueue() {
        didSet { wanted = commands.isAwaiting ? nil : setup.wanted }
    }
    private var commandEnds: [UInt64: (CommandQueue.Outcome) -> Void] = [:]
    /// The procedure by which the command under way is written; nil where none is outstanding.
    private var commandProcedure: GATTClient.ProcedureID?
    private let commandTimer = LoopTimer()
    /// The handle whose values are typed; nil while a reply is waited for; a copy, at hand for each value.
    private var wanted: AttributeHandle?
    /// Called when no end of a link is waited for any more.
    private var closers: [() -> Void] = []
    private var closings = 0
    private let replyTimer = LoopTimer()

    package init(_ profiles: [Profile], on radio: RadioArbiter) {
        self.radio = radio
        self.profiles = profiles
        setup = LinkSetup(profiles: profiles)
        driver = LinkDriver(on: radio)
        driver.onEvent = { [unowned self] event in take(event) }
    }

    package var values: ValueCounts {
        var values = received
        values.dropped = driver.droppedPackets
        values.tooLong = driver.tooLongValues
        return values
    }

    /// The link that stands, as `status` has it; nil where none is ready.
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

    /// Connects, and readies the link; an earlier one must be closed.
    ///
    /// Nothing is asked of the device, or taken from it, before the link has the `required` security.
    package func open(_ device: DeviceAddress, timeout: Duration, requiring required: GATTLinkSecurity.Level = .none) {
        epoch &+= 1
        self.device = device
        self.required = required
        isRefused = false
        setup = LinkSetup(profiles: profiles)
        driver.open(device, .once(timeout), requiring: required)
    }

    /// Takes note that the link is about to be closed because of what its device sends.
    package func noteFlood() { counts.end(.flooded) }

    package func noteAdapterLoss() { counts.end(.withAdapter) }

    /// Ends the link or the attempt; `completion` is called, later, when there is none any more.
    package func close(completion: @escaping () -> Void) {
        counts.end(.endedHere)
        replyTimer.cancel()
        endCommands()
        beginning = nil
        closers.append(completion)
        closings &+= 1
        let finish = { [weak self] in
            guard let self, closings > 0 else { return }
            closings &-= 1
            if closings == 0 { closed() }
        }
        driver.close(completion: finish)
    }

    /// The profile that the device was found to have; nil before that, and without a link.
    package var profile: Profile? { link == nil ? nil : setup.profile }

    /// Sends bytes to the device, through the profile's characteristic for that; no answer tells that they arrived.
    package func send(_ bytes: [UInt8]) throws(SendError) {
        guard let link else { throw .noLink }
        guard let output = setup.output else { throw .noCharacteristic }
        let sent = link.perform { client, now in setup.send(bytes, &client, now: now) }
        guard sent == bytes.count else {
            throw output.isWritable ? .queueFull(unsent: bytes.count - sent, of: bytes.count) : .notWritable
        }
    }

    /// Writes a command to the device when those before it have ended; false where too many wait.
    ///
    /// `completion` is called once, at the latest when the link ends.
    package func ask(_ command: ChatScript.Command, completion: @escaping (CommandQueue.Outcome) -> Void) -> Bool {
        guard let added = commands.add(command, now: MonotonicClock.now) else { return false }
        commandEnds[added.number] = completion
        take(added.steps)
        return true
    }

    /// The adapter is gone, and with it what was waited for.
    package func abandon() {
        closings = 0
        closed()
    }

    private func closed() {
        let callers = closers
        closers = []
        for caller in callers { caller() }
    }

    /// Demands what the profile does of which the device was found to be; false where the link is not that secure.
    private func demand(_ level: GATTLinkSecurity.Level) -> Bool {
        guard level > required else { return true }
        required = level
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

    private func take(_ event: LinkDriver.Event) {
        switch event {
        case .connected(let link):
            link.onGap = { [unowned self] in onGap?() }
            link.onTiming = { [unowned self] timing in onTiming?(timing) }
            onTiming?(link.timing)
            // The device chooses whether it notifies or indicates (D-36).
            // The hot path begins: one comparison, and on to the keyboard's ring.
            link.onValue = { [unowned self] handle, _, value in
                if required > .none, isRefused || !isSecured { return refuseValue() }
                guard handle == wanted else { return takeReply(value, from: handle) }
                received.notifications &+= 1
                onValue?(value, required == .none)
            }
        case .ready(let link):
            setup = LinkSetup(profiles: profiles)
            progress(link.perform { client, now in setup.begin(&client, now: now) })
        case .procedure(let event) where event.procedure == commandProcedure: commandWritten(event.result)
        case .procedure(let event):
            guard let link else { return }
            progress(link.perform { client, now in setup.handle(event, &client, now: now) })
        case .notSecured: onEvent?(.notSecured)
        // Whoever uses the adapter hears of its loss.
        case .failed(.adapterLost) where link == nil: break
        case .failed(let failure):
            if link != nil { counts.end(LinkCounts.End(failure)) }
            onEvent?(.failed(.link(failure)))
        }
    }

    private func progress(_ progress: LinkSetup.Progress) {
        armReplyTimer()
        onProfile?(setup.profile)
        guard demand(setup.profile?.security ?? .none) else {
            onEvent?(.notSecured)
            return
        }
        switch progress {
        case .underWay: break
        case .ready:
            counts.begin()
            beginning = (MonotonicClock.now, received.notifications)
            // The first `status` is to know the signal's strength.
            if let device { _ = radio.adapter?.quality(of: device) }
            let earlyBytes = setup.earlyBytes
            onEvent?(.ready)
            if !earlyBytes.isEmpty, link != nil { onValue?(earlyBytes.span, required == .none) }
        case .refused(let failure): onEvent?(.failed(.handshake(failure)))
        case .unsupported(let lack): onEvent?(.unsupported(lack))
        // A bearer that failed closes the link, which is reported then.
        case .failed(.bearer): break
        case .failed(let error):
            let isEncrypted = required > .none && isSecured
            onEvent?(.failed(.procedure(error, device, isEncrypted: isEncrypted)))
        }
    }

    /// Hands what the device says during its profile's handshake to that, and later to the command under way.
    private func takeReply(_ value: Span<UInt8>, from handle: AttributeHandle) {
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
                onValue?(steps.others.span, required == .none)
            }
            armCommandTimer()
            for end in steps.ends { commandEnds.removeValue(forKey: end.number)?(end.outcome) }
            guard let bytes = steps.write else { return }
            guard let next = write(bytes) else { return }
            steps = next
        }
    }

    /// Writes a command; nil where its end comes as an event.
    private func write(_ bytes: [UInt8]) -> CommandQueue.Steps? {
        guard let link, let output = setup.output, output.isWritable else {
            return commands.notWritten(now: MonotonicClock.now)
        }
        do throws(GATTError) {
            if output.properties.contains(.write) {
                commandProcedure = try link.perform { client, now throws(GATTError) in
                    try client.write(bytes, to: output.value, now: now)
                }
                return nil
            }
            try link.perform { client, now throws(GATTError) in
                try client.writeWithoutResponse(bytes, to: output.value, now: now)
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
        // A bearer that failed closes the link, which ends the commands.
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

/// The limit of what one link may lose because its device sends more than can be typed.
///
/// The loss is limited and not the rate: what a scanner of an inventory sends from its memory, as fast as the radio
/// carries it, is typed from the ring or lost once, and is an end in itself (D-1a). Only a device that goes on has a fault,
/// and would keep others' keys waiting for good.
package struct FloodLimit {
    /// The most bytes that a link may lose: some 18,000 barcodes beyond those that the ring holds.
    package static let bytes: UInt64 = 1 << 18

    private var base: UInt64 = 0
    /// The count of lost bytes above which the link is ended.
    private var border = UInt64.max

    package init() {}

    /// Begins a link, at this count of lost bytes.
    ///
    /// An end that waits for its readers fills the ring by itself, whatever the device does: there is no limit then.
    package mutating func begin(at lost: UInt64, isPatient: Bool) {
        base = lost
        border = isPatient ? .max : lost &+ Self.bytes
    }

    /// The bytes that the link has lost, where they are too many; nil where they are not, or were reported.
    package mutating func check(_ lost: UInt64) -> UInt64? {
        guard lost > border else { return nil }
        border = .max
        return lost &- base
    }
}
