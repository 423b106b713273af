// SPDX-License-Identifier: GPL-2.0-or-later

import CBluetooth
import CLinux
package import SystemPackage

/// The socket by which a service reports its state to its manager.
///
/// sd_notify(3), systemd.service(5) Type=notify.
package struct NotifySocket: ~Copyable {
    private let socket: Descriptor
    private var address: sockaddr_un
    private let length: socklen_t

    /// A socket to the manager that listens at `path`: a file or, after an `@`, a name of the abstract space.
    ///
    /// Throws `invalidArgument` for any other text, `fileNameTooLong` for one that no address holds. The corresponding
    /// C function is `socket`.
    package init(_ path: String) throws(Errno) {
        var bytes = Array(path.utf8)
        guard let first = bytes.first, bytes.count > 1 else { throw .invalidArgument }
        let isAbstract = first == UInt8(ascii: "@")
        guard isAbstract || first == UInt8(ascii: "/"), !bytes.contains(0) else { throw .invalidArgument }
        if isAbstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .fileNameTooLong }
        // Sound: the bytes were found to fit, and the rest of the field is zero.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in unsafe field.copyBytes(from: bytes) }
        let made = try Descriptor.localDatagramSocket()
        self.address = address
        // An abstract name has no zero at its end; a path is given with it.
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        socket = made
    }

    /// Sends assignments, a line each, such as `READY=1`; a manager that does not listen hears nothing.
    ///
    /// The corresponding C function is `sendto`.
    package mutating func send(_ text: String) {
        let bytes = Array(text.utf8)
        let number = socket.number
        let length = length
        // Sound: both are used within the closures, with their own lengths.
        unsafe withUnsafeBytes(of: &address) { address in
            unsafe bytes.withUnsafeBytes { bytes in
                let target = unsafe address.baseAddress?.assumingMemoryBound(to: sockaddr.self)
                _ = unsafe sendto(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL), target, length)
            }
        }
    }
}

extension Descriptor {
    /// A non-blocking datagram socket of the unix family, closed on exec.
    ///
    /// The corresponding C function is `socket`.
    fileprivate static func localDatagramSocket() throws(Errno) -> Descriptor {
        let flags = blewedge_SOCK_DGRAM | blewedge_SOCK_NONBLOCK | blewedge_SOCK_CLOEXEC
        return Descriptor(owning: try SystemCall.run { CLinux.socket(AF_UNIX, flags, 0) })
    }
}
