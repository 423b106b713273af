// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets
import Testing
import VirtualRadio

@Suite struct ConnectionTests {
    static let noRPAs = "000000000000 000000000000"

    @Test(
        "The events of a connection are correct byte by byte, with legacy and extended commands",
        arguments: VirtualController.Generation.allCases
    )
    func life(_ generation: VirtualController.Generation) {
        let bench = Bench.pair(generation)
        bench.advertise(bench.second)
        bench.connect(bench.first, to: bench.address(bench.second))
        bench.run(.milliseconds(50))
        #expect(
            bench.packets(bench.first) == [
                hex("04 3E 1F 0A 00 4000 00 00 0200000000C0", Self.noRPAs, "1800 0000 6400 00")
            ]
        )
        let terminated = generation == .legacy ? [] : [hex("04 3E 06 12 00 00 4000 00")]
        #expect(
            bench.packets(bench.second) == [
                hex("04 3E 1F 0A 00 4000 01 00 0100000000C0", Self.noRPAs, "1800 0000 6400 05")
            ] + terminated
        )

        bench.command(bench.first, 0x0406, "4000 13")
        #expect(bench.packets(bench.first) == [hex("04 0F 04 00 01 0604")])
        bench.run(.milliseconds(30))
        #expect(bench.packets(bench.first) == [hex("04 05 04 00 4000 16")])
        #expect(bench.packets(bench.second) == [hex("04 05 04 00 4000 13")])
        // The handle is invalid, and advertising is disabled until the host enables it again.
        #expect(bench.status(bench.first, 0x0406, "4000 13") == 0x02)
        #expect(bench.radio.deadline == nil)
        bench.link()
        bench.command(bench.second, 0x0406, "4000 15")
        bench.run(.milliseconds(30))
        #expect(bench.packets(bench.first) == [hex("04 05 04 00 4000 15")])
        #expect(bench.packets(bench.second) == [hex("04 0F 04 00 01 0604"), hex("04 05 04 00 4000 16")])
    }

    @Test("A host that does not know the enhanced event gets LE Connection Complete")
    func plainEvent() {
        let bench = Bench.pair()
        bench.succeed(bench.first, 0x2001, "1F 00 00 00 00 00 00 00")
        bench.advertise(bench.second)
        bench.connect(bench.first, to: bench.address(bench.second))
        bench.run(.milliseconds(50))
        #expect(bench.packets(bench.first) == [hex("04 3E 13 01 00 4000 00 00 0200000000C0 1800 0000 6400 00")])
    }

    @Test("A cancelled attempt completes with Unknown Connection Identifier")
    func cancel() {
        let bench = Bench.pair()
        #expect(bench.status(bench.first, 0x200E) == 0x0C)
        bench.connect(bench.first, to: bench.address(bench.second))
        bench.run(.seconds(3600))
        #expect(bench.packets(bench.first).isEmpty)
        bench.command(bench.first, 0x200E)
        #expect(
            bench.packets(bench.first) == [
                hex("04 0E 04 01 0E20 00"), hex("04 3E 1F 0A 02 0000 00 00", String(repeating: "00", count: 25)),
            ]
        )
        bench.advertise(bench.second)
        bench.run(.seconds(1))
        #expect(bench.packets(bench.first).isEmpty)
    }

    @Test("An attempt waits for the address that it names, or for one of the accept list, whoever else advertises")
    func others() {
        for generation in VirtualController.Generation.allCases {
            let bench = Bench.pair(generation)
            bench.advertise(bench.second)
            bench.connect(bench.first, to: "00 0300000000C0")
            bench.run(.seconds(2))
            #expect(bench.packets(bench.first).isEmpty && bench.packets(bench.second).isEmpty)
        }
        let bench = Bench.pair()
        bench.advertise(bench.second)
        bench.succeed(bench.first, 0x2011, "00 0300000000C0")
        bench.succeed(bench.first, 0x2043, "01 00 00 000000000000 01 1000 1000 1800 1800 0000 6400 0000 0000")
        bench.run(.seconds(2))
        #expect(bench.packets(bench.first).isEmpty && bench.packets(bench.second).isEmpty)
    }

    @Test("Invalid connection parameters are rejected")
    func refusals() {
        let bench = Bench.pair { $0.maximumConnections = 1 }
        let peer = bench.address(bench.second)
        let plain = "00 00 \(peer) 01 1000 1000"
        // Interval too short, time-out not longer than two intervals, latency out of range, unknown PHYs.
        #expect(bench.status(bench.first, 0x2043, "\(plain) 0500 0600 0000 6400 0000 0000") == 0x12)
        #expect(bench.status(bench.first, 0x2043, "\(plain) 2800 2800 0000 0A00 0000 0000") == 0x12)
        #expect(bench.status(bench.first, 0x2043, "\(plain) 1800 1800 F401 8000 0000 0000") == 0x12)
        #expect(bench.status(bench.first, 0x2043, "00 00 \(peer) 00") == 0x12)
        #expect(bench.status(bench.first, 0x2043, "00 01 \(peer) 01 1000 1000 1800 1800 0000 6400 0000 0000") == 0x12)
        bench.connect(bench.first, to: peer)
        #expect(bench.status(bench.first, 0x2043, "\(plain) 1800 1800 0000 6400 0000 0000") == 0x0C)
        bench.advertise(bench.second)
        bench.run(.milliseconds(50))
        #expect(bench.status(bench.first, 0x2043, "\(plain) 1800 1800 0000 6400 0000 0000") == 0x09)
        #expect(bench.status(bench.second, 0x2039, "01 01 00 0000 00") == 0x09)
        #expect(bench.status(bench.first, 0x0406, "4000 00") == 0x12)
        #expect(bench.status(bench.first, 0x0406, "4100 13") == 0x02)
        let more = Bench.pair()
        more.link()
        #expect(more.status(more.first, 0x2043, "00 00 \(peer) 01 1000 1000 1800 1800 0000 6400 0000 0000") == 0x0B)
    }

    @Test("Connecting by accept list, to and from random addresses")
    func acceptList() {
        let bench = Bench.pair()
        bench.succeed(bench.first, 0x2005, "1111111111C1")
        bench.succeed(bench.second, 0x2036, "00 1300 200000 200000 07 01 00 000000000000 02 7F 01 00 01 00 00")
        #expect(bench.status(bench.second, 0x2039, "01 01 00 0000 00") == 0x12)
        bench.succeed(bench.second, 0x2035, "00 2222222222C2")
        bench.succeed(bench.second, 0x2039, "01 01 00 0000 00")
        bench.succeed(bench.first, 0x2011, "01 2222222222C2")
        bench.succeed(bench.first, 0x2043, "01 01 00 000000000000 01 1000 1000 1800 1800 0000 6400 0000 0000")
        // The advertiser accepts connections only from devices in its filter accept list.
        bench.run(.milliseconds(200))
        #expect(bench.packets(bench.first).isEmpty)
        bench.succeed(bench.second, 0x2039, "00 00")
        bench.succeed(bench.second, 0x2011, "01 1111111111C1")
        bench.succeed(bench.second, 0x2039, "01 01 00 0000 00")
        bench.run(.milliseconds(50))
        #expect(
            bench.packets(bench.first).map { $0.prefix(28) } == [
                hex("04 3E 1F 0A 00 4000 00 01 2222222222C2")[...].prefix(28)
            ]
        )
        #expect(
            bench.packets(bench.second).first?.prefix(28) == hex("04 3E 1F 0A 00 4000 01 01 1111111111C1").prefix(28)
        )
    }

    @Test("Out of range, both sides give up after the supervision time-out, and not before")
    func supervision() {
        let bench = Bench.pair()
        bench.link()
        bench.radio.separate(bench.first, bench.second)
        bench.run(.milliseconds(960))
        #expect(bench.packets(bench.first).isEmpty)
        bench.radio.join(bench.first, bench.second)
        bench.run(.seconds(10))
        #expect(bench.packets(bench.first).isEmpty)
        bench.radio.separate(bench.first, bench.second)
        bench.run(.seconds(1))
        #expect(bench.packets(bench.first) == [hex("04 05 04 00 4000 08")])
        #expect(bench.packets(bench.second) == [hex("04 05 04 00 4000 08")])
        #expect(bench.status(bench.first, 0x0406, "4000 13") == 0x02)
    }

    @Test("A controller that is reset sends nothing; its peer detects this by the supervision time-out")
    func reset() {
        let bench = Bench.pair()
        bench.link()
        bench.command(bench.second, 0x0C03)
        #expect(bench.packets(bench.second) == [hex("04 0E 04 01 030C 00")])
        bench.run(.milliseconds(900))
        #expect(bench.packets(bench.first).isEmpty)
        bench.run(.milliseconds(100))
        #expect(bench.packets(bench.first) == [hex("04 05 04 00 4000 08")])
        #expect(bench.packets(bench.second).isEmpty)
    }

    @Test("A connection whose first packet is lost fails to be established, after six intervals")
    func neverEstablished() throws {
        let bench = Bench.pair()
        bench.advertise(bench.second)
        bench.connect(bench.first, to: bench.address(bench.second))
        while bench.first.waitingPackets == 0 { bench.radio.advance(to: try #require(bench.radio.deadline)) }
        bench.radio.separate(bench.first, bench.second)
        _ = bench.packets(bench.first)
        bench.run(.milliseconds(180))
        #expect(bench.packets(bench.first).isEmpty)
        bench.run(.milliseconds(2))
        #expect(bench.packets(bench.first) == [hex("04 05 04 00 4000 3E")])
    }

    @Test("The central changes the parameters: both are told at the instant, six intervals on")
    func update() {
        let bench = Bench.pair()
        bench.link()
        bench.command(bench.first, 0x2013, "4000 0C00 0C00 0000 C800 0000 0000")
        #expect(bench.packets(bench.first) == [hex("04 0F 04 00 01 1320")])
        #expect(bench.status(bench.first, 0x2013, "4000 0C00 0C00 0000 C800 0000 0000") == 0x0C)
        bench.run(.milliseconds(180))
        #expect(bench.packets(bench.first).isEmpty)
        bench.run(.milliseconds(30))
        #expect(bench.packets(bench.first) == [hex("04 3E 0A 03 00 4000 0C00 0000 C800")])
        #expect(bench.packets(bench.second) == [hex("04 3E 0A 03 00 4000 0C00 0000 C800")])
    }

    @Test("The peripheral asks for parameters: granted, refused, asked in vain")
    func parameterRequest() {
        let bench = Bench.pair()
        bench.link()
        let request = "4000 0C00 1000 0100 C800"
        #expect(bench.status(bench.first, 0x2020, "\(request) 0000 0000") == 0x0C)
        bench.succeed(bench.second, 0x2013, "\(request) 0000 0000")
        bench.run(.milliseconds(30))
        #expect(bench.packets(bench.first) == [hex("04 3E 0B 06", request)])
        bench.command(bench.first, 0x2020, "\(request) 0000 0000")
        #expect(bench.packets(bench.first) == [hex("04 0E 06 01 2020 00 4000")])
        bench.run(.milliseconds(240))
        #expect(bench.packets(bench.first) == [hex("04 3E 0A 03 00 4000 1000 0100 C800")])
        #expect(bench.packets(bench.second) == [hex("04 3E 0A 03 00 4000 1000 0100 C800")])

        bench.succeed(bench.second, 0x2013, "4000 2800 2800 0000 C800 0000 0000")
        bench.run(.milliseconds(100))
        _ = bench.packets(bench.first)
        bench.succeed(bench.first, 0x2021, "4000 3B")
        bench.run(.milliseconds(100))
        #expect(bench.packets(bench.first).isEmpty)
        #expect(bench.packets(bench.second) == [hex("04 3E 0A 03 3B 4000 1000 0100 C800")])

        // The host has masked out this event.
        bench.succeed(bench.first, 0x2001, "DF FF FF FF FF FF FF FF")
        bench.succeed(bench.second, 0x2013, "4000 2800 2800 0000 C800 0000 0000")
        bench.run(.milliseconds(100))
        #expect(bench.packets(bench.second) == [hex("04 3E 0A 03 1A 4000 1000 0100 C800")])

        // The host does not respond for 40 s.
        bench.succeed(bench.first, 0x2001, "FF FF FF FF FF FF FF FF")
        bench.succeed(bench.second, 0x2013, "4000 2800 2800 0000 C800 0000 0000")
        bench.run(.milliseconds(39_900))
        #expect(bench.packets(bench.second).isEmpty)
        bench.run(.milliseconds(200))
        #expect(bench.packets(bench.second) == [hex("04 05 04 00 4000 22")])
        #expect(bench.packets(bench.first).last == hex("04 05 04 00 4000 22"))
    }

    @Test("The other side's version and features, the link's strength and channels")
    func questions() {
        let bench = Bench.pair()
        bench.link()
        bench.command(bench.first, 0x041D, "4000")
        bench.command(bench.first, 0x2016, "4000")
        #expect(bench.packets(bench.first) == [hex("04 0F 04 00 01 1D04"), hex("04 0F 04 00 01 1620")])
        bench.run(.milliseconds(30))
        #expect(
            bench.packets(bench.first) == [
                hex("04 0C 08 00 4000 09 FFFF 0000"), hex("04 3E 0C 04 00 4000 0F10000000000000"),
            ]
        )
        bench.command(bench.first, 0x2015, "4000")
        #expect(bench.packets(bench.first) == [hex("04 0E 0B 01 1520 00 4000 FFFFFFFF1F")])
        bench.command(bench.first, 0x1405, "4000")
        #expect(bench.packets(bench.first).map { $0.prefix(18) } == [hex("04 0E 07 01 0514 00 4000")[...].prefix(18)])
    }

    @Test("A link is encrypted where both hosts have the key, anew too; without one, or with two, it is not")
    func encryption() {
        let key = "0F0E0D0C0B0A09080706050403020100"
        let bench = Bench.pair()
        bench.link()
        for event in ["04 08 04 00 4000 01", "04 30 03 00 4000"] {
            bench.succeed(bench.first, 0x2019, "4000 0807060504030201 3412 \(key)")
            #expect(bench.status(bench.first, 0x2019, "4000 0807060504030201 3412 \(key)") == 0x0C)
            bench.run(.milliseconds(30))
            #expect(bench.packets(bench.second) == [hex("04 3E 0D 05 4000 0807060504030201 3412")])
            bench.succeed(bench.second, 0x201A, "4000 \(key)")
            #expect(bench.status(bench.second, 0x201A, "4000 \(key)") == 0x0C)
            bench.run(.milliseconds(30))
            for controller in bench.controllers { #expect(bench.packets(controller) == [hex(event)]) }
        }
        bench.succeed(bench.first, 0x2019, "4000 0000000000000000 0000 \(key)")
        bench.run(.milliseconds(30))
        _ = bench.packets(bench.second)
        bench.succeed(bench.second, 0x201B, "4000")
        bench.run(.milliseconds(30))
        #expect(bench.packets(bench.first) == [hex("04 08 04 06 4000 00")])
        #expect(bench.status(bench.second, 0x2019, "4000 0000000000000000 0000 \(key)") == 0x0C)
        bench.succeed(bench.first, 0x2019, "4000 0000000000000000 0000 \(key)")
        bench.run(.milliseconds(30))
        _ = bench.packets(bench.second)
        bench.succeed(bench.second, 0x201A, "4000 00000000000000000000000000000001")
        bench.run(.milliseconds(30))
        for controller in bench.controllers { #expect(bench.packets(controller).last == hex("04 05 04 00 4000 3D")) }
    }

    @Test("Central, peripheral, advertiser and scanner at once on one controller")
    func rolesAtOnce() {
        let bench = Bench([.extended, .extended, .extended])
        for controller in bench.controllers { bench.wantEverything(controller) }
        let (left, middle, right) = (bench.controllers[0], bench.controllers[1], bench.controllers[2])
        bench.link()
        bench.advertise(right)
        bench.connect(middle, to: bench.address(right))
        bench.run(.milliseconds(50))
        #expect(bench.packets(middle).map { $0.prefix(18) } == [hex("04 3E 1F 0A 00 4100 00 00")[...]])
        bench.succeed(middle, 0x2039, "01 01 00 0000 00")
        bench.succeed(middle, 0x2041, "00 00 01 00 1000 1000")
        bench.succeed(middle, 0x2042, "01 01 0000 0000")
        bench.succeed(right, 0x2039, "01 01 00 0000 00")
        bench.succeed(left, 0x2041, "00 00 01 00 1000 1000")
        bench.succeed(left, 0x2042, "01 01 0000 0000")
        for controller in bench.controllers { _ = bench.packets(controller) }
        bench.send(middle, "02 4000 0100 AA")
        bench.send(middle, "02 4100 0100 BB")
        bench.run(.milliseconds(100))
        #expect(bench.packets(left).contains(hex("02 4020 0100 AA")))
        #expect(bench.packets(right).contains(hex("02 4020 0100 BB")))
        let heard = bench.packets(middle)
        #expect(heard.contains(hex("04 13 05 01 4000 0100")))
        #expect(heard.contains(hex("04 13 05 01 4100 0100")))
        #expect(heard.contains { $0.hasPrefix("043E") && $0.contains("0300000000C0") })
    }
}
