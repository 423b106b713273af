// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import Foundation
import Testing

@testable import Pairing

@Test("Only the owner can read a saved bond, also if the file existed before")
func savedBond() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "device.bond").path
    try Data("old".utf8).write(to: URL(filePath: path))
    let file = BondFile(path)
    #expect(throws: BondFile.Failure.self) { try file.load() }

    let key = LongTermKey(
        [UInt8](1...16),
        isAuthenticated: true,
        isSecureConnections: true,
        role: .central
    )
    let made = Bond(
        identityAddress: DeviceAddress(BluetoothAddress(rawValue: 0xF0F1_F2F3_F4F5), .random),
        localAddress: BluetoothAddress(rawValue: 0xC0FF_EE00_0001),
        longTermKeys: [try #require(key)]
    )
    let bond = try #require(made)
    try file.save(bond)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? NSNumber == 0o600)
    #expect(try file.load() == bond)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["device.bond"])
    #expect(!"\(bond)".contains("0102") && bond.record.contains("0102"))
}
