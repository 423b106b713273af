// SPDX-License-Identifier: GPL-2.0-or-later

import Beacons
import TestSupport
import Testing

@Suite("A region of beacons", .timeLimit(.minutes(10)))
struct BeaconRegionTests {
    private static let uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let namespace = "eddystone:00112233445566778899"

    @Test(
        "A region is read as it is written",
        arguments: [uuid, uuid + "/0", uuid + "/65535", uuid + "/1/2", namespace, namespace + "/AABBCCDDEEFF"]
    )
    func texts(_ text: String) throws {
        #expect(try #require(BeaconRegion(text)).description == text)
        #expect(BeaconRegion(text.lowercased())?.description == text)
    }

    @Test(
        "What is no region is refused",
        arguments: [
            "", "FFE0", uuid + "/", uuid + "/1/", uuid + "/65536", uuid + "/-1", uuid + "/+1", uuid + "/1/2/3",
            uuid + "/x",
            uuid + "/1/65536", "eddystone:", namespace + "/", namespace + "/AABBCCDDEE", namespace + "0",
            "eddystone:" + uuid,
            namespace + "/AABBCCDDEEFF/1", uuid + " ",
        ]
    )
    func refused(_ text: String) { #expect(BeaconRegion(text) == nil) }

    @Test("A region contains its parts and nothing else")
    func parts() throws {
        let regions = try [
            Self.uuid, Self.uuid + "/1", Self.uuid + "/1/2", Self.uuid + "/2", Self.namespace,
            Self.namespace + "/AABBCCDDEEFF",
            "00000000-DFFB-48D2-B060-D0F5A71096E0",
        ].map { try #require(BeaconRegion($0)) }
        let inside = [[0, 1, 2, 3], [1, 2], [2], [3], [4, 5], [5], [6]]
        for (place, region) in regions.enumerated() {
            #expect(regions.indices.filter { region.contains(regions[$0]) } == inside[place], "\(region)")
        }
        let badge = try #require(BeaconIdentity(Self.uuid + "/1/2"))
        #expect(regions.map { $0.contains(badge) } == [true, true, true, false, false, false, false])
        #expect(badge.segment == 1)
        #expect(BeaconIdentity(Self.uuid + "/1") == nil)
    }
}

@Suite("The file of regions", .timeLimit(.minutes(10)))
struct RegionFileTests {
    private static let badges = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
    private static let oneTime = "0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0"

    static let example = """
        # regions
        static   \(badges)   Badges of the first floor
        dynamic  \(oneTime)\tOne-time beacons\r

        static   eddystone:00112233445566778899
        key      \(badges)/1/2   A17C
        key      eddystone:00112233445566778899/AABBCCDDEEFF   gate7
        """

    @Test("SW-3: the file's lines are its regions, with their names and key codes")
    func example() throws {
        let file = try RegionFile(Self.example)
        #expect(file.staticRegions.map(\.name) == ["Badges of the first floor", ""])
        #expect(file.dynamicRegions.map(\.name) == ["One-time beacons"])
        #expect(file.keyCodes.count == 2)
        #expect(try RegionFile("").staticRegions.isEmpty)
    }

    @Test("SW-1: each error in the file is reported with its line")
    func faults() throws {
        let text = """
            static
            statik \(Self.badges)
            static FFE0
            static \(Self.badges) x
            dynamic \(Self.badges)
            key \(Self.badges)/1 A
            key \(Self.badges)/1/2
            key \(Self.badges)/1/2 A!1
            key \(Self.badges)/1/2 A1
            key \(Self.badges)/1/2 A2
            key \(Self.badges)/1/3 A1
            static eddystone:00112233445566778899 a\u{202E}b
            static 0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0 \(String(repeating: "n", count: 65))
            """
        let faults = #expect(throws: RegionFile.Faults.self) { try RegionFile(text) }
        #expect(faults?.list.map(\.line) == [1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13])
        #expect(faults?.list.allSatisfy { !$0.reason.isEmpty } == true)
        let many = String(repeating: "static\n", count: 1_000)
        #expect(#expect(throws: RegionFile.Faults.self) { try RegionFile(many) }?.list.count == 100)
    }

    @Test("SW-3: the predicates of a region are correct: reserved, initial, dynamic, managed, designated")
    func kinds() throws {
        var catalogue = RegionCatalogue(try RegionFile(Self.example))
        var designated = DesignatedBeacons()
        let badges = try #require(BeaconRegion(Self.badges))
        let badge = try #require(BeaconRegion(Self.badges + "/1/2"))
        let other = try #require(BeaconRegion(Self.badges + "/1/3"))
        let oneTime = try #require(BeaconRegion(Self.oneTime))
        let owned = try #require(BeaconRegion("11111111-DFFB-48D2-B060-D0F5A71096E0/4"))
        catalogue.managed = ManagedRegions([ManagedRegions.Entry(owned, type: "owned")])
        let kinds = { (region: BeaconRegion) in catalogue.kinds(of: region, designated: designated).words }
        #expect(kinds(badges) == ["reserved", "initial"])
        #expect(kinds(badge) == ["reserved"])
        #expect(kinds(oneTime) == ["dynamic"])
        #expect(kinds(owned) == ["managed"])
        #expect(kinds(owned.whole).isEmpty)
        #expect(designated.designate(["A17C"], in: badges, .usual, of: catalogue, limit: 19) == .all)
        #expect(kinds(badge) == ["reserved", "designated"])
        #expect(kinds(other) == ["reserved"])
    }

    @Test("D-25: a static beacon's key code is the file's, else its major and minor; a dynamic one has none")
    func keyCodes() throws {
        let catalogue = RegionCatalogue(try RegionFile(Self.example))
        let badges = try #require(BeaconRegion(Self.badges))
        let code = { (text: String) in BeaconIdentity(text).flatMap { catalogue.keyCode(of: $0) } }
        #expect(code(Self.badges + "/1/2") == "A17C")
        #expect(code(Self.badges + "/258/65535") == "0102FFFF")
        #expect(code(Self.oneTime + "/1/2") == nil)
        #expect(code("eddystone:00112233445566778899/AABBCCDDEEFF") == "gate7")
        #expect(code("eddystone:00112233445566778899/AABBCCDDEE00") == nil)
        #expect(catalogue.identity(ofCode: "A17C", in: badges)?.description == Self.badges + "/1/2")
        #expect(catalogue.identity(ofCode: "0102ffff", in: badges)?.description == Self.badges + "/258/65535")
        // The beacon has a code of its own; it belongs to another region; the region is not static; the code is
        // invalid.
        #expect(catalogue.identity(ofCode: "00010002", in: badges) == nil)
        #expect(catalogue.identity(ofCode: "gate7", in: badges) == nil)
        #expect(catalogue.identity(ofCode: "00010003", in: try #require(BeaconRegion(Self.oneTime))) == nil)
        #expect(catalogue.identity(ofCode: "0102FFF", in: badges) == nil)
        #expect(catalogue.identity(ofCode: "00020001", in: try #require(BeaconRegion(Self.badges + "/1"))) == nil)
    }
}
