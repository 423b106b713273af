// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

/// Simulated Bluetooth LE controller, created by `VirtualRadio.addController`.
///
/// The host exchanges complete HCI packets with the controller, each preceded by its indicator (0x01 command, 0x02 ACL
/// data, 0x04 event). Core 6.0, Vol 4, Part E.
public final class VirtualController {
    /// Index of the controller in its radio, counted from 0.
    public let index: Int
    /// Configuration with which the controller was created.
    public let configuration: Configuration
    /// Handler that receives the packets for the host in order; without a handler, poll `nextPacket()`.
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

    /// Number of lost packets.
    ///
    /// They are packets that overflowed the host's queue, commands sent without a command credit, and ACL packets that
    /// no connection accepted.
    public var lostPackets: Int { parts.output.lostPackets }

    /// Processes a packet that the host sends at `now`, after all earlier events.
    ///
    /// Bytes that are neither a command nor ACL data are answered with Hardware Error 0x00, as by a controller that has
    /// lost synchronisation (Core 6.0, Vol 4, Part A, 4).
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

    /// Returns the next packet for the host, or nil if no packet is queued.
    public func nextPacket() -> [UInt8]? { parts.output.nextPacket() }

    /// Number of packets queued for the host.
    ///
    /// The queue holds up to 1,024 packets; the last 512 places are not available to reports and data.
    public var waitingPackets: Int { parts.output.waitingPackets }

    // MARK: The radio's side

    /// True while the host's queue is so long that the sending controller holds back data.
    var isCongested: Bool { parts.output.isCongested }

    @discardableResult
    func emit(_ event: ControllerEvent, now: Duration) -> Bool { parts.output.emit(event, now: now) }

    func deliver(_ fragment: Link.Fragment, handle: UInt16) {
        parts.output.deliver(fragment, handle: handle, limit: Int(configuration.aclDataLength))
    }

    /// Time at which `expire` must be called; nil if nothing is scheduled.
    var deadline: Duration? { parts.deadline }

    func expire(_ radio: VirtualRadio) {
        if let set = parts.expire(radio) { advertise(set, radio) }
    }

    /// Sends one advertising event; all scanners in range receive it, and one initiator may connect.
    private func advertise(_ set: AdvertisingSet, _ radio: VirtualRadio) {
        let others = radio.controllers.filter { radio.isInRange(self, $0) }
        for other in others { other.parts.hear(set, from: self, now: radio.now) { radio.signalStrength(other, self) } }
        let isConnectable = set.properties.contains(.connectable)
        if isConnectable, others.contains(where: { $0.connect(to: set, of: self, radio) }) { return }
        parts.finishEvent(of: set, now: radio.now)
    }

    /// Connects to the advertiser whose event was just received.
    ///
    /// Returns false if the pending attempt does not match or the advertiser does not answer.
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
            // The first packet is sent 1.25 ms after the connection request (Core 6.0, Vol 6, Part B, 4.5.3).
            anchor: now + .microseconds(1250)
        )
        radio.add(link)
        parts.begin(link, .central, set, now: now)
        advertiser.parts.begin(link, .peripheral, set, now: now)
        return true
    }

    /// Generation of the advertising, scanning and initiating commands that a controller supports.
    public enum Generation: Hashable, Sendable, CaseIterable {
        /// Bluetooth 4.2: legacy advertising only.
        case legacy
        /// Bluetooth 5.0: legacy and extended advertising; the host's first command selects one of the two until Reset.
        case extended
    }

    /// Configuration of a controller.
    public struct Configuration: Hashable, Sendable {
        /// Public address of the controller.
        public var address: BluetoothAddress
        /// Generation of the commands that the controller supports.
        public var generation: Generation
        /// Maximum data length of an ACL packet, 27 … 65535 bytes (LE_ACL_Data_Packet_Length).
        public var aclDataLength: UInt16
        /// Number of ACL packet buffers, 1 … 255 (Total_Num_LE_ACL_Data_Packets).
        public var aclBufferCount: UInt8 = 8
        /// True if the controller shares its buffers with BR/EDR: LE Read Buffer Size returns zero, and Read Buffer
        /// Size reports the shared buffers.
        public var sharesBuffers = false
        /// Maximum data length of a packet sent over the air, 27 … 251 bytes; a link uses the smaller value of its two
        /// ends.
        public var linkDataLength: UInt8
        /// Maximum number of packets sent in one connection event; at least 1.
        public var packetsPerEvent: UInt8 = 6
        /// Maximum number of unanswered commands, 1 … 255 (Num_HCI_Command_Packets).
        public var commandCredits: UInt8 = 1
        /// Maximum number of connections.
        public var maximumConnections: UInt8 = 8
        /// Maximum number of entries in the Filter Accept List.
        public var acceptListSize: UInt8 = 16
        /// Maximum number of advertising sets, 1 … 240.
        public var advertisingSetCount: UInt8 = 4

        /// Creates a configuration with buffer sizes that are typical of the generation.
        public init(address: BluetoothAddress, generation: Generation = .extended) {
            self.address = address
            self.generation = generation
            aclDataLength = generation == .legacy ? 27 : 251
            linkDataLength = generation == .legacy ? 27 : 251
        }
    }
}
