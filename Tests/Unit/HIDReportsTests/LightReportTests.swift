// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports
import TestSupport
import Testing

@Suite("Lights of keyboards")
struct LightReportTests {
    /// Application collection with output items.
    private static func lights(_ items: String, numLock: Bool = true) throws -> [String] {
        let map = try #require(VectorFile.bytes("05010906a101" + items + "c0"))
        return try ReportMap(map).lights(numLock: numLock).map { light in
            "\(light.id):" + light.payload.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    @Test("The output report has NumLock as set, and every other light off")
    func boot() throws {
        let boot = "05081901290515002501750195059102" + "750395019101"
        #expect(try Self.lights(boot) == ["0:01"])
        #expect(try Self.lights(boot, numLock: false) == ["0:00"])
        #expect(try Self.lights("8502" + boot) == ["2:01"])
    }

    @Test("NumLock is found at any position and size, and in any report")
    func places() throws {
        // CapsLock, Scroll Lock and NumLock, after 8 bits of padding.
        #expect(try Self.lights("750895019101" + "050809020903090115002501750195039102" + "750595019101") == ["0:0004"])
        // Slots of 8 bits for Scroll Lock, CapsLock and NumLock.
        #expect(try Self.lights("050809030902090115002501750895039102") == ["0:000001"])
        // A report without NumLock, and one with it.
        #expect(try Self.lights("850105080902150025017508950191028502" + "09019102") == ["1:00", "2:01"])
        // The index of a light, of which 0 is none.
        #expect(try Self.lights("0508190129051501250575089501" + "9100") == ["0:00"])
        // The last usage of a field repeats.
        #expect(try Self.lights("050809020901150025017501950891" + "02") == ["0:02"])
    }

    @Test("Reports without lights, of other kinds, constant, or longer than 20 bytes are not written")
    func others() throws {
        #expect(try Self.lights("0600ff09011500250175089501" + "9102") == [])
        for kind in ["8102", "b102", "9103"] {
            #expect(try Self.lights("05080901150025017508950191028501".prefix(24) + kind) == [])
        }
        #expect(try Self.lights("05080901150025017508951491" + "02") == ["0:01" + String(repeating: "00", count: 19)])
        #expect(try Self.lights("05080901150025017508951591" + "02") == [])
        #expect(try Self.lights("0508090115002501750095019102") == [], "a report without bits")
        #expect(try Self.lights("") == [])
    }
}
