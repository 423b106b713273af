// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// A Bluetooth LE controller in memory, made by `VirtualRadio.addController`.
///
/// Its host exchanges whole HCI packets with it, each with its indicator (0x01 command, 0x02 ACL data, 0x04 event).
/// Its parts have a state of their own each; `ControllerParts` routes commands to them. Core 6.0, Vol 4, Part E.
public final class VirtualController {
    /// Its number in the radio, from 0.
    public let index: Int
    /// The configuration that it was made with.
    public let configuration: Configuration
    /// Takes each packet for the host, in order; without it, `nextPacket()` does.
    public var onPacket: (([UInt8]) -> Void)?

    weak var radio: VirtualRadio?
    var parts: ControllerParts

    init(_ configuration: Configuration, index: Int, radio: VirtualRadio) {
        self.configuration = configuration
        self.index = index
        self.radio = radio
        parts = ControllerParts(configuration, ControllerOutput(credits: configuration.commandCredits))
    }

    // MARK: The host's side

    /// The number of lost packets: those for a host that does not read, commands beyond the controller's number, ACL
    /// packets that no connection takes.
    public var lostPackets: Int { parts.output.lostPackets }

    /// Takes a packet from the host at `now`, after everything that was to happen before.
    ///
    /// Bytes that are no command and no ACL data are answered with Hardware Error 0x00, as a controller does that lost
    /// the stream (Core 6.0, Vol 4, Part A, 4).
    public func receive(_ packet: [UInt8], now: Duration) {
        guard let radio else { return }
        radio.advance(to: now)
        let links = ControllerLinks(of: self, radio)
        switch packet.first {
        case HCIPacketType.command.rawValue: parts.receiveCommand(packet, links)
        case HCIPacketType.acl.rawValue: links.receive(packet, &parts.output)
        default: parts.output.loseSynchronisation(now: radio.now)
        }
        radio.dispatch()
    }

    /// The next packet for the host; nil when none waits.
    public func nextPacket() -> [UInt8]? { parts.output.nextPacket() }

    /// The number of packets that wait for the host: at most 1,024, of which the last 512 are kept free of reports and
    /// data.
    public var waitingPackets: Int { parts.output.waitingPackets }

    // MARK: The air's side

    /// True while so many packets wait for the host that data stays with its sender.
    var isCongested: Bool { parts.output.isCongested }

    @discardableResult
    func emit(_ event: ControllerEvent, now: Duration) -> Bool { parts.output.emit(event, now: now) }

    func deliver(_ fragment: Link.Fragment, handle: UInt16) {
        parts.output.deliver(fragment, handle: handle, limit: Int(configuration.aclDataLength))
    }

    /// The time at which `expire` has something to do; nil for never.
    var deadline: Duration? { parts.deadline }

    func expire(_ radio: VirtualRadio) {
        if let set = parts.expire(radio) { advertise(set, radio) }
    }

    /// Sends one advertising event: every scanner receives it, and one initiator may connect.
    private func advertise(_ set: AdvertisingSet, _ radio: VirtualRadio) {
        let others = radio.controllers.filter { radio.isInRange(self, $0) }
        for other in others { other.parts.hear(set, from: self, now: radio.now) { radio.signalStrength(other, self) } }
        let isConnectable = set.properties.contains(.connectable)
        if isConnectable, others.contains(where: { $0.connect(to: set, of: self, radio) }) { return }
        parts.finishEvent(of: set, now: radio.now)
    }

    /// Connects to an advertiser that was just heard, if an attempt is for it and it answers; false if not.
    private func connect(to set: AdvertisingSet, of advertiser: VirtualController, _ radio: VirtualRadio) -> Bool {
        let now = radio.now
        guard let attempt = parts.initiator.attempt(for: set, parts.acceptList, now: now),
            set.answers(attempt.address, .connectionsFromAcceptList, advertiser.parts.acceptList)
        else { return false }
        let (ends, others) = (ControllerLinks(of: self, radio), ControllerLinks(of: advertiser, radio))
        guard !ends.contains(set.address), !others.contains(attempt.address), let handle = ends.freeHandle,
            let otherHandle = others.freeHandle
        else { return false }
        var parameters = attempt.parameters
        parameters.minimumInterval = parameters.maximumInterval
        let link = Link(
            central: .init(controller: self, handle: handle, address: attempt.address),
            peripheral: .init(controller: advertiser, handle: otherHandle, address: set.address),
            parameters: parameters,
            // The first packet follows 1.25 ms after the connection request (Core 6.0, Vol 6, Part B, 4.5.3).
            anchor: now + .microseconds(1250)
        )
        radio.add(link)
        parts.begin(link, .central, set, now: now)
        advertiser.parts.begin(link, .peripheral, set, now: now)
        return true
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
}
