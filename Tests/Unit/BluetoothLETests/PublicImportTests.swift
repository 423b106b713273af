// SPDX-License-Identifier: GPL-2.0-or-later

// Like an application, this file imports no other module of the library.
import BluetoothLE
import TestSupport
import Testing

@Suite("Types of public declarations, with `import BluetoothLE` alone") struct PublicImportTests {
    @Test("An application can name the types that functions take, and those in errors")
    func names() {
        let parameters: [ScanParameters] = [.discovery, .background]
        #expect(Set(parameters).count == 2)
        let value = Peripheral.HandleValue(handle: AttributeHandle(0x0012), value: [1, 2])
        #expect(value.value == [1, 2])
        #expect(AdapterTransport.userChannel(ControllerIndex(rawValue: 0)).description == "user:hci0")
        let (opcode, status) = (ManagementOpcode(rawValue: 0x0019), ManagementStatus(rawValue: 0x0C))
        let failure = BluetoothError.pairingFailed(.refused(opcode, status))
        #expect("\(failure)" == "pairing failed: Pair Device (0x0019) was rejected: Not Supported (0x0C)")
    }

    @Test("All types in public signatures are the standard library's, declared by the module, or re-exported")
    func signatures() throws {
        let files = try SourceFiles.files(of: "BluetoothLE")
        let standard: Set<Substring> = [
            "Actor", "Any", "AsyncIteratorProtocol", "AsyncSequence", "Bool", "CustomStringConvertible", "Duration",
            "Element", "Hashable", "Int", "Int8", "Sendable", "Span", "String", "UInt16", "UInt32", "UInt64", "UInt8",
            "UnownedSerialExecutor", "Void",
        ]
        var known = standard
        var used: Set<Substring> = []
        for file in files {
            let code = file.text.split(separator: "\n").filter { !$0.contains("///") }.joined(separator: "\n")
            for match in code.matches(of: /@_exported public import \w+ \w+\.(\w+)/) { known.insert(match.1) }
            for match in code.matches(of: /public (?:struct|enum|actor|typealias) (\w+)/) { known.insert(match.1) }
            for match in code.matches(of: /public (?:\w+ )*(?:func|init|var|let)[^{]*/) {
                for name in match.0.matches(of: /(?:^|[^\w.])([A-Z]\w+)/) { used.insert(name.1) }
            }
        }
        #expect(used.contains("ScanParameters") && used.count > 20)
        #expect(used.subtracting(known).sorted() == [])
    }
}
