// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO
import SystemPackage

/// An ATT channel over this process's host stack; used on the event loop's thread.
package final class HostChannel: ATTChannel {
    let connection: LowEnergyHost.Connection
    private weak var adapter: HostAdapter?
    private var isOpen = true
    /// The requested security level and the handler of the result; nil if no request is pending.
    private var securing: (level: GATTLinkSecurity.Level, completion: (Result<Void, LinkFailure>) -> Void)?
    private var early = Duration.zero
    private var packets = EarlyPackets()
    private let timer = LoopTimer()
    /// Maximum time for encrypting the link.
    private static let securingTime = Duration.seconds(10)

    package private(set) var security: GATTLinkSecurity
    package var onSecurity: (() -> Void)?
    package private(set) var timing: ConnectionTiming?
    package var onTiming: ((ConnectionTiming) -> Void)?
    package var onReceive: ((Span<UInt8>) -> Void)?
    /// Never called: no packet is dropped between the host stack and this channel.
    package var onGap: (() -> Void)?
    package var onWritable: (() -> Void)?
    package var onClosed: ((LinkFailure) -> Void)?

    init(_ connection: LowEnergyHost.Connection, _ adapter: HostAdapter) {
        self.connection = connection
        self.adapter = adapter
        security = adapter.host.security(of: connection.handle)
        timing = adapter.host.timing(of: connection.handle)
    }

    package var device: DeviceAddress { connection.peer }
    /// Always 0: no packet is dropped between the host stack and this channel.
    package var droppedPackets: UInt32 { 0 }

    package func send(_ pdu: [UInt8]) throws(LinkFailure) -> Bool {
        guard isOpen, let adapter else { throw .system(.socketNotConnected) }
        return adapter.send(pdu, on: connection.handle)
    }

    package var refusedPackets: UInt64 { packets.refused }
    package var earlyValues: EarlyValues { packets.values }

    package func secure(
        _ level: GATTLinkSecurity.Level,
        early: Duration = .zero,
        completion: @escaping (Result<Void, LinkFailure>) -> Void
    ) {
        guard isOpen, let adapter else { return }
        securing = (level, completion)
        self.early = early
        timer.set(on: adapter.loop, after: Self.securingTime) { [weak self] in self?.finishSecuring() }
        // An earlier Security Request from the peer may have started encryption already.
        let isBegun = adapter.perform { host in
            host.isEncrypting(connection.handle) || host.encrypt(connection.handle)
        }
        // The completion handler is called later, after this method has returned.
        if !isBegun { adapter.later { [weak self] in self?.finishSecuring() } }
    }

    private func finishSecuring() {
        guard let (level, completion) = securing else { return }
        securing = nil
        timer.cancel()
        let isSecured = security.suffices(for: level)
        let accepted = packets.take(encryptedAt: isSecured ? MonotonicClock.now : nil, early: early)
        completion(isSecured ? .success(()) : .failure(.notSecured))
        for pdu in accepted {
            // The handler may have closed the channel.
            if let onReceive { onReceive(pdu.span) } else { packets.refuse(pdu.span) }
        }
    }

    func take(_ security: GATTLinkSecurity) {
        self.security = security
        finishSecuring()
        onSecurity?()
    }

    func take(_ timing: ConnectionTiming) {
        self.timing = timing
        onTiming?(timing)
    }

    /// Passes on a PDU; while the link is being secured, keeps it until that has finished.
    func receive(_ pdu: [UInt8]) {
        if securing == nil { onReceive?(pdu.span) } else { packets.add(pdu, at: MonotonicClock.now) }
    }

    /// Closes the channel and ends the connection, because the connection has no other channel.
    package func close() {
        guard isOpen else { return }
        forget()
        adapter?.end(connection)
    }

    /// Reports the end of the connection, once.
    func noteEnd(_ failure: LinkFailure) {
        guard isOpen else { return }
        let handler = onClosed
        forget()
        handler?(failure)
    }

    private func forget() {
        isOpen = false
        securing = nil
        packets.refuseAll()
        timer.cancel()
        onReceive = nil
        onTiming = nil
        onSecurity = nil
        onWritable = nil
        onClosed = nil
    }
}

extension LinkFailure {
    /// Creates the failure for an HCI status; it contains the `Errno` that the kernel's sockets would report.
    init(_ status: HCIStatus) {
        switch status {
        case .remoteUserTerminatedConnection: self = .system(.connectionReset)
        case .connectionTimeout: self = .system(.timedOut)
        case .connectionFailedToBeEstablished: self = .notEstablished
        case .connectionTerminatedByLocalHost: self = .system(.connectionAbort)
        case .connectionLimitExceeded: self = .system(.tooManyLinks)
        case .connectionAlreadyExists: self = .system(.socketIsConnected)
        case .commandDisallowed: self = .system(.resourceBusy)
        default: self = .system(.connectionAbort)
        }
    }
}

/// A connection attempt by this library's host stack.
final class HostAttempt: ConnectionAttempt {
    let device: DeviceAddress
    let timeout: Duration
    private weak var adapter: HostAdapter?
    private var completion: ((Result<any ATTChannel, LinkFailure>) -> Void)?

    init(
        _ device: DeviceAddress,
        _ timeout: Duration,
        _ adapter: HostAdapter,
        _ completion: @escaping (Result<any ATTChannel, LinkFailure>) -> Void
    ) {
        self.device = device
        self.timeout = timeout
        self.adapter = adapter
        self.completion = completion
    }

    package func cancel() {
        completion = nil
        adapter?.cancel(self)
    }

    func finish(_ result: Result<any ATTChannel, LinkFailure>) {
        let handler = completion
        completion = nil
        handler?(result)
    }
}
