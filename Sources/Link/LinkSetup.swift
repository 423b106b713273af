// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothLE
package import Configuration
import Devices

/// From a link that is ready to the first value: the profile's service, its characteristics, the subscription, and the
/// profile's handshake.
///
/// A pure state machine over the client of one connection; nothing but the services of its profiles is looked at (CB-31).
/// The owner makes one for each connection and passes it that connection's client only (BT-9), calls `handleDeadline` when
/// `deadline` has come, and passes on every value that comes from where `replies` says.
package struct LinkSetup: Sendable {
    package enum Progress: Equatable, Sendable {
        /// A procedure runs, or a reply is waited for.
        case underWay
        /// Values of this handle are for the keyboard from now on, and so is `earlyBytes`.
        case ready(AttributeHandle)
        /// The device answers, but is not one of these profiles.
        case unsupported(Lack)
        case failed(GATTError)
        /// The handshake failed: to be tried again like any attempt.
        case refused(ChatScript.Failure)
    }

    /// The part of a profile that the device lacks.
    package enum Lack: Equatable, Sendable {
        /// None of its services is one of these profiles'.
        case profile([Profile], offered: [BluetoothUUID])
        case characteristic(BluetoothUUID)
        case writing(BluetoothUUID)
        case notification(BluetoothUUID)
        case anyInput, anyOutput
    }

    private enum Step: Sendable { case start, services, characteristics, subscription, handshake, others, done }

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
    private var step = Step.start
    private var procedure: GATTClient.ProcedureID?
    private var candidates: ArraySlice<Candidate> = []
    /// The services of the device; nil where only one was asked for.
    private var others: [BluetoothUUID]?
    /// Why the last candidate was not taken.
    private var refusal: Lack?
    /// The first candidate that cannot be told to send, and may do so all the same; used where no other can be.
    private var unconfigured: Choice?
    private var queue = ChatScript([])

    package private(set) var profile: Profile?
    /// The characteristic that is subscribed to, known from the moment its subscription begins: the first value can come
    /// before the answer.
    package private(set) var characteristic: GATTCharacteristic?
    /// The characteristic that takes bytes for the device; nil where there is none.
    package private(set) var output: GATTCharacteristic?
    /// The bytes that came after the last reply of the handshake: the first ones to type.
    package private(set) var earlyBytes: [UInt8] = []

    /// The handle whose values are for the keyboard, notified or indicated (D-36); nil before it is known which.
    package var wanted: AttributeHandle? { hasHandshake ? nil : characteristic?.value }
    /// The handle whose values are for the handshake, to be passed to `receive`; nil where there is none.
    package var replies: AttributeHandle? { hasHandshake ? characteristic?.value : nil }

    /// True until the handshake has ended, false where there is none.
    private var hasHandshake = false

    /// A setup for one connection, to a device of that profile.
    package init(profile: Profile) {
        self.init(profiles: [profile])
    }

    /// A setup for one connection, to a device of the first of these profiles that it offers.
    package init(profiles: [Profile]) {
        self.profiles = profiles
    }

    /// When `handleDeadline` wants to be called; nil while no reply is waited for.
    package var deadline: Duration? { step == .handshake ? queue.deadline : nil }

    package mutating func begin(_ client: inout GATTClient, now: Duration) -> Progress {
        step = .services
        return Self.attempt { () throws(GATTError) in
            // One service is asked for by its UUID, which costs the device least.
            procedure =
                if !isOfAll, let only = profiles.first?.service {
                    try client.discoverPrimaryServices(only, now: now)
                } else {
                    try client.discoverPrimaryServices(now: now)
                }
        }
    }

    /// Takes the end of a procedure and begins the next.
    package mutating func handle(_ event: GATTClient.Event, _ client: inout GATTClient, now: Duration) -> Progress {
        guard event.procedure == procedure else { return .underWay }
        procedure = nil
        switch (step, event.result) {
        case (.others, .success(.services(let found))):
            return .unsupported(.profile(profiles, offered: found.map(\.uuid)))
        case (.services, .success(.services(let found))):
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

    /// Takes a value that comes from where `replies` says.
    package mutating func receive(_ value: [UInt8], _ client: inout GATTClient, now: Duration) -> Progress {
        carryOut(queue.receive(value, now: now), &client, now)
    }

    package mutating func handleDeadline(_ client: inout GATTClient, now: Duration) -> Progress {
        guard step == .handshake else { return .underWay }
        return carryOut(queue.handleDeadline(now: now), &client, now)
    }

    /// Writes bytes for the device, cut to what the link carries, without hearing of them where the device permits that;
    /// answers how many of them are on their way.
    package func send(_ bytes: [UInt8], _ client: inout GATTClient, now: Duration) -> Int {
        guard step == .done, let output, output.isWritable else { return 0 }
        let length = max(1, Int(client.mtu) - 3)
        var sent = 0
        while sent < bytes.count {
            let piece = Array(bytes[sent..<min(bytes.count, sent + length)])
            do throws(GATTError) {
                if output.properties.contains(.writeWithoutResponse) {
                    try client.writeWithoutResponse(piece, to: output.value, now: now)
                } else {
                    _ = try client.write(piece, to: output.value, now: now)
                }
            } catch {
                // As many wait as may.
                return sent
            }
            sent += piece.count
        }
        return sent
    }

    // MARK: Discovery

    /// True where all services of the device are looked through: one alone is asked for by its UUID.
    private var isOfAll: Bool { Set(profiles.map(\.service)).count != 1 }

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
        step = .characteristics
        return Self.attempt { () throws(GATTError) in
            procedure = try client.discoverCharacteristics(of: candidate.service, now: now)
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

    /// Listens to a characteristic that cannot be told to send, unless there is one that can.
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
                return .ready(characteristic.value)
            case .write(let bytes):
                guard let output else { return .unsupported(.anyOutput) }
                do throws(GATTError) {
                    if output.properties.contains(.write) {
                        procedure = try client.write(bytes, to: output.value, now: now)
                        return .underWay
                    }
                    try client.writeWithoutResponse(bytes, to: output.value, now: now)
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
    /// The first of a UUID that can do what is wanted, or the first of all: some devices have one UUID twice in a service,
    /// for each direction.
    fileprivate func chosen(_ uuid: BluetoothUUID, _ can: (GATTCharacteristic) -> Bool) -> GATTCharacteristic? {
        let all = filter { $0.uuid == uuid }
        return all.first(where: can) ?? all.first
    }
}
