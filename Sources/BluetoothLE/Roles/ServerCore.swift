// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO

/// The peripheral's part of an adapter: advertising, and a GATT server over the channels of the centrals that connect.
///
/// To be used on the loop's thread.
package final class ServerCore {
    private final class Link {
        let channel: any ATTChannel
        var client = GATTClient()
        var unsent: [UInt8]?

        init(_ channel: any ATTChannel) {
            self.channel = channel
        }
    }

    private let radio: RadioArbiter
    private var isAdvertising = false
    private var server: GATTServer
    private var links: [GATTServer.PeerID: Link] = [:]
    private var timer: EventLoop.Timer?
    private var isPumping = false
    private let onEvent: (ServerCore, GATTServer.Event) -> Void
    private let onConnection: (GATTServer.PeerID, DeviceAddress, DisconnectReason?) -> Void

    /// A server of a database that nobody can reach yet.
    package init(
        _ radio: RadioArbiter,
        _ database: GATTServerDatabase,
        onEvent: @escaping (ServerCore, GATTServer.Event) -> Void,
        onConnection: @escaping (GATTServer.PeerID, DeviceAddress, DisconnectReason?) -> Void
    ) {
        self.radio = radio
        server = GATTServer(database)
        self.onEvent = onEvent
        self.onConnection = onConnection
    }

    deinit { close() }

    /// The centrals that are connected.
    package var centrals: [GATTServer.PeerID: DeviceAddress] { links.mapValues { $0.channel.device } }

    /// The centrals that want a characteristic's values.
    package func subscribers(of handle: AttributeHandle) -> [GATTServer.PeerID] { server.subscribers(of: handle) }

    /// The longest PDU that may pass between us and a central, in bytes; nil for one that has gone.
    package func mtu(of id: GATTServer.PeerID) -> UInt16? { links[id]?.client.mtu }

    // MARK: Advertising

    /// Advertises until `stopAdvertising`; `completion` is called once, later.
    package func advertise(
        _ advertisement: Advertisement,
        completion: @escaping (Result<Void, BluetoothError>) -> Void
    ) throws(BluetoothError) {
        try radio.advertise(
            advertisement,
            for: self,
            onConnection: { [weak self] channel in
                guard let self else { return channel.close() }
                accept(channel)
            },
            completion: { result in completion(result.mapError { .advertisingFailed(cause: $0.cause) }) }
        )
        isAdvertising = true
    }

    /// Advertises no more; the centrals stay.
    package func stopAdvertising(completion: @escaping () -> Void) {
        isAdvertising = false
        radio.stopAdvertising(completion: completion)
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

    /// Ends the connection with a central; `completion` is called when it is no more.
    package func disconnect(_ id: GATTServer.PeerID, completion: @escaping () -> Void = {}) {
        guard let device = links[id]?.channel.device else { return completion() }
        end(id, .requested)
        radio.disconnect(device, completion: completion)
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
    package func close() {
        if let timer { radio.loop.cancel(timer) }
        timer = nil
        for link in links.values { link.channel.close() }
        links = [:]
        if isAdvertising { radio.stopAdvertising {} }
        isAdvertising = false
    }

    // MARK: Serving

    /// Answers, updates or asks the server; what follows from it is sent.
    package func perform<Value>(
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
        if let timer { radio.loop.cancel(timer) }
        let deadlines = links.values.compactMap(\.client.deadline) + [server.deadline].compactMap(\.self)
        timer = deadlines.min().map { deadline in
            radio.loop.schedule(at: deadline) { [weak self] in
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
