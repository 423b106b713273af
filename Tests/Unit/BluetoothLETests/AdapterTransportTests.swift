// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Testing

@Suite("Values of --adapter")
struct AdapterTransportTests {
    @Test("Each way to a controller is read, and written as it is read")
    func forms() throws {
        let address = try #require(BluetoothAddress("00:1A:7D:DA:71:13"))
        let forms: [(String, AdapterTransport)] = [
            ("hci0", .kernel(.index(ControllerIndex(rawValue: 0)))),
            ("hci12", .kernel(.index(ControllerIndex(rawValue: 12)))),
            ("00:1A:7D:DA:71:13", .kernel(.address(address))),
            ("user:hci1", .userChannel(ControllerIndex(rawValue: 1))),
            ("h4:unix:/run/controller", .h4(.unixSocket("/run/controller"))),
            ("h4:unix:relative:path@1", .h4(.unixSocket("relative:path@1"))),
            ("h4:unix:" + String(repeating: "a", count: 107), .h4(.unixSocket(String(repeating: "a", count: 107)))),
            ("h4:tcp:localhost:9000", .h4(.tcp(host: "localhost", port: 9000))),
            ("h4:tcp:192.168.0.1:1", .h4(.tcp(host: "192.168.0.1", port: 1))),
            ("h4:tcp:255.255.255.255:65535", .h4(.tcp(host: "255.255.255.255", port: 65535))),
            ("h4:/dev/ttyUSB0@921600", .h4(.serialLine("/dev/ttyUSB0", speed: 921_600))),
            ("h4:/dev/a@b@9600", .h4(.serialLine("/dev/a@b", speed: 9600))),
            ("memory:", .memory(SimulatedCast())), ("memory:scale", .memory(SimulatedCast([.scale]))),
            ("memory:linble,badge,crowd", .memory(SimulatedCast([.linble, .badge, .crowd]))),
        ]
        for (text, transport) in forms {
            #expect(try AdapterTransport(text) == transport, "\(text)")
            #expect("\(transport)" == text)
        }
        #expect("\(try AdapterTransport("memory:crowd,scale,scale"))" == "memory:scale,crowd")
        #expect(try AdapterTransport("h4:/dev/ttyACM0") == .h4(.serialLine("/dev/ttyACM0", speed: 115_200)))
    }

    @Test("Other values are rejected with the cause")
    func refusals() {
        let refusals: [(String, AdapterTransport.ParsingError)] = [
            ("", .unknownForm("")), ("eth0", .unknownForm("eth0")), ("hci", .unknownForm("hci")),
            ("h4", .unknownForm("h4")), ("user", .unknownForm("user")), ("H4:unix:x", .unknownForm("H4:unix:x")),
            ("user:", .notController("")), ("user:hci", .notController("hci")),
            ("user:hci65535", .notController("hci65535")),
            ("user:00:1A:7D:DA:71:13", .notController("00:1A:7D:DA:71:13")),
            ("h4:", .h4(.unknownForm(""))), ("h4:ttyUSB0", .h4(.unknownForm("ttyUSB0"))),
            ("h4:udp:localhost:1", .h4(.unknownForm("udp:localhost:1"))),
            ("h4:unix:", .h4(.pathLength(0))),
            ("h4:unix:" + String(repeating: "ä", count: 54), .h4(.pathLength(108))),
            ("h4:tcp:", .h4(.noPort(""))), ("h4:tcp:localhost", .h4(.noPort("localhost"))),
            ("h4:tcp:localhost:", .h4(.badPort(""))), ("h4:tcp:localhost:0", .h4(.badPort("0"))),
            ("h4:tcp:localhost:65536", .h4(.badPort("65536"))), ("h4:tcp:localhost:-1", .h4(.badPort("-1"))),
            ("h4:tcp:localhost:+1", .h4(.badPort("+1"))),
            ("h4:tcp:localhost:99999999999999999999", .h4(.badPort("99999999999999999999"))),
            ("h4:tcp::9000", .h4(.badHost(""))), ("h4:tcp:example.org:9000", .h4(.badHost("example.org"))),
            ("h4:tcp:1.2.3:9000", .h4(.badHost("1.2.3"))), ("h4:tcp:1.2.3.256:9000", .h4(.badHost("1.2.3.256"))),
            ("h4:tcp:1.2.3.04:9000", .h4(.badHost("1.2.3.04"))), ("h4:tcp:[::1]:9000", .h4(.badHost("[::1]"))),
            ("h4:/dev/ttyS0@", .h4(.badSpeed(""))), ("h4:/dev/ttyS0@115201", .h4(.badSpeed("115201"))),
            ("h4:/dev/ttyS0@fast", .h4(.badSpeed("fast"))),
            ("memory", .unknownForm("memory")), ("memory:printer", .notSimulated("printer")),
            ("memory:scale,", .notSimulated("")), ("memory:Scale", .notSimulated("Scale")),
        ]
        for (text, error) in refusals {
            #expect(throws: error, "\(text)") { try AdapterTransport(text) }
        }
    }

    @Test("A refusal quotes no control characters, and not without end")
    func quoting() {
        let error = AdapterTransport.ParsingError.unknownForm("\u{1B}[2J" + String(repeating: "x", count: 1000))
        #expect(!error.description.unicodeScalars.contains("\u{1B}"))
        #expect(error.description.count < 200)
        #expect("\(AdapterTransport.ParsingError.h4(.badSpeed("1")))".contains("9600, 19200"))
    }
}
