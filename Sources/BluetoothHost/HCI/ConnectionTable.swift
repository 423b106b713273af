// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothPackets

/// Connections of a host, keyed by their handles.
///
/// It shares the controller's buffers among the connections in round-robin order, and stores data that arrives before
/// its connection is reported.
struct ConnectionTable: Sendable {
    /// Maximum number of packets stored for connections that are not yet known, and maximum age of these packets.
    ///
    /// Older packets belong to a connection that has ended.
    private static let earlyCapacity = 8
    private static let earlyLife = Duration.milliseconds(500)

    private var links: [UInt16: HostLink] = [:]
    private var early: [(handle: UInt16, packet: [UInt8], time: Duration)] = []
    /// Handle of the connection whose data was sent last; the connection with the next higher handle is served next.
    private var lastServed: UInt16 = 0

    var count: Int { links.count }
    var connections: [LowEnergyHost.Connection] { links.values.map { $0.connection } }
    /// Number of data packets in the controller's buffers.
    var inFlight: Int { links.values.reduce(0) { $0 &+ $1.inFlight } }
    var storedBytes: Int {
        links.values.reduce(early.reduce(0) { $0 &+ $1.packet.count }) { $0 &+ $1.storedBytes }
    }
    /// Earliest deadline of a connection; nil if no connection has a deadline.
    var deadline: Duration? { links.values.lazy.compactMap { $0.deadline }.min() }

    subscript(handle: UInt16) -> HostLink? {
        get { links[handle] }
        _modify { yield &links[handle] }
    }

    func contains(_ handle: UInt16) -> Bool { links.index(forKey: handle) != nil }

    func isOpen(_ handle: UInt16) -> Bool { links[handle]?.isEnding == false }

    mutating func add(_ connection: LowEnergyHost.Connection, _ timing: ConnectionTiming) {
        links[connection.handle] = HostLink(connection, timing)
    }

    /// Marks a connection as reported to the caller; returns the packets that arrived before LE Connection Complete.
    mutating func announce(_ handle: UInt16, now: Duration, _ counters: inout LowEnergyHost.Counters) -> [[UInt8]] {
        links[handle]?.announce()
        dropLateData(now, &counters)
        defer { dropEarlyData(of: handle) }
        return early.filter { $0.handle == handle }.map { $0.packet }
    }

    /// Removes a connection and frees its buffers, because the controller discards the data of a connection that has
    /// ended (Core 6.0, Vol 4, Part E, 4.3).
    mutating func remove(_ handle: UInt16) -> HostLink? {
        dropEarlyData(of: handle)
        return links.removeValue(forKey: handle)
    }

    mutating func dropEarlyData(of handle: UInt16) {
        early.removeAll { $0.handle == handle }
    }

    /// Discards packets whose connection did not start in time, because they belong to a connection that has ended
    /// (BT-9).
    private mutating func dropLateData(_ now: Duration, _ counters: inout LowEnergyHost.Counters) {
        let before = early.count
        early.removeAll { now - $0.time > Self.earlyLife }
        counters.strayPackets &+= UInt64(before - early.count)
    }

    /// Stores a packet of a connection that is not yet known.
    ///
    /// Over USB, data may arrive before LE Connection Complete.
    mutating func keepEarly(
        _ packet: Span<UInt8>,
        _ handle: UInt16,
        now: Duration,
        _ counters: inout LowEnergyHost.Counters
    ) {
        dropLateData(now, &counters)
        if early.count < Self.earlyCapacity, packet.count <= HostLink.maximumPayload {
            early.append((handle, [UInt8](copying: packet), now))
        } else {
            counters.strayPackets &+= 1
        }
    }

    /// Returns the next data packet, serving the connections in turn; nil if no packet can be sent.
    mutating func nextPacket(_ buffers: DataBuffers?, now: Duration, _ output: inout HostOutput) -> [UInt8]? {
        let ready = links.values.filter { $0.hasOutgoing }.map { $0.connection.handle }
        guard let handle = ready.filter({ $0 > lastServed }).min() ?? ready.min(), let buffers,
            inFlight < Int(buffers.packetCount),
            let packet = links[handle]?.nextPacket(length: Int(buffers.dataLength), now: now)
        else { return nil }
        lastServed = handle
        if links[handle]?.takeRoom() == true { output.emit(.writable(handle: handle)) }
        return packet
    }

    /// Processes the controller's report of completed packets.
    mutating func complete(_ completed: CompletedPackets, now: Duration, _ output: inout HostOutput) {
        for entry in completed.entries {
            let done = links[entry.handle]?.complete(Int(entry.count), now: now) ?? 0
            if done < Int(entry.count) { output.counters.falseCompletions &+= 1 }
            endDrained(entry.handle, now: now, &output)
        }
    }

    mutating func receive(
        _ subevent: LESubevent,
        _ parameters: Span<UInt8>,
        _ output: inout HostOutput
    ) throws(DecodingError) {
        switch subevent {
        case .connectionUpdateComplete:
            let event = try LEConnectionUpdateComplete(parameters)
            links[event.handle]?.take(event, &output)
        case .remoteConnectionParameterRequest:
            let event = try LERemoteConnectionParameterRequest(parameters)
            links[event.handle]?.take(event, &output)
        case .phyUpdateComplete:
            let event = try LEPHYUpdateComplete(parameters)
            links[event.handle]?.take(event)
        case .dataLengthChange:
            let event = try LEDataLengthChange(parameters)
            links[event.handle]?.take(event)
        default: break
        }
    }

    /// Ends a connection when its queued data has been sent, but no later than after `drainTime`.
    mutating func end(_ handle: UInt16, _ reason: HCIStatus, now: Duration, _ output: inout HostOutput) {
        guard isOpen(handle) else { return }
        links[handle]?.end(reason, now: now)
        endDrained(handle, now: now, &output)
    }

    /// Disconnects a connection that is being ended, if its queue is empty or its drain time is over.
    private mutating func endDrained(_ handle: UInt16, now: Duration, _ output: inout HostOutput) {
        guard let reason = links[handle]?.takeDrained(at: now) else { return }
        output.request(.disconnect(handle: handle, reason: reason), .disconnect(handle))
    }

    /// Disconnects connections whose drain time is over; fails the host if the controller has kept a connection or its
    /// data for too long.
    mutating func handleDeadline(now: Duration, _ output: inout HostOutput) {
        for handle in links.keys.sorted() {
            endDrained(handle, now: now, &output)
            if let failure = links[handle]?.failure(at: now) { output.fail(failure) }
        }
    }
}
