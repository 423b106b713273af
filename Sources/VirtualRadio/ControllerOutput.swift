// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Output of a controller to its host: answers to commands, unmasked events and data.
///
/// Injected faults are applied to the packets.
struct ControllerOutput {
    /// Maximum number of packets queued for the host; further packets are lost.
    private static let capacity = 1024
    /// Queue length from which advertising reports are lost and data is held back by the sending controller.
    private static let congestion = 512

    private struct DelayedPacket {
        var time: Duration
        var bytes: [UInt8]
        /// True for the answer to a command, which occupies a command credit until the answer is sent.
        var isAnswer: Bool
    }

    var faults = FaultPlan()
    /// Event mask (Core 6.0, Vol 4, Part E, 7.3.1).
    var eventMask = Self.standardMask
    /// LE event mask (Core 6.0, Vol 4, Part E, 7.8.1).
    var lowEnergyMask = Self.standardLowEnergyMask
    private(set) var lostPackets = 0
    /// Maximum number of unanswered commands.
    private let credits: Int
    private var packets: [[UInt8]] = []
    /// Packets delayed by a fault, earliest first.
    private var delayed: [DelayedPacket] = []
    /// Events caused by the current command, to be sent after its answer; nil if no command is being executed.
    private var afterAnswer: [[UInt8]]?

    private static let standardMask: UInt64 = 0x0000_1FFF_FFFF_FFFF
    private static let standardLowEnergyMask: UInt64 = 0x1F

    init(credits: UInt8) {
        self.credits = max(1, Int(credits))
    }

    var waitingPackets: Int { packets.count }
    /// True while the host's queue is so long that advertising reports are lost and the sending controller holds back
    /// data.
    var isCongested: Bool { packets.count >= Self.congestion }
    /// Time at which `expire` must be called; nil if no packet is delayed.
    var deadline: Duration? { delayed.first?.time }

    mutating func nextPacket() -> [UInt8]? { packets.isEmpty ? nil : packets.removeFirst() }

    mutating func countLostPacket() {
        lostPackets &+= 1
    }

    /// Sends an event that is not the answer to a command; returns false if the host has masked it.
    @discardableResult
    mutating func emit(_ event: ControllerEvent, now: Duration) -> Bool {
        guard isWanted(event) else { return false }
        let packet = event.packet
        switch faults.strike(event) {
        case nil: push(packet)
        case .drop: break
        case .corrupt(let offset, let mask): push(FaultPlan.corrupted(packet, offset, mask))
        case .duplicate: for _ in 1...2 { push(packet) }
        case .delay(let time): delay(packet, until: now + max(time, .zero), isAnswer: false)
        }
        return true
    }

    /// Reports a connection or a failed attempt with the enhanced event, or with the original event if the host has
    /// masked the enhanced one (Core 6.0, Vol 4, Part E, 7.7.65.10 and 7.7.65.1).
    mutating func emit(_ completion: ConnectionCompletion, now: Duration) {
        if !emit(completion.event(isEnhanced: true), now: now) { emit(completion.event(isEnhanced: false), now: now) }
    }

    /// Reports that the host has sent bytes that are not a valid packet (Core 6.0, Vol 4, Part A, 4).
    mutating func loseSynchronisation(now: Duration) {
        emit(.hardwareError(0x00), now: now)
    }

    /// Passes a received fragment to the host in parts of at most `limit` bytes.
    ///
    /// A controller marks the first part of a packet with the boundary flag 0b10. Core 6.0, Vol 4, Part E, 5.4.2.
    mutating func deliver(_ fragment: Link.Fragment, handle: UInt16, limit: Int) {
        for payload in faults.strike(fragment.payload, .toHost) {
            for part in Link.Fragment.cut(payload, isFirst: fragment.isFirst, limit) {
                push(ACLPacket.encoded(handle: handle, part.isFirst ? .first : .continuing, part.payload.span))
            }
        }
    }

    /// Returns true if the host's masks allow the event; bit n - 1 of a mask is for event code n.
    ///
    /// Number Of Completed Packets cannot be masked. Core 6.0, Vol 4, Part E, 7.3.1 and 7.8.1.
    private func isWanted(_ event: ControllerEvent) -> Bool {
        guard event.code != HCIEvent.Code.numberOfCompletedPackets else { return true }
        guard eventMask & (1 &<< UInt64(event.code &- 1)) != 0 else { return false }
        return event.subevent.map { lowEnergyMask & (1 &<< UInt64($0.rawValue &- 1)) != 0 } ?? true
    }

    private mutating func push(_ packet: [UInt8]) {
        if afterAnswer != nil {
            afterAnswer?.append(packet)
        } else if packets.count < Self.capacity {
            packets.append(packet)
        } else {
            lostPackets &+= 1
        }
    }

    private mutating func delay(_ packet: [UInt8], until due: Duration, isAnswer: Bool) {
        guard delayed.count < Self.capacity else {
            lostPackets &+= 1
            return
        }
        let place = delayed.firstIndex { $0.time > due } ?? delayed.count
        delayed.insert(DelayedPacket(time: due, bytes: packet, isAnswer: isAnswer), at: place)
    }

    /// Sends the first delayed packet if it is due; otherwise returns false.
    mutating func expire(now: Duration) -> Bool {
        guard let packet = delayed.first, packet.time <= now else { return false }
        delayed.removeFirst()
        push(packet.bytes)
        return true
    }

    // MARK: Answers

    /// True if the controller cannot accept another command now.
    var isBusy: Bool { commandsUnderWay >= credits }

    private var commandsUnderWay: Int { delayed.count { $0.isAnswer } }

    /// Starts to collect the events that a command causes, so that they are sent after its answer.
    mutating func beginCommand() {
        afterAnswer = []
    }

    /// Sends the answer to a command, and then the collected events.
    ///
    /// `answer` creates the answer from the number of remaining command credits.
    mutating func endCommand(with fault: CommandFault?, now: Duration, _ answer: (UInt8) -> ControllerEvent) {
        let events = afterAnswer ?? []
        afterAnswer = nil
        let packet = answer(UInt8(clamping: credits - commandsUnderWay)).packet
        switch fault {
        case nil, .refuse: push(packet)
        case .drop: break
        case .corrupt(let offset, let mask): push(FaultPlan.corrupted(packet, offset, mask))
        case .hardwareError(let code): emit(.hardwareError(code), now: now)
        case .delay(let time): delay(packet, until: now + max(time, .zero), isAnswer: true)
        }
        for event in events { push(event) }
    }

    /// Resets everything except the faults and the packets queued for the host (Core 6.0, Vol 4, Part E, 7.3.2).
    mutating func reset() {
        eventMask = Self.standardMask
        lowEnergyMask = Self.standardLowEnergyMask
        delayed.removeAll()
        afterAnswer = []
    }
}
