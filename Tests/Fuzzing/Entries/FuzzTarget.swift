// SPDX-License-Identifier: GPL-2.0-or-later

/// What is fuzzed: each target is given bytes, and says what of its promises they broke.
///
/// The unit tests replay its corpus in every build; `Tests/Fuzzing/run` gives the same targets to libFuzzer.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// AD structures, and the layout of our own advertisements.
    case advertisement
    /// HCI events of a scan, with fragments of extended advertisements.
    case scan
    /// Every packet beside those of the Attribute Protocol.
    case packets
    /// PDUs of the Attribute Protocol.
    case att
    /// The GATT client, told by the input what to do and what it is sent.
    case client
    /// Discoveries of the GATT client against a server that says what the input has.
    case discovery
    /// The GATT server, prepared writes among what it is sent.
    case server
    /// The host above a controller that answers as the input says, with fragments of frames.
    case host
    /// The stream between host and controller.
    case h4
    /// Notifications to keys: frames, ring, typist, account.
    case keys
    /// Byte tables as text.
    case table
    /// The configuration's text, profiles among it.
    case configuration
    /// Lines on the control socket.
    case control
    /// Snippets as JSON.
    case snippets
    /// Commands and replies of a handshake.
    case handshake
    /// Files of captured traffic.
    case capture
    /// Two hosts that pair, with a stranger between them.
    case pairing
    /// A record of the file of bonds.
    case bond
    /// An answer of the server of beacons.
    case answer

    /// What is wrong with the product when it is given this; nil where nothing is.
    public func fault(in input: [UInt8]) -> String? {
        switch self {
        case .advertisement: AdvertisementEntry.fault(in: input)
        case .scan: ScanEntry.fault(in: input)
        case .packets: PacketsEntry.fault(in: input)
        case .att: ATTEntry.fault(in: input)
        case .client: ClientEntry.fault(in: input)
        case .discovery: DiscoveryEntry.fault(in: input)
        case .server: ServerEntry.fault(in: input)
        case .host: HostEntry.fault(in: input)
        case .h4: H4Entry.fault(in: input)
        case .keys: KeysEntry.fault(in: input)
        case .table: TableEntry.fault(in: input)
        case .configuration: ConfigurationEntry.fault(in: input)
        case .control: ControlEntry.fault(in: input)
        case .snippets: SnippetsEntry.fault(in: input)
        case .handshake: HandshakeEntry.fault(in: input)
        case .capture: CaptureEntry.fault(in: input)
        case .pairing: PairingEntry.fault(in: input)
        case .bond: BondEntry.fault(in: input)
        case .answer: AnswerEntry.fault(in: input)
        }
    }
}
