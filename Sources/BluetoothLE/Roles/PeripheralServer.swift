// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothHost
public import BluetoothPackets
import LinuxIO

/// A central that is connected to a server.
public struct ConnectedCentral: Hashable, Sendable {
    /// Its connection, for as long as it lasts.
    public var id: GATTServer.PeerID
    /// Its address.
    public var address: DeviceAddress
}

/// What happens at a server besides reads and writes of dynamic values.
public enum ServerEvent: Hashable, Sendable {
    /// A central has connected.
    case connected(ConnectedCentral)
    /// A central is gone.
    case disconnected(ConnectedCentral, DisconnectReason)
    /// A central wants a characteristic's values from now on (CB-25).
    case subscribed(ConnectedCentral, AttributeHandle, GATTSubscriptionKind)
    /// A central wants them no more, or has gone (CB-25).
    case unsubscribed(GATTServer.PeerID, AttributeHandle)
    /// A central wrote a stored value, which is now this.
    case written(ConnectedCentral, AttributeHandle, [UInt8])
    /// A central wrote a dynamic value without wanting to hear of it.
    case command(ConnectedCentral, AttributeHandle, [UInt8])
    /// There is room again for a central that an update was refused for (CB-26).
    case readyToUpdate(GATTServer.PeerID)
    /// A central has confirmed an indication.
    case confirmed(GATTServer.PeerID, AttributeHandle)
}

/// How dynamic values are read and written: each request is answered once, by what the function returns or throws.
///
/// A function that takes longer than 20 s has its request refused by Unlikely Error.
public struct ServerHandlers: Sendable {
    /// Gives the whole value, at most 512 bytes, whatever part of it the central reads (CB-23).
    public var read: @Sendable (ConnectedCentral, AttributeHandle) async throws(ATTError) -> [UInt8]
    /// Takes values, all of them or, by throwing, none (CB-24).
    public var write: @Sendable (ConnectedCentral, [GATTServer.Write]) async throws(ATTError) -> Void

    /// Handlers; without them dynamic values can be neither read nor written.
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

/// The peripheral role: advertises, and serves a database to the centrals that connect.
///
/// Runs on its adapter's thread. After the adapter was lost, advertising has to be begun again (CB-20).
public actor PeripheralServer {
    /// The adapter.
    public nonisolated let adapter: BluetoothAdapter
    /// What is served.
    public nonisolated let database: GATTServerDatabase
    /// What happens; of more than 1,024 events that nobody reads, the oldest are dropped and counted.
    public nonisolated let events: BoundedSequence<ServerEvent>

    /// The adapter's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe adapter.unownedExecutor }

    private nonisolated let core: LoopBound<ServerCore>

    /// Serves a database, which `GATTDatabaseBuilder` makes, on an adapter; one server an adapter.
    public init(_ adapter: BluetoothAdapter, database: GATTServerDatabase, handlers: ServerHandlers = ServerHandlers())
    {
        self.adapter = adapter
        self.database = database
        let events = BoundedSequence<ServerEvent>(capacity: 1024, dropping: .oldest)
        self.events = events
        let executor = adapter.thread.executor
        let (owner, source) = (adapter.core, events.source)
        let box = ServerBox()
        core = LoopBound(to: executor) { _ in
            let core = ServerCore(
                owner.value.radio,
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

    /// Lets an answer find the server again; used on the loop's thread only.
    private final class ServerBox: @unchecked Sendable {
        weak var core: ServerCore?
    }

    private nonisolated let box: ServerBox

    // MARK: Advertising

    /// Advertises until `stopAdvertising`, again after each connection; replaces what was advertised (CB-22).
    ///
    /// What does not fit into 31 bytes overflows to the scan response; what fits neither is refused with the sizes.
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

    /// Advertises no more; connections stay.
    public func stopAdvertising() async {
        let reply = Reply<Void>()
        core.value.stopAdvertising { reply.give(.success(())) }
        // A cancelled task does not wait for the controller.
        try? await reply.value()
    }

    // MARK: Centrals and values

    /// The centrals that are connected now.
    public var centrals: [ConnectedCentral] {
        core.value.centrals.map { ConnectedCentral(id: $0.key, address: $0.value) }
    }

    /// Those that want a characteristic's values.
    public func subscribers(of handle: AttributeHandle) -> [GATTServer.PeerID] {
        core.value.subscribers(of: handle)
    }

    /// Sends a characteristic's new value to its subscribers, or to the chosen ones among them, and keeps it if it is a
    /// stored one (CB-26).
    ///
    /// Returns those whose queues are full, which miss this value; `readyToUpdate` tells of each when there is room again.
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

    /// Asks the handlers, or passes the event on.
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
    /// Answers a read; a request that is void meanwhile has been answered already.
    fileprivate func answer(_ request: GATTServer.RequestID, _ answer: Result<[UInt8], ATTError>) {
        do throws(BluetoothError) {
            try perform { (server) throws(GATTServerError) in
                switch answer {
                case .success(let value): try server.respond(to: request, with: value)
                case .failure(let error): try server.refuse(request, error)
                }
            }
        } catch {
            // A value that is too long is the owner's mistake, of which the central hears.
            try? perform { (server) throws(GATTServerError) in try server.refuse(request, .unlikelyError) }
        }
    }

    /// Lets a write happen, or refuses it; a request that is void meanwhile has been answered already.
    fileprivate func accept(_ request: GATTServer.RequestID, _ refusal: ATTError?) {
        try? perform { (server) throws(GATTServerError) in
            if let refusal { try server.refuse(request, refusal) } else { try server.accept(request) }
        }
    }
}
