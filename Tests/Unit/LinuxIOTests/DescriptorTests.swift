// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import LinuxIO

@Suite("Descriptors", .timeLimit(.minutes(5)))
struct DescriptorTests {
    /// Returns the flags of a descriptor: closed on exec, and non-blocking.
    private func flags(_ number: Int32) -> [Bool] {
        [fcntl(number, F_GETFD) & FD_CLOEXEC != 0, fcntl(number, F_GETFL) & O_NONBLOCK != 0]
    }

    /// Returns both ends of a socket pair.
    private func pair() throws -> [Int32] {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        return ends
    }

    @Test("Every descriptor is closed on exec, those that are waited for never block, and each is closed once")
    func flags() throws {
        let directory = try TestDirectory()
        try directory.write("before", to: "file")
        let file = try Descriptor.forWriting(directory("file"))
        let bytes: [UInt8] = [0x61]
        #expect(try file.write(bytes.span.bytes) == .done(1))
        let number = file.unownedNumber
        #expect(flags(number) == [true, false])
        #expect(FileSystem.line(of: directory("file")) == "a")
        let new = try Descriptor.forWriting(directory("new"))
        #expect(FileSystem.ownerAndMode(of: directory("new"))?.mode == 0o600)
        let reading = try Descriptor.forReading(directory("file"))
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(try reading.read(into: &buffer) == .done(1) && buffer[0] == 0x61)
        let numbers = [reading.unownedNumber, new.unownedNumber]
        #expect(numbers.allSatisfy { flags($0) == [true, false] })

        let ends = try Descriptor.pipe()
        #expect(flags(ends.output) == [true, true] && flags(ends.input) == [true, true])
        let output = Descriptor(owning: ends.output)
        let input = Descriptor(owning: ends.input)
        let copy = try input.duplicate()
        let copies = (copy.number, input.number)
        #expect(copies.0 != copies.1 && flags(copies.0)[0])
        _ = consume input
        #expect(try output.read(into: &buffer) == .wouldBlock)
        _ = consume copy
        #expect(try output.read(into: &buffer) == .done(0))

        let socket = try Descriptor.localSocket(.line)
        let waker = try Waker()
        let standard = try Descriptor.forStandardInput()
        let listener = try LocalListener(at: directory("socket"), mode: 0o600)
        let input0 = standard.number
        #expect(flags(input0)[0] && input0 > 2)
        let client = try LocalStream(connectingTo: directory("socket"))
        guard let accepted = try listener.accept() else {
            Issue.record("no client")
            return
        }
        let sockets = [
            socket.number, waker.descriptor.number, listener.descriptor.number, client.descriptor.number,
            accepted.descriptor.number,
        ]
        #expect(sockets.allSatisfy { flags($0) == [true, true] })
    }

    @Test("A packet longer than the buffer is marked as truncated; no packet and the peer's end are told apart")
    func packets() throws {
        let ends = try pair()
        let near = Descriptor(owning: ends[0])
        let far = Descriptor(owning: ends[1])
        let packet: [UInt8] = [1, 2, 3, 4, 5]
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(try near.receive(into: &buffer) == .wouldBlock)
        for length in [5, 4] { _ = try far.send(packet.span.extracting(first: length).bytes) }
        #expect(try near.receive(into: &buffer) == .done(ReceivedPacket(count: 4, isTruncated: true)))
        #expect(try near.receive(into: &buffer) == .done(ReceivedPacket(count: 4, isTruncated: false)))
        #expect(buffer == [1, 2, 3, 4])
        _ = consume far
        #expect(try near.receive(into: &buffer) == .done(ReceivedPacket(count: 0, isTruncated: false)))
        // A disconnected peer is an error, not a signal.
        #expect(throws: Errno.brokenPipe) { _ = try near.send(packet.span.bytes) }
    }

    @Test("The pending error of a socket is returned once; if it cannot be read, that is the error")
    func pendingError() throws {
        let socket = Descriptor(owning: socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(9).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        guard case .done = try socket.connect(to: address) else {
            Issue.record("a datagram socket connects")
            return
        }
        let none = socket.takePendingError()
        #expect(none == nil)
        let bytes: [UInt8] = [1]
        _ = try socket.send(bytes.span.bytes)
        // The refusal comes back as an error, for which poll needs no events.
        var entry = pollfd(fd: socket.unownedNumber, events: 0, revents: 0)
        let ready = poll(&entry, 1, 10_000)
        #expect(ready == 1)
        let error = socket.takePendingError()
        let again = socket.takePendingError()
        #expect(error == .connectionRefused && again == nil)
        let file = try Descriptor.forReading("/dev/null")
        let (fault, drops) = (file.takePendingError(), file.droppedPacketCount)
        #expect(fault == .notSocket && drops == 0)
    }

    @Test("A receive queue gets the size that was asked for, and what does not fit is counted with the next packet")
    func drops() throws {
        let receiver = Descriptor(
            owning: socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0),
            .link
        )
        #if DEBUG
            // Without the privilege.
            CallScript.use { $0.option == SO_RCVBUFFORCE ? .error(.notPermitted) : nil }
            receiver.raiseReceiveBuffer(to: 4096)
            CallScript.use(nil)
            #expect(try receiver.option(SOL_SOCKET, SO_RCVBUF, initial: Int32(0)) == 8192)
        #endif
        receiver.raiseReceiveBuffer(to: 8192)
        #expect(try receiver.option(SOL_SOCKET, SO_RCVBUF, initial: Int32(0)) == 16_384)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try receiver.bind(to: address)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = receiver.number
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(number, $0, &length) }
        }
        let sender = Descriptor(owning: socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0))
        _ = try sender.connect(to: address)
        let socket = L2CAPSocket(accepted: consume receiver, receiveBuffer: 8192)
        let packet = [UInt8](repeating: 0x1B, count: 500)
        for _ in 0..<100 { _ = try sender.send(packet.span.bytes) }
        var taken: [UInt32] = []
        while case .done = try socket.receive({ taken.append($0.count == 500 ? $1 : 999) }) {}
        #expect(!taken.isEmpty && taken.allSatisfy { $0 == 0 })
        _ = try sender.send(packet.span.bytes)
        while case .done = try socket.receive({ taken.append($1) }) {}
        let drops = socket.descriptor.droppedPacketCount
        #expect(taken.last == UInt32(101 - taken.count) && drops == taken.last)
    }
}
