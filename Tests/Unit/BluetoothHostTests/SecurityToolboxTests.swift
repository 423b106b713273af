// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SecurityToolboxTests {
    static let vectors = ((try? VectorFile.lines("security-toolbox.txt")) ?? []).compactMap {
        SecurityToolboxVector($0.text)
    }

    @Test("Every function of the toolbox has sample data")
    func count() {
        #expect(Self.vectors.map(\.function).sorted() == ["ah", "c1", "f4", "f5", "f6", "g2", "s1"])
    }

    @Test("Each function of the toolbox gives the result of the sample data", arguments: vectors)
    func samples(_ vector: SecurityToolboxVector) throws {
        #expect(try vector.computed() == vector.results)
    }

    @Test("Each function gives what another implementation gives for random arguments, where its file is named")
    func others() throws {
        // Directory that contains Vectors/toolbox.txt; Tests/Bumble/toolbox creates it.
        guard let folder = getenv("BLEWEDGE_TOOLBOX").map({ String(cString: $0) }) else { return }
        let lines = try VectorFile.lines("toolbox.txt", from: folder + "/Unit/Tests/File.swift")
        let vectors = lines.compactMap { SecurityToolboxVector($0.text) }
        #expect(vectors.count == lines.count)
        #expect(Set(vectors.map(\.function)).count == 8)
        for vector in vectors {
            #expect(try vector.computed() == vector.results, "\(vector.function) \(vector.arguments)")
        }
        print("toolbox: \(vectors.count) lines")
    }

    @Test("A resolvable private address is resolved by its own key, and by no other")
    func resolving() throws {
        let key: UInt128 = 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B
        let address = BluetoothAddress(rawValue: 0x70_8194 << 24 | 0x0D_FBAA)
        #expect(try SecurityToolbox.resolves(DeviceAddress(address, .random), key: key))
        #expect(try !SecurityToolbox.resolves(DeviceAddress(address, .random), key: key ^ 1))
        #expect(try !SecurityToolbox.resolves(DeviceAddress(address, .public), key: key))
        for bit in 0..<46 {
            let other = BluetoothAddress(rawValue: address.rawValue ^ 1 << UInt64(bit))
            #expect(try !SecurityToolbox.resolves(DeviceAddress(other, .random), key: key))
        }
    }
}
