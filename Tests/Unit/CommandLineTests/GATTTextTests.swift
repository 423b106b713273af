// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Daemon
import Link
import Testing

@testable import blewedge

@Suite("Attributes as `gatt` prints them")
struct GATTTextTests {
    /// Scale service (0x0001…0x0009) that includes a battery service (0x0010…0x0013).
    private static let tree: GATTTree = {
        let battery = GATTService(handles: range(0x10, 0x13), uuid: 0x180F)
        let weight = GATTCharacteristic(
            declaration: AttributeHandle(3),
            valueHandle: AttributeHandle(4),
            end: AttributeHandle(9),
            properties: .indicate,
            uuid: 0x2A9D
        )
        let configuration = GATTDescriptor(handle: AttributeHandle(5), uuid: 0x2902)
        return GATTTree(services: [
            GATTTree.Service(
                service: GATTService(handles: range(1, 9), uuid: 0x181D),
                includes: [GATTIncludedService(declaration: AttributeHandle(2), service: battery)],
                characteristics: [.init(characteristic: weight, descriptors: [configuration])]
            )
        ])
    }()

    private static func range(_ start: UInt16, _ end: UInt16) -> AttributeHandleRange {
        AttributeHandleRange(start: AttributeHandle(start), end: AttributeHandle(end))
    }

    @Test("With --json each line says where it belongs: an inclusion its service, a descriptor its characteristic")
    func json() {
        #expect(
            GATTText.json.tree(Self.tree) == """
                {"type":"service","handle":"0x0001","uuid":"181D","name":"Weight Scale","end":"0x0009"}
                {"type":"include","handle":"0x0002","uuid":"180F","name":"Battery","service":"0x0010"}
                {"type":"characteristic","handle":"0x0004","uuid":"2A9D","name":"Weight Measurement",\
                "declaration":"0x0003","service":"0x0001","properties":["indicate"]}
                {"type":"descriptor","handle":"0x0005","uuid":"2902","name":"Client Characteristic Configuration",\
                "characteristic":"0x0004"}

                """
        )
    }
}
