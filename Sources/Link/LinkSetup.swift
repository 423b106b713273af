// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
package import Configuration
import Devices
package import HIDHost

/// Sets up a ready link until values can arrive: service, characteristics, subscription, and the profile's handshake.
///
/// It is a pure state machine that uses the `GATTClient` of one connection, and only the services of its profiles
/// (CB-31). The owner creates a setup for each connection, and passes it only that connection's client (BT-9). The
/// owner also calls `handleDeadline` at `deadline`, and passes every value of the handle `replies` to `receive`.
package struct LinkSetup: Sendable {
    package enum Progress: Equatable, Sendable {
        /// A procedure is running, or a reply is expected.
        case underWay
        /// The setup is complete.
        ///
        /// Type `earlyBytes` first, and then the values of this handle. If `keyboard` is set, decode its reports instead.
        case ready(AttributeHandle)
        /// The device responds, but offers none of the profiles.
        case unsupported(Lack)
        case failed(GATTError)
        /// The handshake failed; the connection is retried like any failed attempt.
        case refused(ChatScript.Failure)
    }

    /// The part of a profile that is missing on the device.
    package enum Lack: Equatable, Sendable {
        /// The device has none of the services of these profiles; `offered` are the services that it has.
        case profile([Profile], offered: [BluetoothUUID])
        case characteristic(BluetoothUUID)
        case writing(BluetoothUUID)
        case notification(BluetoothUUID)
        case anyInput, anyOutput
        /// The device has HID services, but no usable keyboard.
        case keyboard(HIDDiscovery.Lack)
    }

    private enum Step: Sendable {
        case start, services, characteristics, subscription, handshake, others, keyboard, done
    }

    private struct Candidate: Sendable {
        var profile: Profile
        var service: GATTService
    }

    private struct Choice: Sendable {
        var profile: Profile
        var characteristic: GATTCharacteristic
        var output: GATTCharacteristic?
    }

    private let profiles: [Profile]
    private let numLock: Bool
    private var step = Step.start
    private var procedure: GATTClient.ProcedureID?
    /// Services of the device; only those of one UUID if no others were requested.
    private var services: [GATTService] = []
    private var candidates: ArraySlice<Candidate> = []
    /// Services that the device offers; nil if only one service was requested.
    private var others: [BluetoothUUID]?
    /// The part that the last rejected candidate lacks; nil if no candidate was rejected.
    private var refusal: Lack?
    /// First candidate whose characteristic cannot be configured to send, but may send anyway.
    ///
    /// It is used only if no other candidate is suitable.
    private var unconfigured: Choice?
    private var queue = ChatScript([])
    /// Setup of the keyboard; nil if the profile is not that of a keyboard.
    private var keyboardSetup: HIDSetup?

    package private(set) var profile: Profile?
    /// Characteristic subscribed to, set when the request is sent, because the first value can arrive before the
    /// response.
    package private(set) var characteristic: GATTCharacteristic?
    /// Characteristic that accepts bytes for the device; nil if the device has none.
    package private(set) var output: GATTCharacteristic?
    /// Bytes that were received after the last reply of the handshake; they must be typed first.
    package private(set) var earlyBytes: [UInt8] = []

    /// The connected keyboard; nil before its services are known, and for a serial service.
    package var keyboard: HIDDevice? { keyboardSetup?.device }
    /// True if a kept keyboard was resumed, and `renew` has not been called.
    package private(set) var isRenewalDue = false
    /// True while requests are sent to a keyboard whose link is ready.
    package var isRenewing: Bool { step == .done && keyboardSetup?.isDone == false }

    /// Handle whose notified or indicated values are typed (D-36); nil before the handle is known and during the
    /// handshake.
    package var wanted: AttributeHandle? { hasHandshake ? nil : characteristic?.valueHandle }
    /// Handle whose values belong to the handshake, and must be passed to `receive`; nil if no handshake is in
    /// progress.
    package var replies: AttributeHandle? { hasHandshake ? characteristic?.valueHandle : nil }

    /// True until the handshake has ended; false if the profile has no handshake.
    private var hasHandshake = false

    /// Creates a setup for one connection to a device with this profile.
    package init(profile: Profile) {
        self.init(profiles: [profile])
    }

    /// Creates a setup for one connection to a device, with the first of these profiles that the device offers.
    ///
    /// `numLock` is the state of the NumLock light of a keyboard.
    package init(profiles: [Profile], numLock: Bool = true) {
        self.profiles = profiles
        self.numLock = numLock
    }

    /// Time at which `handleDeadline` must be called; nil while no reply is expected.
    package var deadline: Duration? { step == .handshake ? queue.deadline : nil }

    /// Continues with a keyboard whose services were kept from an earlier link, without a request to it; returns
    /// `ready`.
    ///
    /// Its reports can be decoded at once. Call `renew` after the first report, or after a short time.
    package mutating func resume(_ kept: HIDDevice) -> Progress {
        profile = profiles.first(where: \.isKeyboard)
        keyboardSetup = HIDSetup(kept: kept, numLock: numLock)
        (step, isRenewalDue) = (.done, true)
        return .ready(kept.firstInput)
    }

    /// Compares the kept services of a resumed keyboard with the device, and then writes its subscriptions again.
    ///
    /// The link stays ready meanwhile; `ready` is not returned again.
    package mutating func renew(_ client: inout GATTClient, now: Duration) -> Progress {
        guard isRenewalDue else { return .underWay }
        isRenewalDue = false
        return advanceKeyboard { setup in setup.begin(&client, now: now) }
    }

    /// Handles the keyboard's report that its services changed; its next reports may come from other handles.
    package mutating func servicesChanged(_ client: inout GATTClient, now: Duration) -> Progress {
        isRenewalDue = false
        return advanceKeyboard { setup in setup.discoverAgain(&client, now: now) }
    }

    package mutating func begin(_ client: inout GATTClient, now: Duration) -> Progress {
        step = .services
        return Self.attempt { () throws(GATTError) in
            // If only one service is needed, discover it by its UUID, which requires the least work from the device.
            procedure =
                if !isOfAll, let only = profiles.first?.service {
                    try client.discoverPrimaryServices(only, now: now)
                } else {
                    try client.discoverPrimaryServices(now: now)
                }
        }
    }

    /// Handles the end of a procedure, and begins the next procedure.
    package mutating func handle(_ event: GATTClient.Event, _ client: inout GATTClient, now: Duration) -> Progress {
        if keyboardSetup != nil { return advanceKeyboard { setup in setup.handle(event, &client, now: now) } }
        guard event.procedure == procedure else { return .underWay }
        procedure = nil
        switch (step, event.result) {
        case (.others, .success(.services(let found))):
            return .unsupported(.profile(profiles, offered: found.map(\.uuid)))
        case (.services, .success(.services(let found))):
            services = found
            if isOfAll { others = found.map(\.uuid) }
            candidates = ArraySlice(
                profiles.flatMap { profile in
                    found.filter { $0.uuid == profile.service }.map { Candidate(profile: profile, service: $0) }
                }
            )
            return nextCandidate(&client, now)
        case (.characteristics, .success(.characteristics(let found))): return subscribe(found, &client, now)
        case (.subscription, .success(.listening)): return listen(&client, now)
        case (.subscription, .success): return beginHandshake(&client, now)
        case (.handshake, .success): return carryOut(queue.written(now: now), &client, now)
        case (_, .failure(let error)): return .failed(error)
        case (_, .success): return .underWay
        }
    }

    /// Handles a value of the handle in `replies`.
    package mutating func receive(_ value: [UInt8], _ client: inout GATTClient, now: Duration) -> Progress {
        carryOut(queue.receive(value, now: now), &client, now)
    }

    package mutating func handleDeadline(_ client: inout GATTClient, now: Duration) -> Progress {
        guard step == .handshake else { return .underWay }
        return carryOut(queue.handleDeadline(now: now), &client, now)
    }

    /// Writes bytes to the device in pieces that fit into the MTU.
    ///
    /// Returns the number of bytes that were sent or queued. The writes request no response if the device permits that.
    package func send(_ bytes: [UInt8], _ client: inout GATTClient, now: Duration) -> Int {
        guard step == .done, let output, output.isWritable else { return 0 }
        let length = max(1, Int(client.mtu) - 3)
        var sent = 0
        while sent < bytes.count {
            let piece = Array(bytes[sent..<min(bytes.count, sent + length)])
            do throws(GATTError) {
                if output.properties.contains(.writeWithoutResponse) {
                    try client.writeWithoutResponse(piece, to: output.valueHandle, now: now)
                } else {
                    _ = try client.write(piece, to: output.valueHandle, now: now)
                }
            } catch {
                // The client cannot queue more writes.
                return sent
            }
            sent += piece.count
        }
        return sent
    }

    // MARK: Discovery

    /// True if all services of the device are discovered, because the profiles use more than one service.
    private var isOfAll: Bool { Set(profiles.map(\.service)).count != 1 || profiles.contains(where: \.isKeyboard) }

    private mutating func nextCandidate(_ client: inout GATTClient, _ now: Duration) -> Progress {
        characteristic = nil
        guard let candidate = candidates.popFirst() else {
            if let unconfigured {
                choose(unconfigured)
                return beginHandshake(&client, now)
            }
            if let refusal { return .unsupported(refusal) }
            if let others { return .unsupported(.profile(profiles, offered: others)) }
            step = .others
            return Self.attempt { () throws(GATTError) in procedure = try client.discoverPrimaryServices(now: now) }
        }
        profile = candidate.profile
        if candidate.profile.isKeyboard {
            // A serial service that may send comes before the keyboard.
            if let unconfigured {
                candidates = []
                choose(unconfigured)
                return beginHandshake(&client, now)
            }
            // One setup uses all HID services.
            candidates.removeAll { $0.profile.isKeyboard }
            step = .keyboard
            keyboardSetup = HIDSetup(services, numLock: numLock)
            return advanceKeyboard { setup in setup.begin(&client, now: now) }
        }
        step = .characteristics
        return Self.attempt { () throws(GATTError) in
            procedure = try client.discoverCharacteristics(of: candidate.service, now: now)
        }
    }

    private mutating func advanceKeyboard(_ body: (inout HIDSetup) -> HIDSetup.Progress) -> Progress {
        guard var setup = keyboardSetup else { return .underWay }
        let progress = body(&setup)
        keyboardSetup = setup
        switch progress {
        case .underWay: return .underWay
        case .failed(let error): return .failed(error)
        case .unusable(let lack): return .unsupported(.keyboard(lack))
        case .finished:
            guard step == .keyboard else { return .underWay }
            step = .done
            return .ready(setup.device?.firstInput ?? .invalid)
        }
    }

    private mutating func subscribe(
        _ found: [GATTCharacteristic],
        _ client: inout GATTClient,
        _ now: Duration
    ) -> Progress {
        guard let profile else { return .underWay }
        guard let input = found.chosen(profile.fromPeripheral, { $0.isSubscribable }) else {
            refusal = .characteristic(profile.fromPeripheral)
            return nextCandidate(&client, now)
        }
        let output = found.chosen(profile.toPeripheral) { $0.isWritable }
        if !profile.handshake.isEmpty, output?.isWritable != true {
            refusal = .writing(profile.toPeripheral)
            return nextCandidate(&client, now)
        }
        choose(Choice(profile: profile, characteristic: input, output: output))
        step = .subscription
        do throws(GATTError) {
            procedure = try client.subscribe(input, now: now)
            return .underWay
        } catch .notSubscribable {
            refusal = .notification(input.uuid)
            return nextCandidate(&client, now)
        } catch {
            return .failed(error)
        }
    }

    private mutating func choose(_ choice: Choice) {
        profile = choice.profile
        characteristic = choice.characteristic
        output = choice.output
        queue = ChatScript(choice.profile.handshake)
        hasHandshake = !choice.profile.handshake.isEmpty
    }

    /// Remembers a characteristic that cannot be configured to send, and tries the next candidate.
    private mutating func listen(_ client: inout GATTClient, _ now: Duration) -> Progress {
        if unconfigured == nil, let profile, let characteristic {
            unconfigured = Choice(profile: profile, characteristic: characteristic, output: output)
        }
        return nextCandidate(&client, now)
    }

    // MARK: The handshake

    private mutating func beginHandshake(_ client: inout GATTClient, _ now: Duration) -> Progress {
        step = .handshake
        return carryOut(queue.begin(now: now), &client, now)
    }

    private mutating func carryOut(_ first: ChatScript.Step, _ client: inout GATTClient, _ now: Duration) -> Progress {
        var next = first
        while true {
            switch next {
            case .wait: return .underWay
            case .failed(let failure): return .refused(failure)
            case .finished(let rest):
                step = .done
                hasHandshake = false
                earlyBytes = rest
                guard let characteristic else { return .unsupported(.anyInput) }
                return .ready(characteristic.valueHandle)
            case .write(let bytes):
                guard let output else { return .unsupported(.anyOutput) }
                do throws(GATTError) {
                    if output.properties.contains(.write) {
                        procedure = try client.write(bytes, to: output.valueHandle, now: now)
                        return .underWay
                    }
                    try client.writeWithoutResponse(bytes, to: output.valueHandle, now: now)
                } catch {
                    return .failed(error)
                }
                next = queue.written(now: now)
            }
        }
    }

    private static func attempt(_ begin: () throws(GATTError) -> Void) -> Progress {
        do throws(GATTError) {
            try begin()
            return .underWay
        } catch {
            return .failed(error)
        }
    }
}

extension GATTCharacteristic {
    var isWritable: Bool { properties.contains(.write) || properties.contains(.writeWithoutResponse) }
    var isSubscribable: Bool { properties.contains(.notify) || properties.contains(.indicate) }
}

extension [GATTCharacteristic] {
    /// Returns the first characteristic with the UUID that meets the condition; if there is none, the first with the
    /// UUID.
    ///
    /// Some devices use one UUID twice in a service, once for each direction.
    fileprivate func chosen(_ uuid: BluetoothUUID, _ can: (GATTCharacteristic) -> Bool) -> GATTCharacteristic? {
        let all = filter { $0.uuid == uuid }
        return all.first(where: can) ?? all.first
    }
}
