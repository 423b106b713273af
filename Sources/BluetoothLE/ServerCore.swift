// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO

/// The peripheral's part of an adapter: advertising, and a GATT server over the channels of the centrals that connect.
///
/// To be used on the loop's thread.
final class ServerCore {
    private final class Link {
        let channel: any ATTChannel
        var client = GATTClient()
        var unsent: [UInt8]?

        init(_ channel: any ATTChannel) {
            self.channel = channel
        }
    }

    private unowned let adapter: AdapterCore
    private let loop: EventLoop
    private var isAdvertising = false
    private var server: GATTServer
    private var links: [GATTServer.PeerID: Link] = [:]
    private var timer: EventLoop.Timer?
    private var isPumping = false
    private let onEvent: (ServerCore, GATTServer.Event) -> Void
    private let onConnection: (GATTServer.PeerID, DeviceAddress, DisconnectReason?) -> Void

    init(
        _ adapter: AdapterCore,
        _ database: GATTServerDatabase,
        onEvent: @escaping (ServerCore, GATTServer.Event) -> Void,
        onConnection: @escaping (GATTServer.PeerID, DeviceAddress, DisconnectReason?) -> Void
    ) {
        self.adapter = adapter
        loop = adapter.loop
        server = GATTServer(database)
        self.onEvent = onEvent
        self.onConnection = onConnection
    }

    deinit { close() }

    /// The centrals that are connected.
    var centrals: [GATTServer.PeerID: DeviceAddress] { links.mapValues { $0.channel.device } }

    func subscribers(of handle: AttributeHandle) -> [GATTServer.PeerID] { server.subscribers(of: handle) }

    // MARK: Advertising

    func advertise(_ advertisement: Advertisement, _ reply: Reply<Void>) throws(BluetoothError) {
        let backend = try adapter.ready()
        isAdvertising = true
        backend.advertise(
            advertisement,
            onConnection: { [weak self] channel in
                guard let self else { return channel.close() }
                accept(channel)
            },
            completion: { result in
                reply.give(result.mapError { .advertisingFailed(cause: $0.cause) })
            }
        )
    }

    func stopAdvertising(_ reply: Reply<Void>) {
        isAdvertising = false
        guard let backend = adapter.backend else { return reply.give(.success(())) }
        backend.stopAdvertising { reply.give(.success(())) }
    }

    // MARK: Centrals

    private func accept(_ channel: any ATTChannel) {
        let link = Link(channel)
        let id = server.connect()
        links[id] = link
        channel.onReceive = { [weak self] pdu in self?.receive(pdu, from: id) }
        channel.onWritable = { [weak self] in self?.pump() }
        channel.onClosed = { [weak self] failure in self?.end(id, DisconnectReason(failure)) }
        onConnection(id, channel.device, nil)
    }

    /// Ends the connection with a central.
    func disconnect(_ id: GATTServer.PeerID) {
        guard let device = links[id]?.channel.device else { return }
        end(id, .requested)
        adapter.backend?.disconnect(device) {}
    }

    private func end(_ id: GATTServer.PeerID, _ reason: DisconnectReason) {
        guard let link = links.removeValue(forKey: id) else { return }
        link.channel.close()
        server.disconnect(id)
        pump()
        onConnection(id, link.channel.device, reason)
    }

    /// The adapter is gone, and every central with it.
    func adapterLost(_ reason: String) {
        isAdvertising = false
        for id in Array(links.keys) { end(id, .adapterLost(reason)) }
    }

    /// Ends everything at once.
    func close() {
        if let timer { loop.cancel(timer) }
        timer = nil
        for link in links.values { link.channel.close() }
        links = [:]
        if isAdvertising { adapter.backend?.stopAdvertising {} }
        isAdvertising = false
    }

    // MARK: Serving

    /// Answers, updates or asks the server; what follows from it is sent.
    func perform<Value>(
        _ body: (inout GATTServer) throws(GATTServerError) -> Value
    ) throws(BluetoothError) -> Value {
        defer { pump() }
        do throws(GATTServerError) {
            return try body(&server)
        } catch {
            throw .server(error)
        }
    }

    private func receive(_ pdu: Span<UInt8>, from id: GATTServer.PeerID) {
        guard let link = links[id] else { return }
        _ = link.client.receive(pdu, from: id, for: &server, now: MonotonicClock.now)
        pump()
    }

    /// Sends what waits, reports what has happened, and sets the timer anew.
    private func pump() {
        // Who hears of an event may answer it: that is sent by the loop below, not by a second one inside it.
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        repeat {
            for (id, link) in links { send(link, id) }
            guard let event = server.nextEvent() else { break }
            onEvent(self, event)
        } while true
        armTimer()
    }

    private func send(_ link: Link, _ id: GATTServer.PeerID) {
        do throws(LinkFailure) {
            while let pdu = link.unsent
                ?? link.client.nextOutgoing(to: id, from: &server, now: MonotonicClock.now)
            {
                link.unsent = pdu
                guard try link.channel.send(pdu) else { return }
                link.unsent = nil
            }
            if let failure = link.client.failure { throw .bearer(failure) }
        } catch {
            end(id, DisconnectReason(error))
        }
    }

    private func armTimer() {
        if let timer { loop.cancel(timer) }
        let deadlines = links.values.compactMap(\.client.deadline) + [server.deadline].compactMap(\.self)
        timer = deadlines.min().map { deadline in
            loop.schedule(at: deadline) { [weak self] in
                guard let self else { return }
                timer = nil
                let now = MonotonicClock.now
                server.handleDeadline(now: now)
                for link in links.values { link.client.handleDeadline(now: now) }
                pump()
            }
        }
    }
}
