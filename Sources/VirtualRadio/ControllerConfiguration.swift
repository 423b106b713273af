// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothPackets

extension VirtualController {
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
        public var aclBufferCount: UInt8
        /// True when LE Read Buffer Size says zero, and Read Buffer Size names the buffers.
        public var sharesBuffers = false
        /// The most data of one packet on the air, 27 … 251 bytes; a link uses the smaller of its two ends.
        public var linkDataLength: UInt8
        /// The number of packets that it sends in one connection event, 1 or more.
        public var packetsPerEvent: UInt8
        /// The number of unanswered commands that it takes, 1 … 255 (Num_HCI_Command_Packets).
        public var commandCredits: UInt8
        /// The most connections.
        public var maximumConnections: UInt8
        /// The most entries of its Filter Accept List.
        public var acceptListSize: UInt8
        /// The number of its advertising sets, 1 … 240.
        public var advertisingSetCount: UInt8

        /// A controller of the given generation with that generation's usual buffers.
        public init(address: BluetoothAddress, generation: Generation = .extended) {
            self.address = address
            self.generation = generation
            aclDataLength = generation == .legacy ? 27 : 251
            aclBufferCount = 8
            linkDataLength = generation == .legacy ? 27 : 251
            packetsPerEvent = 6
            commandCredits = 1
            maximumConnections = 8
            acceptListSize = 16
            advertisingSetCount = 4
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
