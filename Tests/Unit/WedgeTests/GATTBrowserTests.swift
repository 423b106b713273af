// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import Configuration
import Daemon
import Link
import Testing

@Suite("Looking at a device's attributes")
struct GATTBrowserTests {
    /// Expected request, and the device's response; nil if it does not respond.
    private typealias Exchange = (sent: [UInt8], answer: [UInt8]?)

    private static func end(_ request: [UInt8]) -> Exchange {
        (request, [0x01, request[0], request[1], request[2], 0x0A])
    }

    /// Performs the exchanges, comparing the requests byte for byte, and returns the result.
    private func play(_ task: GATTBrowser.Task, _ exchanges: [Exchange]) throws -> (GATTBrowser.Progress, GATTBrowser) {
        var client = GATTClient()
        var browser = GATTBrowser(task)
        var progress = browser.begin(&client, now: .zero)
        for exchange in exchanges {
            #expect(progress == .underWay)
            let next = client.nextOutgoing()
            let sent = try #require(next)
            #expect(Hexadecimal.text(sent) == Hexadecimal.text(exchange.sent))
            guard let answer = exchange.answer else { continue }
            _ = client.receive(answer.span, now: .zero)
            while let event = client.nextEvent() { progress = browser.handle(event, &client, now: .zero) }
        }
        #expect(client.nextOutgoing() == nil)
        return (progress, browser)
    }

    /// Battery service (0x0001…0x0004) with a readable and notified level, and a service without characteristics
    /// (0x0010).
    private static let tree: [Exchange] = [
        (
            [0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28],
            [0x11, 0x06, 0x01, 0x00, 0x04, 0x00, 0x0F, 0x18, 0x10, 0x00, 0x10, 0x00, 0xF0, 0xFF]
        ),
        end([0x10, 0x11, 0x00, 0xFF, 0xFF, 0x00, 0x28]),
        end([0x08, 0x01, 0x00, 0x04, 0x00, 0x02, 0x28]),
        ([0x08, 0x01, 0x00, 0x04, 0x00, 0x03, 0x28], [0x09, 0x07, 0x02, 0x00, 0x12, 0x03, 0x00, 0x19, 0x2A]),
        end([0x08, 0x03, 0x00, 0x04, 0x00, 0x03, 0x28]),
        ([0x04, 0x04, 0x00, 0x04, 0x00], [0x05, 0x01, 0x04, 0x00, 0x02, 0x29]),
        end([0x08, 0x10, 0x00, 0x10, 0x00, 0x02, 0x28]),
        end([0x08, 0x10, 0x00, 0x10, 0x00, 0x03, 0x28]),
    ]

    @Test("The tree is every service with includes, characteristics and descriptors")
    func wholeTree() throws {
        let level = GATTCharacteristic(
            declaration: AttributeHandle(2),
            valueHandle: AttributeHandle(3),
            end: AttributeHandle(4),
            properties: [.read, .notify],
            uuid: BluetoothUUID(0x2A19 as UInt16)
        )
        let configuration = GATTDescriptor(handle: AttributeHandle(4), uuid: BluetoothUUID(0x2902 as UInt16))
        let battery = GATTService(
            handles: AttributeHandleRange(start: AttributeHandle(1), end: AttributeHandle(4)),
            uuid: BluetoothUUID(0x180F as UInt16)
        )
        let empty = GATTService(
            handles: AttributeHandleRange(start: AttributeHandle(0x10), end: AttributeHandle(0x10)),
            uuid: BluetoothUUID(0xFFF0 as UInt16)
        )
        let expected = GATTTree(services: [
            GATTTree.Service(
                service: battery,
                characteristics: [GATTTree.Characteristic(characteristic: level, descriptors: [configuration])]
            ),
            GATTTree.Service(service: empty),
        ])
        #expect(try play(.tree, Self.tree).0 == .tree(expected))
    }

    @Test("A handle is read whole, in parts where one answer is full; a refusal is the result")
    func readHandle() throws {
        let target = GATTTarget.handle(AttributeHandle(3))
        let full = [UInt8](repeating: 0x41, count: 22)
        let begin: [UInt8] = [0x0A, 0x03, 0x00]
        let (progress, _) = try play(
            .read(target),
            [(begin, [0x0B] + full), ([0x0C, 0x03, 0x00, 0x16, 0x00], [0x0D, 0x42])]
        )
        #expect(progress == .values([ATTPDU.HandleValue(handle: AttributeHandle(3), value: full + [0x42])]))
        // A server need not support Read Blob.
        let (short, _) = try play(.read(target), [(begin, [0x0B, 0x42])])
        #expect(short == .values([ATTPDU.HandleValue(handle: AttributeHandle(3), value: [0x42])]))
        let (exact, _) = try play(
            .read(target),
            [(begin, [0x0B] + full), ([0x0C, 0x03, 0x00, 0x16, 0x00], [0x01, 0x0C, 0x03, 0x00, 0x06])]
        )
        #expect(exact == .values([ATTPDU.HandleValue(handle: AttributeHandle(3), value: full)]))
        let (refused, _) = try play(.read(target), [(begin, [0x01, 0x0A, 0x03, 0x00, 0x05])])
        let error = GATTError.errorResponse(
            request: .readRequest,
            handle: AttributeHandle(3),
            error: .insufficientAuthentication
        )
        #expect(refused == .failed(.procedure(error)))
    }

    @Test("A handle whose value begins like a report map is a report map if its characteristic is 2A4B")
    func reportMap() throws {
        let target = GATTTarget.handle(AttributeHandle(3))
        let read: Exchange = ([0x0A, 0x03, 0x00], [0x0B, 0x05, 0x01])
        let question: [UInt8] = [0x08, 0x02, 0x00, 0x03, 0x00, 0x03, 0x28]
        let rest = Self.end([0x08, 0x03, 0x00, 0x03, 0x00, 0x03, 0x28])
        let values = GATTBrowser.Progress.values([.init(handle: AttributeHandle(3), value: [0x05, 0x01])])
        func declaration(_ value: UInt8, _ uuid: UInt8) -> Exchange {
            (question, [0x09, 0x07, 0x02, 0x00, 0x02, value, 0x00, uuid, 0x2A])
        }
        let cases: [([Exchange], BluetoothUUID?)] = [
            ([declaration(3, 0x4B), rest], .reportMap), ([declaration(3, 0x4D), rest], nil),
            ([Self.end(question)], nil),
            // The value is kept if the device refuses to say its type.
            ([(question, [0x01, 0x08, 0x02, 0x00, 0x05])], nil),
        ]
        for (exchanges, type) in cases {
            let (progress, browser) = try play(.read(target), [read] + exchanges)
            #expect(progress == values && browser.valueType == type)
        }
        // The first attribute of a device is a service, and other values cause no question.
        let first = try play(.read(.handle(AttributeHandle(1))), [([0x0A, 0x01, 0x00], [0x0B, 0x05])])
        #expect(first.0 == .values([.init(handle: AttributeHandle(1), value: [0x05])]) && first.1.valueType == nil)
        let other = try play(.read(target), [([0x0A, 0x03, 0x00], [0x0B, 0x08])])
        #expect(other.0 == .values([.init(handle: AttributeHandle(3), value: [0x08])]) && other.1.valueType == nil)
    }

    @Test("A UUID is read wherever it stands; what the list may have cut is read again, and only that")
    func readType() throws {
        let target = GATTTarget.uuid(BluetoothUUID(0x2A00 as UInt16))
        let cut = [UInt8](repeating: 0x41, count: 19)
        let (progress, _) = try play(
            .read(target),
            [
                ([0x08, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x2A], [0x09, 0x03, 0x03, 0x00, 0x58]),
                ([0x08, 0x04, 0x00, 0xFF, 0xFF, 0x00, 0x2A], [0x09, 0x15, 0x09, 0x00] + cut),
                Self.end([0x08, 0x0A, 0x00, 0xFF, 0xFF, 0x00, 0x2A]),
                ([0x0A, 0x09, 0x00], [0x0B] + cut + [0x42]),
            ]
        )
        #expect(
            progress
                == .values([
                    ATTPDU.HandleValue(handle: AttributeHandle(3), value: [0x58]),
                    ATTPDU.HandleValue(handle: AttributeHandle(9), value: cut + [0x42]),
                ])
        )
        let (missing, _) = try play(.read(target), [Self.end([0x08, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x2A])])
        #expect(missing == .failed(.missing(target)))
    }

    @Test("A value is written with response, in parts when it is long, or without and then a question behind it")
    func write() throws {
        let target = GATTTarget.handle(AttributeHandle(5))
        #expect(
            try play(
                .write(target, [1, 2], withResponse: true),
                [([0x12, 0x05, 0x00, 1, 2], [0x13])]
            ).0 == .written
        )
        let long = [UInt8](0..<21)
        #expect(
            try play(
                .write(target, long, withResponse: true),
                [
                    ([0x16, 0x05, 0x00, 0x00, 0x00] + long[..<18], [0x17, 0x05, 0x00, 0x00, 0x00] + long[..<18]),
                    ([0x16, 0x05, 0x00, 0x12, 0x00] + long[18...], [0x17, 0x05, 0x00, 0x12, 0x00] + long[18...]),
                    ([0x18, 0x01], [0x19]),
                ]
            ).0 == .written
        )
        #expect(
            try play(
                .write(target, [1], withResponse: false),
                [
                    ([0x52, 0x05, 0x00, 1], nil),
                    ([0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x00, 0x18], [0x07, 0x01, 0x00, 0xFF, 0xFF]),
                ]
            ).0 == .written
        )
        let (tooLong, _) = try play(.write(target, long, withResponse: false), [])
        #expect(tooLong == .failed(.procedure(.valueTooLong(limit: 20))))
    }

    private static let search: [UInt8] = [0x08, 0x01, 0x00, 0xFF, 0xFF, 0x03, 0x28]

    @Test("A UUID is written where one characteristic has it; none and several are refused before anything is")
    func writeType() throws {
        let target = GATTTarget.uuid(BluetoothUUID(0x2A06 as UInt16))
        let task = GATTBrowser.Task.write(target, [7], withResponse: true)
        let one: Exchange = (Self.search, [0x09, 0x07, 0x02, 0x00, 0x08, 0x03, 0x00, 0x06, 0x2A])
        let two: Exchange = (
            Self.search,
            [0x09, 0x07, 0x02, 0x00, 0x08, 0x03, 0x00, 0x06, 0x2A, 0x05, 0x00, 0x08, 0x06, 0x00, 0x06, 0x2A]
        )
        #expect(
            try play(
                task,
                [
                    one, Self.end([0x08, 0x03, 0x00, 0xFF, 0xFF, 0x03, 0x28]),
                    ([0x12, 0x03, 0x00, 7], [0x13]),
                ]
            ).0 == .written
        )
        #expect(try play(task, [Self.end(Self.search)]).0 == .failed(.missing(target)))
        #expect(
            try play(task, [two, Self.end([0x08, 0x06, 0x00, 0xFF, 0xFF, 0x03, 0x28])]).0
                == .failed(.ambiguous(target, [AttributeHandle(3), AttributeHandle(6)]))
        )
    }

    @Test("A subscription finds the characteristic and its configuration, and wants its values only")
    func subscribe() throws {
        let characteristic: Exchange = (Self.search, [0x09, 0x07, 0x02, 0x00, 0x20, 0x03, 0x00, 0x05, 0x2A])
        let (progress, browser) = try play(
            .subscribe(.handle(AttributeHandle(3))),
            [
                characteristic, Self.end([0x08, 0x03, 0x00, 0xFF, 0xFF, 0x03, 0x28]),
                ([0x04, 0x04, 0x00, 0xFF, 0xFF], [0x05, 0x01, 0x04, 0x00, 0x02, 0x29]),
                ([0x12, 0x04, 0x00, 0x02, 0x00], [0x13]),
            ]
        )
        guard case .subscribed(let found) = progress else {
            Issue.record("\(progress)")
            return
        }
        #expect(found.valueHandle == AttributeHandle(3))
        #expect(browser.isWanted(AttributeHandle(3)))
        #expect(!browser.isWanted(AttributeHandle(4)))
    }

    @Test("D-36: a characteristic without a configuration is listened to; of two of a UUID the one that sends is")
    func listen() throws {
        let two: Exchange = (
            Self.search,
            [0x09, 0x07, 0x02, 0x00, 0x0C, 0x03, 0x00, 0xE1, 0xFF, 0x04, 0x00, 0x12, 0x05, 0x00, 0xE1, 0xFF]
        )
        let end = Self.end([0x08, 0x05, 0x00, 0xFF, 0xFF, 0x03, 0x28])
        let target = GATTTarget.uuid(BluetoothUUID(0xFFE1 as UInt16))
        let (progress, browser) = try play(
            .subscribe(target),
            [two, end, Self.end([0x04, 0x06, 0x00, 0xFF, 0xFF])]
        )
        guard case .subscribed(let found) = progress else {
            Issue.record("\(progress)")
            return
        }
        #expect(found.valueHandle == AttributeHandle(5) && browser.isWanted(AttributeHandle(5)))
        let task = GATTBrowser.Task.write(target, [7], withResponse: true)
        #expect(try play(task, [two, end, ([0x12, 0x03, 0x00, 7], [0x13])]).0 == .written)
    }

    @Test("CB-10: a characteristic that neither notifies nor indicates is refused without a request")
    func notSubscribable() throws {
        let characteristic: Exchange = (Self.search, [0x09, 0x07, 0x02, 0x00, 0x02, 0x03, 0x00, 0x05, 0x2A])
        let (progress, _) = try play(
            .subscribe(.handle(AttributeHandle(3))),
            [characteristic, Self.end([0x08, 0x03, 0x00, 0xFF, 0xFF, 0x03, 0x28])]
        )
        #expect(progress == .failed(.procedure(.notSubscribable(AttributeHandle(3)))))
    }

    @Test("A device that answers for ever is left in time, and one of endless attributes after so many")
    func bounds() throws {
        var client = GATTClient()
        var browser = GATTBrowser(.tree)
        var progress = browser.begin(&client, now: .zero)
        var requests = 0
        // 32 services of 2,047 handles, whose ranges are full of characteristics at every third handle.
        while progress == .underWay, requests < 100_000, let sent = client.nextOutgoing() {
            requests += 1
            let start = sent.count > 2 ? Int(sent[1]) | Int(sent[2]) << 8 : 0
            let (value, end) = (min(start + 1, 0xFFFF), min(start + 2046, 0xFFFF))
            let answer: [UInt8] =
                switch sent[0] {
                case 0x02: [0x03, 0x17, 0x00]
                case 0x10: [0x11, 0x06, sent[1], sent[2], UInt8(end & 0xFF), UInt8(end >> 8), 0x0F, 0x18]
                case 0x08 where sent[5] == 0x03:
                    [0x09, 0x07, sent[1], sent[2], 0x02, UInt8(value & 0xFF), UInt8(value >> 8), 0x19, 0x2A]
                default: [0x01, sent[0], sent[1], sent[2], 0x0A]
                }
            _ = client.receive(answer.span, now: .zero)
            while let event = client.nextEvent() { progress = browser.handle(event, &client, now: .zero) }
        }
        guard case .failed(.procedure) = progress else {
            Issue.record("\(progress) after \(requests) requests")
            return
        }
        #expect(requests < 10_000)

        client = GATTClient()
        browser = GATTBrowser(.tree)
        _ = browser.begin(&client, now: .zero)
        _ = client.nextOutgoing()
        let answer: [UInt8] = [0x03, 0x17, 0x00]
        let late = GATTBrowser.timeLimit + .nanoseconds(1)
        _ = client.receive(answer.span, now: late)
        let next = client.nextEvent()
        let event = try #require(next)
        #expect(
            browser.handle(event, &client, now: late) == .failed(.procedure(.tookTooLong(limit: GATTBrowser.timeLimit)))
        )
    }

    @Test("An attribute is named by 0x and a handle, or by a UUID; nothing else is either")
    func targets() {
        #expect(GATTTarget("0x0012") == .handle(AttributeHandle(0x12)))
        #expect(GATTTarget("0X3") == .handle(AttributeHandle(3)))
        #expect(GATTTarget("2A00") == .uuid(BluetoothUUID(0x2A00 as UInt16)))
        #expect(GATTTarget("00002a00-0000-1000-8000-00805f9b34fb") == .uuid(BluetoothUUID(0x2A00 as UInt16)))
        for text in ["", "0x", "0x0", "0x0000", "0x10000", "0x+12", "0x-1", "12", "2A0", "read", "2A00 "] {
            #expect(GATTTarget(text) == nil, "\(text)")
        }
    }

    @Test("Common UUIDs have their names, and no other has one")
    func names() {
        #expect(AssignedNumbers.name(of: BluetoothUUID(0x180F as UInt16)) == "Battery")
        #expect(AssignedNumbers.name(of: BluetoothUUID(0x2902 as UInt16)) == "Client Characteristic Configuration")
        #expect(AssignedNumbers.name(of: BluetoothUUID(0xFFF0 as UInt16)) == nil)
        #expect(AssignedNumbers.name(of: Profile.linble.service) == nil)
    }
}
