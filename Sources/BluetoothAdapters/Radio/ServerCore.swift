// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets
import LinuxIO

/// The peripheral role on the loop's thread: advertising, and a GATT server with the channels of its centrals.
///
/// Every method is called on the loop's thread.
package final class ServerCore {
    /// The connection of one central; `unsent` is the PDU for which the channel had no room.
    private final class Link {
        let channel: any ATTChannel
        var client: GATTClient
        /// The link's security when it was last passed to the server.
        var security: GATTLinkSecurity
        var unsent: [UInt8]?

        init(_ channel: any ATTChannel, _ mtu: UInt16) {
            self.channel = channel
            client = GATTClient(localMTU: mtu)
            security = channel.security
        }
    }

    private let radio: RadioArbiter
    private var isAdvertising = false
    private var server: GATTServer
    private var links: [GATTServer.PeerID: Link] = [:]
    private let timer = LoopTimer()
    private var isPumping = false
    private let mtu: UInt16
    private let onEvent: (ServerCore, GATTServer.Event) -> Void
    private let onConnection: (GATTServer.PeerID, DeviceAddress, DisconnectReason?) -> Void

    /// The handler of a change of a central's security, called before the central's next request is processed.
    ///
    /// Set it before the server advertises.
    package var onSecurity: ((GATTServer.PeerID, GATTLinkSecurity) -> Void)?

    /// Creates a server for a database; it does not advertise yet.
    ///
    /// `mtu` is the maximum ATT_MTU of a connection, 23 to 517 bytes. `onEvent` receives the events of the GATT server.
    /// `onConnection` is called when a central has connected, and when it has disconnected, with the reason.
    package init(
        _ radio: RadioArbiter,
        _ database: GATTServerDatabase,
        mtu: UInt16 = ATTBearer.largestUsefulMTU,
        onEvent: @escaping (ServerCore, GATTServer.Event) -> Void,
        onConnection: @escaping (GATTServer.PeerID, DeviceAddress, DisconnectReason?) -> Void
    ) {
        self.radio = radio
        self.mtu = mtu
        server = GATTServer(database)
        self.onEvent = onEvent
        self.onConnection = onConnection
    }

    deinit { close() }

    package var centrals: [GATTServer.PeerID: DeviceAddress] { links.mapValues { $0.channel.device } }

    /// Returns the centrals subscribed to a characteristic's values.
    package func subscribers(of handle: AttributeHandle) -> [GATTServer.PeerID] { server.subscribers(of: handle) }

    /// Returns the ATT_MTU of the connection with a central in bytes; nil if the central is not connected.
    package func mtu(of id: GATTServer.PeerID) -> UInt16? { links[id]?.client.mtu }

    // MARK: Advertising

    /// Advertises until `stopAdvertising`.
    ///
    /// `completion` is called once, asynchronously. Throws `unavailable` if there is no adapter, and `serverExists` if
    /// another server that has advertised on it still exists.
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

    /// Stops advertising; existing connections stay open.
    ///
    /// `completion` is called when the controller has stopped.
    package func stopAdvertising(completion: @escaping () -> Void) {
        isAdvertising = false
        radio.stopAdvertising(completion: completion)
    }

    // MARK: Centrals

    private func accept(_ channel: any ATTChannel) {
        let link = Link(channel, mtu)
        let id = server.connect(security: link.security)
        links[id] = link
        channel.onReceive = { [weak self] pdu in self?.receive(pdu, from: id) }
        channel.onWritable = { [weak self] in self?.pump() }
        channel.onClosed = { [weak self] failure in self?.end(id, DisconnectReason(failure)) }
        onConnection(id, channel.device, nil)
        guard onSecurity != nil, links[id] != nil else { return }
        if link.security.level > .none { onSecurity?(id, link.security) }
        channel.onSecurity = { [weak self] in self?.noteSecurity(of: id) }
    }

    /// Passes the link's current security to the server.
    private func noteSecurity(of id: GATTServer.PeerID) {
        guard let link = links[id], link.channel.security != link.security else { return }
        link.security = link.channel.security
        server.setSecurity(link.security, of: id)
        onSecurity?(id, link.security)
    }

    /// Ends the connection with a central; `completion` is called when the controller has ended it.
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

    /// Ends all connections after a loss of the adapter.
    func adapterLost(_ reason: String) {
        isAdvertising = false
        for id in Array(links.keys) { end(id, .adapterLost(reason)) }
    }

    /// Ends all connections and stops advertising immediately.
    package func close() {
        timer.cancel()
        for link in links.values { link.channel.close() }
        links = [:]
        if isAdvertising { radio.stopAdvertising {} }
        isAdvertising = false
    }

    // MARK: Serving

    /// Calls `body` with the GATT server, and then sends the resulting PDUs and reports the resulting events.
    ///
    /// Throws the error of `body` as `server`.
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
        // After its request is rejected, a central pairs or encrypts the link, and repeats the request.
        noteSecurity(of: id)
        _ = link.client.receive(pdu, from: id, for: &server, now: MonotonicClock.now)
        pump()
    }

    /// Sends the queued PDUs, reports the events, and sets the timer to the next deadline.
    private func pump() {
        // An event handler may call `perform`. The loop below sends the response, so no nested loop is started.
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
        let deadlines = links.values.compactMap(\.client.deadline) + [server.deadline].compactMap(\.self)
        timer.set(on: radio.loop, at: deadlines.min()) { [weak self] in
            guard let self else { return }
            let now = MonotonicClock.now
            server.handleDeadline(now: now)
            for link in links.values { link.client.handleDeadline(now: now) }
            pump()
        }
    }
}
