// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import TestSupport
import Testing

/// Script as a test argument, so that its ids appear in the test's name.
struct ConformanceCase: CustomTestStringConvertible, Sendable {
    var script: ConformanceScript
    var testDescription: String { script.name }

    static func all(_ file: String) -> [ConformanceCase] {
        ((try? ConformanceScript.all(file)) ?? []).map { ConformanceCase(script: $0) }
    }
}

@Suite struct ConformanceTests {
    @Test("GATT/CL replayed at PDU level", arguments: ConformanceCase.all("conformance-client.txt"))
    func client(_ one: ConformanceCase) throws {
        var link = ClientUnderTest()
        #expect(try one.script.run(&link) == [])
    }

    @Test("GATT/SR replayed at PDU level", arguments: ConformanceCase.all("conformance-server.txt"))
    func server(_ one: ConformanceCase) throws {
        var link = try ServerUnderTest(one.script.database)
        #expect(try one.script.run(&link) == [])
    }

    @Test("GATT: every one of the 72 ids of GAC, GAD, GAR, GAW, GAN and GAI is replayed or left out with a reason")
    func ids() throws {
        let client = try ConformanceScript.all("conformance-client.txt")
        let server = try ConformanceScript.all("conformance-server.txt")
        #expect(Set((client + server).map { $0.name }).count == client.count + server.count)
        let played = Set((client + server).flatMap { $0.ids })
        var listed: Set<String> = []
        var left: [String] = []
        var groups = 0
        for line in try VectorFile.lines("conformance-ids.txt") {
            let words = line.text.split(separator: " ", maxSplits: 1).map { String($0) }
            try #require(words.count == 2)
            #expect(listed.insert(words[0]).inserted, "\(words[0]) twice")
            if ["/GAC/", "/GAD/", "/GAR/", "/GAW/", "/GAN/", "/GAI/"].contains(where: { words[0].contains($0) }) {
                groups += 1
            }
            let isReplayed = words[1] == "replayed"
            #expect(played.contains(words[0]) == isReplayed, "\(line.text)")
            if !isReplayed {
                #expect(words[1].hasPrefix("left out: "))
                left.append(words[0])
            }
        }
        #expect(groups == 72)
        #expect(played.isSubset(of: listed), "\(played.subtracting(listed))")
        print(
            "GATT: \(played.count) ids replayed at PDU level by \(client.count) + \(server.count) scripts; left out: \(left)"
        )
    }

    @Test("T18: a conversation that differs by one byte is noticed, in either direction")
    func control() throws {
        for (file, mark) in [("conformance-server.txt", ">"), ("conformance-server.txt", "<")] {
            var script = try #require(try ConformanceScript.all(file).first { $0.ids == ["GATT/SR/GAR/BI-02-C"] })
            let index = try #require(script.steps.firstIndex { $0.text.hasPrefix(mark) })
            script.steps[index].text = String(script.steps[index].text.dropLast(1)) + "7"
            var link = try ServerUnderTest(script.database)
            #expect(try !script.run(&link).isEmpty)
        }
    }
}
