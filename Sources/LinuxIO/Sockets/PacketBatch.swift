// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
import SystemPackage

/// The packets that one system call has taken from a socket, each in a place of its own; the next call overwrites them
/// (C: `recvmmsg`).
@safe
package final class PacketBatch {
    /// The most packets that one call takes.
    package static let places = 16

    private let size: Int
    private let bytes: UnsafeMutablePointer<UInt8>
    private let vectors: UnsafeMutablePointer<iovec>
    private let messages: UnsafeMutablePointer<blewedge_message>
    package private(set) var count = 0

    /// No packets yet, with places of so many bytes.
    package init(size: Int) {
        self.size = size
        // Sound: all of it is initialised here, holds no references, and lives as long as this object; each vector names
        // its place with the place's size, and each header its vector. The kernel writes into the headers their flags only.
        unsafe bytes = .allocate(capacity: size * Self.places)
        unsafe bytes.initialize(repeating: 0, count: size * Self.places)
        unsafe vectors = .allocate(capacity: Self.places)
        unsafe messages = .allocate(capacity: Self.places)
        for place in 0..<Self.places {
            unsafe (vectors + place).initialize(to: iovec(iov_base: bytes + place * size, iov_len: size))
            var message = unsafe blewedge_message()
            unsafe message.header.msg_iov = unsafe vectors + place
            unsafe message.header.msg_iovlen = 1
            unsafe (messages + place).initialize(to: message)
        }
    }

    deinit {
        // Sound: allocated in the initialiser; integers and pointers need no deinitialisation.
        unsafe messages.deallocate()
        unsafe vectors.deallocate()
        unsafe bytes.deallocate()
    }

    /// The bytes of a packet, at most a place's; to be asked for packets that are here only.
    package subscript(index: Int) -> Span<UInt8> {
        @_lifetime(borrow self)
        get {
            precondition(index >= 0 && index < count, "no packet there")
            // Sound: the place is one of those allocated, and the count is at most its size, all of it initialised. The
            // object lives as long as the span, and the bytes change in `receive` only.
            let length = unsafe min(Int(messages[index].length), size)
            let place = unsafe UnsafePointer(bytes + index * size)
            let span = unsafe Span(_unsafeStart: place, count: length)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Takes the packets that wait, as many as there are places.
    func receive(from descriptor: borrowing Descriptor) throws(Errno) -> NonBlocking<Int> {
        let (number, site) = (descriptor.number, CallSite(descriptor.kind, .recvmmsg))
        count = 0
        let result = try SystemCall.runNonBlocking(site) {
            // Sound: the messages are as many as is said, and what they name is this object's.
            unsafe blewedge_receive_many(number, messages, UInt32(Self.places))
        }
        switch result {
        case .wouldBlock: return .wouldBlock
        case .done(let received):
            count = min(Int(received), Self.places)
            return .done(count)
        }
    }
}
