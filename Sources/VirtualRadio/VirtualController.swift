// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A Bluetooth LE controller in memory, made by `VirtualRadio.addController`.
///
/// Its host exchanges whole HCI packets with it, each with its indicator (0x01 command, 0x02 ACL data, 0x04 event).
/// Core 6.0, Vol 4, Part E.
public final class VirtualController {
    /// Its number in the radio, from 0.
    public let index: Int
    /// The configuration that it was made with.
    public let configuration: Configuration
    /// Takes each packet for the host, in order; without it, `nextPacket()` does.
    public var onPacket: (([UInt8]) -> Void)?
    /// The number of lost packets: those for a host that does not read, commands beyond the controller's number, ACL
    /// packets that no connection takes.
    public internal(set) var lostPackets = 0

    weak var radio: VirtualRadio?
    var faults = FaultPlan()
    var state = State()
    private var toHost: [[UInt8]] = []
    /// The packets that a fault holds back, the earliest first.
    private var delayed: [DelayedPacket] = []
    /// Events of a command that come after its answer; nil while no command is carried out.
    private var afterAnswer: [[UInt8]]?

    private struct DelayedPacket {
        var time: Duration
        var bytes: [UInt8]
        /// True for the answer to a command, which occupies the controller until then.
        var isAnswer: Bool
    }

    /// The state that Reset sets back.
    struct State {
        /// Core 6.0, Vol 4, Part E, 7.3.1 (default).
        var eventMask: UInt64 = 0x0000_1FFF_FFFF_FFFF
        /// Core 6.0, Vol 4, Part E, 7.8.1 (default).
        var leEventMask: UInt64 = 0x1F
        var randomAddress: BluetoothAddress?
        /// The generation of the first advertising, scanning or initiating command.
        var generation: Generation?
        var acceptList: [DeviceAddress] = []
        /// True when the Filter Accept List takes advertisers without an address.
        var acceptsAnonymous = false
        var sets: [AdvertisingSet] = []
        var scan = ScanState()
        var initiation: Initiation?
    }

    init(_ configuration: Configuration, index: Int, radio: VirtualRadio) {
        self.configuration = configuration
        self.index = index
        self.radio = radio
    }

    // MARK: The host's side

    /// Takes a packet from the host at `now`, after everything that was to happen before.
    ///
    /// Bytes that are no command and no ACL data are answered with Hardware Error 0x00, as a controller does that lost
    /// the stream (Core 6.0, Vol 4, Part A, 4).
    public func receive(_ packet: [UInt8], now: Duration) {
        guard let radio else { return }
        radio.advance(to: now)
        switch packet.first {
        case HCIPacketType.command.rawValue: receiveCommand(packet)
        case HCIPacketType.acl.rawValue: receiveData(packet)
        default: loseSynchronisation()
        }
        radio.dispatch()
    }

    /// The next packet for the host; nil when none waits.
    public func nextPacket() -> [UInt8]? {
        toHost.isEmpty ? nil : toHost.removeFirst()
    }

    /// The number of packets that wait for the host: at most 1,024, of which the last 512 are kept free of reports and
    /// data.
    public var waitingPackets: Int { toHost.count }

    /// True while so many packets wait for the host that reports are lost and data stays with its sender.
    var isCongested: Bool { toHost.count >= Limit.hostQueueForData }

    func loseSynchronisation() {
        emit(event: HCIEvent.Code.hardwareError, [0x00])
    }

    // MARK: Sending to the host

    /// Sends an event that is no answer, if the host wants it.
    func emit(event code: UInt8, _ parameters: [UInt8]) {
        guard isWanted(event: code) else { return }
        send(Self.event(code, parameters), with: faults.events[code]?.strike())
    }

    /// Sends an LE Meta event, if the host wants it.
    func emit(_ subevent: LESubevent, _ parameters: [UInt8]) {
        guard isWanted(subevent) else { return }
        send(
            Self.event(HCIEvent.Code.leMeta, [subevent.rawValue] + parameters),
            with: faults.subevents[subevent]?.strike()
        )
    }

    func emit(data packet: [UInt8]) {
        push(packet)
    }

    /// True where the host's mask lets an event through: bit n - 1 stands for code n.
    ///
    /// Number Of Completed Packets cannot be masked. Core 6.0, Vol 4, Part E, 7.3.1.
    private func isWanted(event code: UInt8) -> Bool {
        code == HCIEvent.Code.numberOfCompletedPackets || state.eventMask & (1 &<< UInt64(code &- 1)) != 0
    }

    /// True where the host's two masks let an LE Meta event through (Core 6.0, Vol 4, Part E, 7.8.1).
    func isWanted(_ subevent: LESubevent) -> Bool {
        isWanted(event: HCIEvent.Code.leMeta) && state.leEventMask & (1 &<< UInt64(subevent.rawValue &- 1)) != 0
    }

    static func event(_ code: UInt8, _ parameters: [UInt8]) -> [UInt8] {
        [HCIPacketType.event.rawValue, code, UInt8(clamping: parameters.count)] + parameters
    }

    private func send(_ packet: [UInt8], with fault: EventFault?) {
        switch fault {
        case nil: push(packet)
        case .drop: break
        case .corrupt(let offset, let mask): push(FaultPlan.corrupted(packet, offset, mask))
        case .duplicate:
            push(packet)
            push(packet)
        case .delay(let time): delay(packet, by: time, isAnswer: false)
        }
    }

    private func push(_ packet: [UInt8]) {
        if afterAnswer != nil {
            afterAnswer?.append(packet)
        } else if toHost.count < Limit.hostQueue {
            toHost.append(packet)
        } else {
            lostPackets &+= 1
        }
    }

    // MARK: Answers

    /// True when the controller takes no further command yet.
    var isBusy: Bool { commandsUnderWay >= max(1, Int(configuration.commandCredits)) }

    private var commandsUnderWay: Int { delayed.count { $0.isAnswer } }

    /// Collects the events that a command causes, to be sent after its answer.
    func beginCommand() {
        afterAnswer = []
    }

    /// Sends a command's answer, made from the number of commands that the controller takes after it, and then the
    /// events it has caused.
    func endCommand(with fault: CommandFault?, _ answer: (UInt8) -> [UInt8]) {
        let events = afterAnswer ?? []
        afterAnswer = nil
        let credits = max(1, Int(configuration.commandCredits)) - commandsUnderWay
        switch fault {
        case nil, .refuse: push(answer(UInt8(clamping: credits)))
        case .drop: break
        case .corrupt(let offset, let mask):
            push(FaultPlan.corrupted(answer(UInt8(clamping: credits)), offset, mask))
        case .hardwareError(let code): emit(event: HCIEvent.Code.hardwareError, [code])
        case .delay(let time): delay(answer(UInt8(clamping: credits)), by: time, isAnswer: true)
        }
        for event in events { push(event) }
    }

    private func delay(_ packet: [UInt8], by time: Duration, isAnswer: Bool) {
        guard let radio, delayed.count < Limit.hostQueue else {
            lostPackets &+= 1
            return
        }
        let due = radio.now + max(time, .zero)
        let place = delayed.firstIndex { $0.time > due } ?? delayed.count
        delayed.insert(DelayedPacket(time: due, bytes: packet, isAnswer: isAnswer), at: place)
    }

    /// Forgets everything but the faults and the packets that wait for the host (Core 6.0, Vol 4, Part E, 7.3.2).
    func reset() {
        state = State()
        delayed.removeAll()
        afterAnswer = []
        guard let radio else { return }
        for link in radio.links {
            guard let role = link.role(of: self) else { continue }
            link.kill(role, now: radio.now)
        }
        radio.links.removeAll { !$0.central.isAlive && !$0.peripheral.isAlive }
    }

    // MARK: Time

    /// The time at which `expire()` has something to do; nil for never.
    var deadline: Duration? {
        var times = [delayed.first?.time, state.scan.end, state.scan.nextPeriod].compactMap { $0 }
        for set in state.sets where set.isEnabled {
            times.append(contentsOf: [set.nextEvent, set.end].compactMap { $0 })
        }
        return times.min()
    }

    /// Carries out the first due action.
    func expire() {
        guard let radio else { return }
        let now = radio.now
        if let packet = delayed.first, packet.time <= now {
            delayed.removeFirst()
            push(packet.bytes)
        } else if !expireScan(now: now) {
            expireAdvertising(radio)
        }
    }

    /// The generation of advertising, scanning and initiating commands that a controller knows.
    public enum Generation: Hashable, Sendable, CaseIterable {
        /// Bluetooth 4.2: legacy advertising only.
        case legacy
        /// Bluetooth 5.0: legacy and extended advertising; the host's first command decides, until Reset.
        case extended
    }

    /// The configuration that a controller is made with.
    public struct Configuration: Hashable, Sendable {
        /// Its public address.
        public var address: BluetoothAddress
        /// Its generation.
        public var generation: Generation
        /// The longest data of one ACL packet, 27 … 65535 bytes (LE_ACL_Data_Packet_Length).
        public var aclDataLength: UInt16
        /// The number of ACL packets that it buffers, 1 … 255 (Total_Num_LE_ACL_Data_Packets).
        public var aclBufferCount: UInt8 = 8
        /// True when LE Read Buffer Size says zero, and Read Buffer Size names the buffers.
        public var sharesBuffers = false
        /// The most data of one packet on the air, 27 … 251 bytes; a link uses the smaller of its two ends.
        public var linkDataLength: UInt8
        /// The number of packets that it sends in one connection event, 1 or more.
        public var packetsPerEvent: UInt8 = 6
        /// The number of unanswered commands that it takes, 1 … 255 (Num_HCI_Command_Packets).
        public var commandCredits: UInt8 = 1
        /// The most connections.
        public var maximumConnections: UInt8 = 8
        /// The most entries of its Filter Accept List.
        public var acceptListSize: UInt8 = 16
        /// The number of its advertising sets, 1 … 240.
        public var advertisingSetCount: UInt8 = 4

        /// A controller of the given generation with that generation's usual buffers.
        public init(address: BluetoothAddress, generation: Generation = .extended) {
            self.address = address
            self.generation = generation
            aclDataLength = generation == .legacy ? 27 : 251
            linkDataLength = generation == .legacy ? 27 : 251
        }
    }

    /// Numbers that the specification gives.
    enum Limit {
        /// The longest data of a legacy PDU (Core 6.0, Vol 6, Part B, 2.3.1).
        static let legacyData = 31
        /// The longest advertising data this controller keeps: the most that 7.8.57 allows.
        static let extendedData = 1650
        /// The most data of one report (7.7.65.13).
        static let reportData = 229
        /// The longest data of one packet on the air without data length extension (Vol 6, Part B, 4.5.10).
        static let minimumLinkData = 27
        /// The most packets that wait for the host; further ones are lost.
        static let hostQueue = 1024
        /// The number of packets waiting for the host from which on reports are lost and the link's data stays with the
        /// sender.
        static let hostQueueForData = 512
        /// The number of advertisers that the duplicate filter remembers.
        static let duplicates = 256
    }
}
