// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothAdapters
package import BluetoothHost
package import BluetoothPackets
package import Configuration
import Control
package import Devices
import HIDHost
import Keystrokes
package import Link
import LinuxIO
package import SensorValues
package import Texts
package import Typing

/// Session with one device: its selector, its link, and the text that it sends to its outputs.
///
/// Several devices may share the radio and the outputs, which are therefore passed to the initializer.
package final class DeviceSession {
    /// Handler for the end of a connection attempt, successful or not.
    package var onAttemptEnd: (() -> Void)?
    /// Handler for each state that the session reports, even if it is the same as before.
    package var onState: ((Session.State, DeviceAddress?, Reason?) -> Void)?
    /// Handler for the length of each value received from the device.
    package var onReceived: ((Int) -> Void)?
    /// Handler for the bytes of each value; nil unless a client asks for them.
    var onValue: ((Span<UInt8>) -> Void)?
    /// Function that reads the bonds; nil if there is no bond store.
    package var bonds: (() throws(BondStore.Failure) -> BondStore.Contents)?
    /// Store for the services of keyboards; nil if they are not kept.
    package var keyboards: HIDDeviceStore?

    /// Maximum age of a sighting that can be reused instead of scanning: the time that closing an earlier link may
    /// take.
    private static let sightingLife = Session.closingTimeout

    private let settings: KeyboardSettings
    private let radio: RadioArbiter
    private let outputs: [VirtualKeyboard]
    private let source: TextSource
    private let link: DeviceLink
    private var session: Session
    private let timer = LoopTimer()
    /// Finder of the selected device; nil before the first selection.
    private var finder: DeviceFinder?
    /// Sighting of the selected device by the scan used to select it; nil if there is none, or if it was already used.
    private var sighting: (device: DeviceAddress, time: Duration)?
    private var flood = FloodLimit()
    private var isStopping = false
    /// Value in the advertisement by which a device without a connection was found.
    private var heardValue: [UInt8]?
    /// True if the selected device was heard or connected as a keyboard since it was selected.
    private var wasKeyboard = false
    /// Device for which the kept keyboards were last searched, and the result.
    private var search: (device: DeviceAddress, isKept: Bool)?

    package private(set) var choice: DeviceSelector?
    /// Address at which the selected device was last heard; nil if it has not been heard.
    package private(set) var address: DeviceAddress?
    /// Name that the device advertised before the connection; nil if no name was heard.
    package private(set) var heardName: String?
    package private(set) var reason: Reason?

    /// Creates a session with the configured device, and types the device's text on `outputs`.
    ///
    /// Scanning begins with `adapterReady`.
    package init(_ settings: KeyboardSettings, typingOn outputs: [VirtualKeyboard], on radio: RadioArbiter) {
        self.settings = settings
        self.radio = radio
        self.outputs = outputs
        choice = settings.device
        session = Session(
            isChosen: settings.device != nil,
            attemptTimeout: Session.usualAttemptTimeout + settings.longestHandshake
        )
        source = TextSource(for: outputs, on: radio.loop)
        link = DeviceLink(settings.profiles, keys: settings.keys, on: radio)
        source.onEncrypted = { [unowned self] in
            let reason = Reason(CommandFailure(.unavailable, ValueFaultText.encrypted))
            self.reason = reason
            onState?(state, address, reason)
        }
        link.onEvent = { [unowned self] event in take(event) }
        link.onProfile = { [unowned self] profile in
            source.use(profile?.framing, profile?.values, isAdvertised: profile?.advertised != nil)
        }
        link.onValue = { [unowned self] value, isFromOpenDevice in receive(value, isFromOpenDevice) }
        // If two packets are sent in succession, the second arrives one interval after the first, or two intervals
        // after it if it must be retransmitted.
        link.onTiming = { [unowned self] timing in
            for output in self.outputs { output.joinLineFeeds(within: (timing?.longestSilence ?? .zero) * 2) }
        }
        link.onKeyboard = { [unowned self] keyboard, device in keep(keyboard, of: device) }
        link.onGap = { [unowned self] in source.noteMissing(epoch: link.epoch) }
        listen(for: settings.device)
    }

    /// Passes a value of the profile's characteristic to the ring of each output; part of the hot path.
    private func receive(_ value: Span<UInt8>, _ isFromOpenDevice: Bool) {
        source.receive(value, epoch: link.epoch, isFromOpenDevice: isFromOpenDevice)
        onReceived?(value.count)
        if let onValue { onValue(value) }
        if let excess = flood.check(source.outrun) { endFlood(excess) }
    }

    /// Ends the link with a device that sends too fast, after the packets already read have been handled.
    private func endFlood(_ excess: UInt64) {
        _ = radio.loop.schedule(at: .zero) { [unowned self, epoch = link.epoch] in
            guard link.epoch == epoch, state == .connected else { return }
            link.noteFlood()
            apply(.flooded(Reason(CommandFailure(.unavailable, LinkFaultText.flooded, "\(excess)"))))
        }
    }

    /// Prevents further actions, and drops and counts the bytes that are waiting to be typed (D-1).
    package func beginStop() {
        isStopping = true
        timer.cancel()
        drop(through: .max, .disconnected)
    }

    /// Ends the link and the scan after `beginStop`; calls `completion` when both have ended.
    package func stop(completion: @escaping () -> Void) {
        closeLink { [unowned self] in
            stopListening { [unowned self] in
                source.stop()
                completion()
            }
        }
    }

    // MARK: User requests

    /// Selects another device, or none; selecting the same device again requests a connection.
    ///
    /// A device that was just `heard` is connected without another scan.
    package func choose(_ choice: DeviceSelector?, heard: DeviceAddress? = nil) {
        sighting = heard.map { ($0, MonotonicClock.now) }
        guard choice != self.choice else {
            if choice != nil { connect() }
            return
        }
        self.choice = choice
        address = nil
        (wasKeyboard, search) = (false, nil)
        if choice != nil { listen(for: choice) }
        apply(choice == nil ? .forgotten : .switched)
    }

    /// Requests a link, even after `disconnect`.
    package func connect() { apply(.connectAsked) }

    /// Ends the link; it stays disconnected until `connect` or the next selection (LK-17).
    package func disconnect() { apply(.disconnectAsked) }

    /// Types bytes of local origin, such as a beacon's key code, as if they were a notification from an unpaired
    /// device.
    ///
    /// The table, pace, scan mode and counts are the same as for all other bytes.
    package func type(_ bytes: [UInt8]) {
        // With no link, use the next epoch, so that a pending drop of the old one does not discard these bytes.
        let epoch = state == .connected ? link.epoch : link.epoch &+ 1
        for output in outputs { output.receive(bytes.span, epoch: epoch, isFromOpenDevice: true) }
    }

    package func send(_ bytes: [UInt8]) throws(CommandFailure) {
        guard state == .connected else {
            throw CommandFailure(.unavailable, LinkFaultText.notConnected)
        }
        try reporting(link.send, bytes)
    }

    /// Types the latest value of a device whose values are typed on request.
    package func typeValue() throws(CommandFailure) {
        guard state == .connected else {
            throw CommandFailure(.unavailable, LinkFaultText.notConnected)
        }
        guard source.typeValue(epoch: link.epoch, isFromOpenDevice: link.required == .none) else {
            throw CommandFailure(.unavailable, LinkFaultText.noValue)
        }
    }

    /// Writes a command to the device after the earlier commands have finished (BT-6).
    ///
    /// `completion` is called once, with the bytes of the reply or with the failure.
    package func ask(_ command: ChatScript.Command, completion: @escaping (Result<[UInt8], CommandFailure>) -> Void) {
        guard state == .connected else {
            return completion(.failure(CommandFailure(.unavailable, LinkFaultText.notConnected)))
        }
        let isQueued = link.ask(command) { outcome in completion(outcome.result(of: command)) }
        if !isQueued {
            let most = "\(CommandQueue.mostCommands)"
            completion(.failure(CommandFailure(.unavailable, LinkFaultText.commandsWait, most)))
        }
    }

    // MARK: State

    package var state: Session.State { session.state }

    /// True during a connection attempt; a client's scan waits until the attempt ends.
    package var isAttempting: Bool { session.isAttempting }

    package var profile: Profile? { link.profile }

    package var linkFacts: LinkFacts? { link.facts }

    package var linkCounts: LinkCounts { link.counts }

    package var values: ValueCounts { link.values }

    /// Counts of the numbers that the device has sent; nil if it sends text.
    package var numbers: ValueAccount? { source.valueAccount }

    /// Security level required for typing the selected device's values; nil if no device is selected.
    ///
    /// Without a link to the device, this is only the level required by the configuration and the selected device.
    package var requiredSecurity: GATTLinkSecurity.Level? {
        guard choice != nil else { return nil }
        return address != nil && address == link.device ? max(chosenSecurity, link.required) : chosenSecurity
    }

    // MARK: The adapter

    /// Starts using an adapter, after passing it the bonds, so that a device with a private address can be identified
    /// by its key.
    package func adapterReady() {
        search = nil
        useBonds()
        apply(.adapterReady)
    }

    package func adapterFailed(_ error: AdapterError) { apply(Session.Event(error)) }

    package func adapterRefused(_ refusal: CommandFailure) {
        // An adapter in use by another process counts as lost; a missing permission is reported as such.
        let isPermission = refusal.status == .permission
        apply(isPermission ? .forbidden(Reason(refusal)) : .adapterLost(Reason(refusal)))
    }

    package func adapterLost(_ loss: AdapterLoss) {
        source.endLink(through: link.epoch)
        link.noteAdapterLoss()
        apply(.adapterLost(Reason(loss)))
        link.abandon()
    }

    // MARK: Pairing

    /// Returns the address of the connected device if `meant` selects it; nil otherwise.
    ///
    /// A connected device does not advertise, so a scan would not find it.
    package func linked(_ meant: DeviceSelector, _ known: BondStore.Contents) -> DeviceAddress? {
        guard state == .connected, let address else { return nil }
        var name = known.names[address]
        switch choice {
        case .kept(let kept): name = kept.name ?? name
        case .name(let text), .named(let text, _): name = text
        case .address, nil: break
        }
        return meant.names(address, name) ? address : nil
    }

    /// Prevents new links until `pairingEnds`, and ends the link with `device`; a link with another device is kept.
    package func pairingBegins(with device: DeviceAddress?, _ proceed: @escaping () -> Void) {
        apply(.pairingBegins(endingLink: device != nil && device == address))
        if state == .connected { proceed() } else { link.close(completion: proceed) }
    }

    /// Resumes after a pairing; the adapter receives the new bond before the next link.
    package func pairingEnds() {
        useBonds()
        apply(.pairingEnds)
    }

    private func useBonds() {
        if let known = try? bonds?() { radio.adapter?.use(known.bonds) }
    }

    // MARK: The session

    private func apply(_ event: Session.Event) {
        guard !isStopping else { return }
        let wasAttempting = session.isAttempting
        let actions = session.handle(event, now: MonotonicClock.now)
        for action in actions where !isStopping { perform(action) }
        timer.set(on: radio.loop, at: session.deadline) { [unowned self] in apply(.deadline) }
        if wasAttempting, !session.isAttempting { onAttemptEnd?() }
    }

    private func perform(_ action: Session.Action) {
        switch action {
        case .scan: startListening()
        case .stopScan: stopListening {}
        case .connect(let device):
            flood.begin(at: source.outrun)
            connect(to: device)
        case .closeLink: closeLink { [unowned self] in apply(.linkClosed) }
        case .drop(let cause): drop(through: link.epoch, cause)
        case .report(let state, let general):
            let reason = specific(general)
            self.reason = reason
            if state == .failed { finder?.isThorough = true }
            if state == .connected { finder?.isThorough = false }
            onState?(state, address, reason)
        }
    }

    private func drop(through epoch: UInt32, _ cause: Gate.Drop) {
        for output in outputs where output.isGated { output.drop(through: epoch, cause) }
    }

    // MARK: Listening

    private func listen(for choice: DeviceSelector?) {
        guard let choice else { return }
        guard finder == nil else {
            finder?.choice = choice
            return
        }
        let finder = DeviceFinder(
            choice,
            advertisedAt: settings.advertisedAddress,
            sending: settings.advertisedField,
            on: radio
        )
        self.finder = finder
        finder.onResult = { [unowned self] result in take(result) }
        finder.onNamesake = { [unowned self] namesake in
            if let choice = self.choice { apply(.heardElsewhere(Reason(.heardElsewhere(choice, namesake)))) }
        }
    }

    private func take(_ result: Result<DiscoveredDevice, DeviceFinder.Failure>) {
        switch result {
        case .success(let heard):
            heardName = heard.name?.text
            if heard.isKeyboard(for: settings.profiles) { wasKeyboard = true }
            heardValue = settings.advertisedField?.value(in: heard.data)
            found(heard.address)
        // The loss of the adapter is reported separately.
        case .failure(.scan(.adapterGone)), .failure(.notHeard): break
        case .failure(.scan(let error)): apply(.scanFailed(Reason(CommandFailure(error))))
        case .failure(let failure): if let choice { apply(.attemptFailed(Reason(CommandFailure(failure, of: choice)))) }
        }
    }

    private func found(_ heard: DeviceAddress) {
        address = heard
        apply(.heard(heard))
        // If the session did not start an attempt, the finder must report the next advertisement.
        if session.isListening { finder?.goOn() }
    }

    private func startListening() {
        let sighting = sighting
        self.sighting = nil
        guard let sighting, MonotonicClock.now - sighting.time < Self.sightingLife else {
            finder?.start()
            return
        }
        // Defer the event, because the session is still performing its actions.
        _ = radio.loop.schedule(at: .zero) { [unowned self] in
            if session.isListening { found(sighting.device) }
        }
    }

    private func stopListening(completion: @escaping () -> Void) {
        if let finder { finder.stop(completion: completion) } else { completion() }
    }

    // MARK: The link

    private func take(_ event: DeviceLink.Event) {
        switch event {
        case .notSecured: refuse()
        case .ready:
            wasKeyboard = link.profile?.isKeyboard == true
            session.awaitsAtOnce = wasKeyboard
            apply(.ready)
        case .unsupported(let lack):
            // The kept services of the keyboard are wrong.
            if state == .connected { forgetKeyboard() }
            apply(.unsupported(Reason(lack)))
        case .failed(let failure):
            source.endLink(through: link.epoch)
            // The kept services may be the cause; without them, the next attempt discovers the keyboard.
            if !failure.isLoss, state == .connected, link.profile?.isKeyboard == true { forgetKeyboard() }
            // A keyboard that hangs up at once, again and again, must not be connected without pauses.
            if let facts = link.facts, facts.notifications == 0, facts.age < Session.retryInterval {
                session.awaitsAtOnce = false
            }
            apply(failure.isLoss && state == .connected ? .linkLost(Reason(failure)) : .attemptFailed(Reason(failure)))
        }
    }

    private func closeLink(completion: @escaping () -> Void) {
        source.endLink(through: link.epoch)
        link.close(completion: completion)
    }

    // MARK: Keyboards

    /// True if the selected device is a keyboard, as its advertisement, its link or its saved services show.
    package var isKeyboard: Bool {
        if wasKeyboard { return true }
        guard let device = choice?.kept?.device ?? address else { return false }
        if search?.device != device { search = (device, keptKeyboard(device) != nil) }
        return search?.isKept == true
    }

    /// Returns the reason why a paired keyboard is not heard, instead of the general one.
    private func specific(_ reason: Reason?) -> Reason? {
        guard let reason, reason.cause.says(LinkFaultText.notHeard), chosenSecurity > .none, isKeyboard else {
            return reason
        }
        let address = (choice?.kept?.device ?? address).map { "\($0.address)" } ?? "ADDRESS"
        let time = "\(Session.patience.components.seconds)"
        return Reason(CommandFailure(.unavailable, LinkFaultText.keyboardNotHeard, time, address))
    }

    /// Returns the services of a keyboard from an earlier link; nil if there are none, or if they cannot be used.
    private func keptKeyboard(_ device: DeviceAddress) -> HIDDevice? {
        guard settings.profiles.contains(where: \.isKeyboard), let adapter = radio.adapter?.address else { return nil }
        // Without the file, the services are discovered again.
        return try? keyboards?.load(adapter, device)
    }

    private func keep(_ keyboard: HIDDevice, of device: DeviceAddress) {
        guard let adapter = radio.adapter?.address else { return }
        // If this fails, the services are discovered at each link, and the first report may be lost; the state
        // directory's fault is reported with the selection.
        try? keyboards?.keep(adapter, device, keyboard)
        search = nil
    }

    private func forgetKeyboard() {
        if let address { _ = try? keyboards?.forget(address.address) }
        search = nil
    }

    // MARK: Security

    /// Security level required by the configuration and the selected device.
    private var chosenSecurity: GATTLinkSecurity.Level {
        guard case .kept(let kept)? = choice else { return settings.security }
        return max(settings.security, kept.security)
    }

    /// Connects to the device with the security that its bond and its selection require.
    ///
    /// Fails if there is no bond that is usable for that level.
    private func connect(to device: DeviceAddress) {
        let refusal: CommandFailure
        do throws(CommandFailure) {
            if let field = settings.advertisedField {
                guard chosenSecurity == .none else {
                    throw CommandFailure(.permission, LinkFaultText.advertisesOpenly, "\(device.address)")
                }
                defer { heardValue = nil }
                return link.listen(to: device, in: field, heard: heardValue)
            }
            let known = try knownBonds()
            if bonds != nil { radio.adapter?.use(known.bonds) }
            let claim = claim(on: device, known)
            let required = max(chosenSecurity, claim.demanded)
            guard let lack = SecurityLack(required, device, claim) else {
                return link.open(
                    device,
                    timeout: Session.connectTimeout,
                    requiring: required,
                    keyboard: required > .none ? keptKeyboard(device) : nil,
                    early: settings.earlyTime
                )
            }
            refusal = CommandFailure(lack, .permission)
        } catch {
            // If the bond file cannot be read, the device must not be assumed to be unpaired.
            refusal = error
        }
        // Defer the event, because the session is still performing its actions.
        _ = radio.loop.schedule(at: .zero) { [unowned self] in apply(.attemptFailed(Reason(refusal))) }
    }

    /// Ends the link with a device that has not authenticated as the paired one, or that lacks the keys required by its
    /// profile.
    private func refuse() {
        source.endLink(through: link.epoch)
        let fault: LinkFaultText = isKeyboard ? .keyboardRefusesKeys : .notSecured
        var failure = CommandFailure(.permission, fault, address.map { "\($0.address)" } ?? "")
        if let address, let known = try? knownBonds(),
            let lack = SecurityLack(link.required, address, claim(on: address, known))
        {
            failure = CommandFailure(lack, .permission)
        }
        apply(.attemptFailed(Reason(failure)))
    }

    private func knownBonds() throws(CommandFailure) -> BondStore.Contents {
        try bonds.map { bonds throws(CommandFailure) in try reporting(bonds) } ?? BondStore.Contents()
    }

    /// Returns the claim that the device must prove before it counts as the selected device.
    private func claim(on device: DeviceAddress, _ known: BondStore.Contents) -> BondClaim {
        guard let adapter = radio.adapter?.address else { return BondClaim(demanded: .authenticated) }
        let claim = known.claim(of: device, for: choice, on: adapter)
        guard claim.isUnusable, case .kept(let kept)? = choice, kept.ignoresBond else { return claim }
        return BondClaim()
    }
}
