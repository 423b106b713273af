// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import SystemPackage

/// Advertising on the kernel's adapter: raw HCI commands on one socket, centrals' connections on another.
///
/// To be used on the loop's thread.
final class KernelAdvertiser {
    /// Called once: whether advertising has begun.
    typealias Completion = (Result<Void, AdapterError>) -> Void

    /// How soon advertising is enabled again after another program has switched it.
    private static let foreignInterval = Duration.seconds(1)
    /// Events of <bluetooth/hci.h>: command complete, command status, hardware error.
    private static let events: [UInt8] = [
        HCIEvent.Code.commandComplete, HCIEvent.Code.commandStatus, HCIEvent.Code.hardwareError,
    ]

    private let adapter: String
    private let loop: EventLoop
    private let commandSocket: HCISocket
    private let listener: L2CAPListener
    private var registrations: [EventLoop.Registration] = []
    private var buffer = [UInt8](repeating: 0, count: HCISocket.packetCapacity)
    private var timer: EventLoop.Timer?
    private var resumption: EventLoop.Timer?
    private var foreignCommands: UInt64 = 0

    private var discovery = HCICommandQueue()
    private var advertiser: Advertiser?
    private var wanted: Advertiser.Content?
    private var onStarted: Completion?
    private var onStopped: (() -> Void)?
    private var onConnection: ((any ATTChannel) -> Void)?

    /// Opens the sockets; centrals that connect are accepted from now on.
    init(_ adapter: KernelAdapter) throws(AdapterError) {
        self.adapter = adapter.name
        loop = adapter.loop
        do throws(Errno) {
            listener = try L2CAPListener(local: adapter.address.rawValue)
            commandSocket = try HCISocket(controller: adapter.index.rawValue, events: Self.events)
            registrations.append(
                try loop.watch(commandSocket.descriptor, for: .readable) { [weak self] _ in self?.readCommandSocket() }
            )
            registrations.append(
                try loop.watch(listener.descriptor, for: .readable) { [weak self] _ in self?.accept() }
            )
        } catch {
            throw Self.error(error, "open the sockets for advertising on \(adapter.name)")
        }
    }

    deinit { close() }

    /// Begins to advertise, or replaces what is advertised.
    func start(
        _ content: Advertiser.Content,
        onConnection: @escaping (any ATTChannel) -> Void,
        completion: @escaping Completion
    ) {
        self.onConnection = onConnection
        onStarted = completion
        wanted = content
        if advertiser == nil {
            if discovery.outstandingOpcode == nil { _ = discovery.enqueue(.readLocalSupportedCommands) }
        } else {
            advertiser?.start(content)
        }
        pump()
    }

    /// Advertises again, after a connection began or ended.
    func resume() {
        advertiser?.resume()
        pump()
    }

    /// Advertises no more, takes no more centrals, and calls `completion` when the controller has stopped or is silent.
    func stop(completion: @escaping () -> Void) {
        wanted = nil
        onStarted = nil
        onConnection = nil
        guard advertiser != nil, !registrations.isEmpty else {
            close()
            completion()
            return
        }
        onStopped = completion
        advertiser?.stop()
        pump()
        settle()
    }

    /// Lets go of the sockets, whatever goes on.
    func close() {
        for timer in [timer, resumption] { if let timer { loop.cancel(timer) } }
        timer = nil
        resumption = nil
        onConnection = nil
        guard registrations.count == 2 else { return }
        loop.unwatch(registrations[0], commandSocket.descriptor)
        loop.unwatch(registrations[1], listener.descriptor)
        registrations = []
    }

    private func accept() {
        do throws(Errno) {
            while let central = try listener.accept(receiveBuffer: KernelATTChannel.receiveBuffer) {
                // A socket that cannot be watched is closed: the central sees the end of the connection.
                guard let channel = try? KernelATTChannel(accepted: central, on: loop) else { continue }
                guard let onConnection else { return channel.close() }
                onConnection(channel)
                if registrations.isEmpty { return }
            }
        } catch {
            fail(.system("accept a connection on \(adapter)", error))
        }
    }

    private func readCommandSocket() {
        do throws(Errno) {
            while case .done(let packet) = try commandSocket.descriptor.receive(into: &buffer), packet.count > 0 {
                let bytes = buffer.span.extracting(first: packet.count)
                if advertiser != nil {
                    advertiser?.handle(bytes, now: MonotonicClock.now)
                } else if let event = try? HCIEvent(bytes),
                    let outcome = discovery.handle(event, now: MonotonicClock.now)
                {
                    takeSupportedCommands(outcome)
                }
            }
            pump()
            settle()
        } catch {
            fail(.system("read from \(adapter)", error))
        }
    }

    private func takeSupportedCommands(_ outcome: HCICommandQueue.Outcome) {
        switch outcome {
        case .completed(let opcode, let returnParameters):
            guard let supported = try? SupportedCommands(returnParameters: returnParameters.span) else {
                return fail(.refused("\(opcode)", "an answer that cannot be read"))
            }
            guard var advertiser = Advertiser(supported) else {
                return fail(.refused("advertising", "the controller knows no advertising commands"))
            }
            if let wanted { advertiser.start(wanted) }
            self.advertiser = advertiser
        case .failed(let opcode, let status): fail(.refused("\(opcode)", "\(status)"))
        case .timedOut(let opcode): fail(.refused("\(opcode)", "no answer"))
        }
    }

    /// Sends what is to be sent, and sets the timer anew.
    private func pump() {
        guard !registrations.isEmpty else { return }
        let now = MonotonicClock.now
        do throws(Errno) {
            while let command = discovery.nextCommand(now: now) { _ = try commandSocket.send(command.encoded) }
            while let command = advertiser?.nextCommand(now: now) { _ = try commandSocket.send(command.encoded) }
        } catch {
            return fail(Self.error(error, "send an HCI command"))
        }
        if let timer { loop.cancel(timer) }
        timer = nil
        guard let deadline = advertiser?.deadline ?? discovery.deadline else { return }
        timer = loop.schedule(at: deadline) { [weak self] in self?.expire() }
    }

    private func expire() {
        timer = nil
        let now = MonotonicClock.now
        if let outcome = discovery.expire(now: now) { takeSupportedCommands(outcome) }
        advertiser?.advance(now: now)
        pump()
        settle()
    }

    /// Tells who waits when the advertiser has come to rest.
    private func settle() {
        switch advertiser?.state {
        case .advertising:
            let handler = onStarted
            onStarted = nil
            handler?(.success(()))
            watchForeignCommands()
        case .idle: finishStopping()
        case .failed(let failure):
            if onStopped != nil { finishStopping() } else { fail(.refused("advertising", "\(failure)")) }
        case .starting, .suspended, .stopping, nil: break
        }
    }

    private func watchForeignCommands() {
        guard let count = advertiser?.foreignCommands, count != foreignCommands else { return }
        foreignCommands = count
        guard resumption == nil else { return }
        resumption = loop.schedule(at: MonotonicClock.now + Self.foreignInterval) { [weak self] in
            self?.resumption = nil
            self?.resume()
        }
    }

    /// True when it advertises no more, or soon: another one has to be made.
    var isSpent: Bool { registrations.isEmpty || onStopped != nil }

    /// Ends at once, and says so to who waits for the end.
    func finishStopping() {
        let completion = onStopped
        onStopped = nil
        close()
        completion?()
    }

    private func fail(_ error: AdapterError) {
        let (started, stopped) = (onStarted, onStopped)
        onStarted = nil
        onStopped = nil
        close()
        stopped?()
        started?(.failure(error))
    }

    private static func error(_ error: Errno, _ what: String) -> AdapterError {
        switch error {
        case .notPermitted, .permissionDenied: .notPermitted(missing: Capability.missing)
        default: .system(what, error)
        }
    }
}

extension KernelAdapter {
    /// Advertises until `stopAdvertising`, again after each connection; replaces what was advertised.
    package func advertise(
        _ advertisement: Advertisement,
        onConnection: @escaping (any ATTChannel) -> Void,
        completion: @escaping (Result<Void, AdapterError>) -> Void
    ) {
        let kind: AdvertisingParameters.Kind =
            if advertisement.isConnectable {
                .connectable
            } else {
                advertisement.scanResponse.isEmpty ? .nonConnectable : .scannable
            }
        let parameters = AdvertisingParameters(
            kind: kind,
            interval: advertisement.intervalSlots,
            // A controller without a public address has a static random one, which the kernel has set.
            ownAddressType: address.rawValue == 0 ? .random : .public
        )
        let content = Advertiser.Content(
            parameters,
            data: advertisement.data,
            scanResponse: advertisement.scanResponse
        )
        if let advertiser, advertiser.isSpent {
            advertiser.finishStopping()
            self.advertiser = nil
        }
        do throws(AdapterError) {
            let advertiser: KernelAdvertiser
            if let running = self.advertiser { advertiser = running } else { advertiser = try KernelAdvertiser(self) }
            self.advertiser = advertiser
            advertiser.start(content, onConnection: onConnection) { [weak self] result in
                if case .failure = result { self?.advertiser = nil }
                completion(result)
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// Advertises no more; connections stay.
    package func stopAdvertising(completion: @escaping () -> Void) {
        guard let advertiser else {
            completion()
            return
        }
        advertiser.stop { [weak self] in
            if self?.advertiser === advertiser { self?.advertiser = nil }
            completion()
        }
    }
}
