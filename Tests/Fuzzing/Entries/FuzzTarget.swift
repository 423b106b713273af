// SPDX-License-Identifier: GPL-2.0-or-later

/// Fuzz targets: each processes an input and reports violated guarantees.
///
/// The unit tests replay the corpus in every build; `Tests/Fuzzing/run` passes the same targets to libFuzzer.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// AD structures, and the layout of our own advertisements.
    case advertisement
    /// HCI events during a scan, including fragmented extended advertisements.
    case scan
    /// All packets except PDUs of the Attribute Protocol.
    case packets
    /// PDUs of the Attribute Protocol.
    case att
    /// GATT client whose procedures and received PDUs come from the input.
    case client
    /// Discoveries of the GATT client on a server whose responses come from the input.
    case discovery
    /// GATT server, including prepared writes.
    case server
    /// The host with a controller whose answers come from the input, including fragmented frames.
    case host
    /// H4 stream between host and controller.
    case h4
    /// Path from notifications to keys: frames, ring, typist, account.
    case keys
    /// Text of byte tables.
    case table
    /// Text of configurations, including profiles.
    case configuration
    /// Lines on the control socket.
    case control
    /// Snippets in JSON.
    case snippets
    /// Commands and replies of chat scripts.
    case handshake
    /// Files with captured traffic.
    case capture
    /// Two hosts that pair while an attacker modifies their frames.
    case pairing
    /// Record of the bond file.
    case bond
    /// Response of the beacon server.
    case answer
    /// Report descriptor of a keyboard, and its input reports.
    case reports
    /// Payloads of scales and sensors.
    case values

    /// Returns a description of the violated guarantee; nil if there is none.
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
        case .reports: ReportsEntry.fault(in: input)
        case .values: ValuesEntry.fault(in: input)
        }
    }
}
