// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothPackets
import ConformanceSupport
import LinuxIO
import TestSupport
import Testing
import VirtualAdapters

/// Transport between both hosts and their simulated controllers.
enum ConformanceTransport: String, CaseIterable, CustomTestStringConvertible {
    case memory, h4

    var testDescription: String { self == .memory ? "in memory" : "over H4 streams" }
}

@Suite("Conformance over whole transports", .timeLimit(.minutes(10)))
struct ConformanceOverTransportsTests {
    /// Creates two adapters on one radio with accelerated time.
    private func bench(_ transport: ConformanceTransport, _ body: (ConformanceBench) throws -> Void) throws {
        let loop = try EventLoop()
        let radio = MemoryRadio(on: loop, speed: 20)
        let lines = H4Lines()
        var adapters: [any LowEnergyAdapter] = []
        for number in [1, 2] as [UInt64] {
            let controller = radio.addController(BluetoothAddress(rawValue: 0xC0FF_EE00_0000 | number))
            let way: any PacketTransport =
                transport == .memory ? controller : try lines.connect(controller, on: loop)
            let adapter = HostAdapter(name: "\(number)", transport: way, on: loop)
            adapters.append(
                try ConformanceBench.open(on: loop) { completion in
                    adapter.start { result in completion(result.map { adapter }) }
                }
            )
        }
        let pace = ConformanceBench.Pace(patience: .seconds(20), silence: .milliseconds(15))
        let bench = ConformanceBench(adapters[0], tester: adapters[1], on: loop, pace: pace)
        try body(bench)
        bench.close()
    }

    /// Scripts that wait for time-outs are played in virtual time, and in the kernel tests.
    private func scripts(_ file: String) throws -> [ConformanceScript] {
        let all = try ConformanceScript.all(file)
        let played = all.filter { $0.waitingTime == 0 }
        #expect(played.count >= all.count - 4)
        return played
    }

    @Test("GATT/CL replayed at PDU level", arguments: ConformanceTransport.allCases)
    func client(_ transport: ConformanceTransport) throws {
        try bench(transport) { bench in
            for script in try scripts("conformance-client.txt") {
                #expect(try bench.playClient(script) == [], "\(script.name)")
            }
        }
    }

    @Test("GATT/SR replayed at PDU level", arguments: ConformanceTransport.allCases)
    func server(_ transport: ConformanceTransport) throws {
        try bench(transport) { bench in
            for script in try scripts("conformance-server.txt") {
                #expect(try bench.playServer(script) == [], "\(script.name)")
            }
        }
    }

    @Test("T18: a conversation that differs by one byte is noticed over a transport too")
    func control() throws {
        try bench(.memory) { bench in
            for mark in [">", "<"] {
                var script = try #require(
                    try ConformanceScript.all("conformance-server.txt").first { $0.ids == ["GATT/SR/GAR/BI-02-C"] }
                )
                let index = try #require(script.steps.firstIndex { $0.text.hasPrefix(mark) })
                script.steps[index].text = String(script.steps[index].text.dropLast(1)) + "7"
                #expect(try !bench.playServer(script).isEmpty)
            }
        }
    }
}
