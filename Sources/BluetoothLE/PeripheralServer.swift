// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
public import BluetoothHost
public import BluetoothPackets
import LinuxIO

/// A central that is connected to a server.
public struct ConnectedCentral: Hashable, Sendable {
    /// The identifier of the connection, valid until the connection ends.
    public var id: GATTServer.PeerID
    /// The central's address.
    public var address: DeviceAddress
}

/// Events of a server, except the requests that its handlers answer.
public enum ServerEvent: Hashable, Sendable {
    case connected(ConnectedCentral)
    case disconnected(ConnectedCentral, DisconnectReason)
    /// A central has subscribed to a characteristic's values (CB-25).
    case subscribed(ConnectedCentral, AttributeHandle, GATTSubscriptionKind)
    /// A central has ended its subscription, or has disconnected (CB-25).
    case unsubscribed(GATTServer.PeerID, AttributeHandle)
    /// A central wrote a value stored by the server; the bytes are the new value.
    case written(ConnectedCentral, AttributeHandle, [UInt8])
    /// A central wrote a dynamic value (one that the server does not store), without requesting a response.
    case command(ConnectedCentral, AttributeHandle, [UInt8])
    /// A central's queue, which was full when a value was sent, has room again (CB-26).
    case readyToUpdate(GATTServer.PeerID)
    /// A central has confirmed an indication.
    case confirmed(GATTServer.PeerID, AttributeHandle)
}

/// The functions that answer requests for dynamic values, which the server does not store.
///
/// The function's result, or the error that it throws, is sent as the response. A request that is not answered within
/// 20 s is rejected with Unlikely Error (0x0E).
public struct ServerHandlers: Sendable {
    /// Returns the whole value, at most 512 bytes; the server sends the part requested by the central (CB-23).
    public var read: @Sendable (ConnectedCentral, AttributeHandle) async throws(ATTError) -> [UInt8]
    /// Accepts a write of one or more values as a whole, or throws an error to reject it (CB-24).
    public var write: @Sendable (ConnectedCentral, [GATTServer.Write]) async throws(ATTError) -> Void

    /// Creates handlers.
    ///
    /// By default, reads are rejected with Read Not Permitted, and writes with Write Not Permitted.
    public init(
        read: @escaping @Sendable (ConnectedCentral, AttributeHandle) async throws(ATTError) -> [UInt8] = {
            (_, _) throws(ATTError) in throw .readNotPermitted
        },
        write: @escaping @Sendable (ConnectedCentral, [GATTServer.Write]) async throws(ATTError) -> Void = {
            (_, _) throws(ATTError) in throw .writeNotPermitted
        }
    ) {
        self.read = read
        self.write = write
    }
}

/// The peripheral role: advertises, and serves a GATT database to the centrals that connect.
///
/// It runs on its adapter's thread. After a loss of the adapter, call `advertise` again (CB-20).
public actor PeripheralServer {
    /// The adapter.
    public nonisolated let adapter: BluetoothAdapter
    /// The GATT database.
    public nonisolated let database: GATTServerDatabase
    /// The event sequence.
    ///
    /// At most 1,024 events are buffered; on overflow the oldest is discarded and counted.
    public nonisolated let events: BoundedSequence<ServerEvent>

    /// The executor of the adapter's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe adapter.unownedExecutor }

    private nonisolated let core: LoopBound<ServerCore>

    /// Creates a server for a database from `GATTDatabaseBuilder`; only one server per adapter can advertise.
    public init(_ adapter: BluetoothAdapter, database: GATTServerDatabase, handlers: ServerHandlers = ServerHandlers())
    {
        self.adapter = adapter
        self.database = database
        let events = BoundedSequence<ServerEvent>(capacity: 1024, dropping: .oldest)
        self.events = events
        let executor = adapter.thread.executor
        let (owner, source) = (adapter.roles, events.source)
        let box = ServerBox()
        core = LoopBound(to: executor) { _ in
            let core = ServerCore(
                owner.value.core.radio,
                database,
                onEvent: { core, event in
                    Self.take(event, core, handlers, source) { work in
                        executor.submit { [weak box] in if let core = box?.core { work(core) } }
                    }
                },
                onConnection: { id, address, reason in
                    let central = ConnectedCentral(id: id, address: address)
                    source.send(reason.map { .disconnected(central, $0) } ?? .connected(central))
                }
            )
            box.core = core
            return core
        }
        self.box = box
    }

    /// A weak reference to the server, through which the handlers' responses return; used only on the loop's thread.
    private final class ServerBox: @unchecked Sendable {
        weak var core: ServerCore?
    }

    private nonisolated let box: ServerBox

    // MARK: Advertising

    /// Advertises until `stopAdvertising`, and again after each connection; replaces any previous advertisement
    /// (CB-22).
    ///
    /// Data that does not fit into the 31 bytes of the advertisement is placed in the scan response. Throws
    /// `advertisementTooLong`, with the sizes, if the data does not fit there either. Also throws `serverExists`,
    /// `advertisingFailed`, `unavailable` and `cancelled`.
    public func advertise(
        _ content: AdvertisementLayout.Content,
        isConnectable: Bool = true,
        interval: Duration = .milliseconds(100)
    ) async throws(BluetoothError) {
        let layout: AdvertisementLayout
        do throws(AdvertisementLayout.Failure) {
            layout = try AdvertisementLayout(content)
        } catch {
            throw .advertisementTooLong(error)
        }
        let core = core.value
        let reply = Reply<Void>()
        try core.advertise(
            Advertisement(
                data: layout.data,
                scanResponse: layout.scanResponse,
                isConnectable: isConnectable,
                interval: interval
            ),
            completion: reply.give
        )
        try await reply.value()
    }

    /// Stops advertising; existing connections stay open.
    public func stopAdvertising() async {
        let reply = Reply<Void>()
        core.value.stopAdvertising { reply.give(.success(())) }
        // A cancelled task does not wait for the controller.
        try? await reply.value()
    }

    // MARK: Centrals and values

    /// Connected centrals.
    public var centrals: [ConnectedCentral] {
        core.value.centrals.map { ConnectedCentral(id: $0.key, address: $0.value) }
    }

    /// Returns the centrals subscribed to a characteristic's values.
    public func subscribers(of handle: AttributeHandle) -> [GATTServer.PeerID] {
        core.value.subscribers(of: handle)
    }

    /// Sends a characteristic's new value to all its subscribers, or only to those in `chosen`.
    ///
    /// If the server stores the value, the stored value is updated as well (CB-26).
    ///
    /// Returns the centrals that do not receive this value because their queues are full; `readyToUpdate` reports each
    /// of them when its queue has room.
    @discardableResult
    public func updateValue(
        _ value: [UInt8],
        of handle: AttributeHandle,
        for chosen: [GATTServer.PeerID]? = nil
    ) throws(BluetoothError) -> [GATTServer.PeerID] {
        try core.value.perform { (server) throws(GATTServerError) in
            try server.update(value, of: handle, for: chosen)
        }
    }

    /// Ends the connection with a central.
    public func disconnect(_ central: GATTServer.PeerID) {
        core.value.disconnect(central)
    }

    /// Passes reads and writes of dynamic values to the handlers, and all other events to the event sequence.
    private static func take(
        _ event: GATTServer.Event,
        _ core: ServerCore,
        _ handlers: ServerHandlers,
        _ events: BoundedSequence<ServerEvent>.Source,
        _ reach: @escaping @Sendable (@escaping @Sendable (ServerCore) -> Void) -> Void
    ) {
        let central = { (id: GATTServer.PeerID) in core.centrals[id].map { ConnectedCentral(id: id, address: $0) } }
        switch event {
        case .read(let request, let peer, let handle, _):
            guard let reader = central(peer) else { return }
            Task {
                let answer: Result<[UInt8], ATTError>
                do throws(ATTError) {
                    answer = .success(try await handlers.read(reader, handle))
                } catch {
                    answer = .failure(error)
                }
                reach { core in core.answer(request, answer) }
            }
        case .write(let request, let peer, let writes):
            guard let writer = central(peer) else { return }
            Task {
                var refusal: ATTError?
                do throws(ATTError) {
                    try await handlers.write(writer, writes)
                } catch {
                    refusal = error
                }
                reach { [refusal] core in core.accept(request, refusal) }
            }
        case .requestEnded: break
        case .command(let peer, let handle, let value):
            if let writer = central(peer) { events.send(.command(writer, handle, value)) }
        case .written(let peer, let handle, let value):
            if let writer = central(peer) { events.send(.written(writer, handle, value)) }
        case .subscribed(let peer, let handle, let kind):
            if let reader = central(peer) { events.send(.subscribed(reader, handle, kind)) }
        case .unsubscribed(let peer, let handle): events.send(.unsubscribed(peer, handle))
        case .readyToUpdate(let peer): events.send(.readyToUpdate(peer))
        case .confirmed(let peer, let handle): events.send(.confirmed(peer, handle))
        }
    }
}

extension ServerCore {
    /// Answers a read request.
    ///
    /// An expired request is ignored, because the server has already answered it.
    fileprivate func answer(_ request: GATTServer.RequestID, _ answer: Result<[UInt8], ATTError>) {
        do throws(BluetoothError) {
            try perform { (server) throws(GATTServerError) in
                switch answer {
                case .success(let value): try server.respond(to: request, with: value)
                case .failure(let error): try server.refuse(request, error)
                }
            }
        } catch {
            // A value that is too long is the handler's mistake; the central receives Unlikely Error.
            try? perform { (server) throws(GATTServerError) in try server.refuse(request, .unlikelyError) }
        }
    }

    /// Accepts or rejects a write request.
    ///
    /// An expired request is ignored, because the server has already answered it.
    fileprivate func accept(_ request: GATTServer.RequestID, _ refusal: ATTError?) {
        try? perform { (server) throws(GATTServerError) in
            if let refusal { try server.refuse(request, refusal) } else { try server.accept(request) }
        }
    }
}
