// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
import BluetoothPackets
import LinuxIO
import SystemPackage

/// Advertising on a kernel adapter: a raw HCI socket for commands, and a listening L2CAP socket for centrals.
final class KernelAdvertiser {
    /// A handler of the result of starting to advertise, called once.
    typealias Completion = (Result<Void, AdapterError>) -> Void

    private let adapter: String
    private let loop: EventLoop
    private let commands: KernelCommands<Advertiser>
    private let listener: L2CAPListener
    private var registration: EventLoop.Registration?
    private let resumption = LoopTimer()
    private var watch = AdvertisingWatch()

    private var wanted: Advertiser.Content?
    private var onStarted: Completion?
    private var onStopped: (() -> Void)?
    private var onConnection: ((any ATTChannel) -> Void)?

    /// Opens the sockets, and starts accepting connections from centrals.
    init(_ adapter: KernelAdapter) throws(AdapterError) {
        self.adapter = adapter.name
        loop = adapter.loop
        do throws(Errno) {
            listener = try L2CAPListener(local: adapter.address.rawValue)
            commands = try KernelCommands(controller: adapter.index, on: loop)
            registration = try loop.watch(listener.descriptor, for: .readable) { [weak self] _ in self?.accept() }
        } catch {
            throw Self.error(error, "open the sockets for advertising on \(adapter.name)")
        }
        commands.onPrepared = { [weak self] in self?.begin() }
        commands.onStep = { [weak self] in self?.settle() }
        commands.onFailure = { [weak self] failure in self?.fail(failure) }
    }

    deinit { close() }

    /// Starts advertising, or replaces the advertisement.
    func start(
        _ content: Advertiser.Content,
        onConnection: @escaping (any ATTChannel) -> Void,
        completion: @escaping Completion
    ) {
        self.onConnection = onConnection
        onStarted = completion
        wanted = content
        if commands.procedure == nil { commands.prepare() } else { begin() }
        commands.pump()
    }

    private func begin() {
        if let wanted { commands.procedure?.start(wanted) }
    }

    /// Enables advertising again.
    func resume() {
        watch.resume()
        commands.procedure?.resume()
        commands.pump()
    }

    /// Stops advertising and no longer accepts centrals.
    ///
    /// `completion` is called when the controller has stopped advertising or has failed to answer.
    func stop(completion: @escaping () -> Void) {
        wanted = nil
        onStarted = nil
        onConnection = nil
        guard commands.procedure != nil, registration != nil else {
            close()
            completion()
            return
        }
        onStopped = completion
        commands.procedure?.stop()
        commands.pump()
        settle()
    }

    /// Closes the sockets immediately, in any state.
    func close() {
        resumption.cancel()
        onConnection = nil
        commands.close()
        if let registration { loop.unwatch(registration, listener.descriptor) }
        registration = nil
    }

    private func accept() {
        do throws(Errno) {
            // Limit the number per call, so that a flood of short connections cannot block the loop.
            for _ in 0..<HCISocket.batch {
                guard let central = try listener.accept(receiveBuffer: KernelATTChannel.receiveBuffer) else { return }
                // If the socket cannot be watched, it is closed, which ends the central's connection.
                guard let channel = try? KernelATTChannel(accepted: central, on: loop) else { continue }
                guard let onConnection else { return channel.close() }
                onConnection(channel)
                if registration == nil { return }
            }
        } catch {
            fail(.system("accept a connection on \(adapter)", error))
        }
    }

    /// Calls the pending handler, unless the advertiser is still starting or stopping.
    private func settle() {
        switch commands.procedure?.state {
        case .advertising:
            let handler = onStarted
            onStarted = nil
            handler?(.success(()))
            planResumption()
        case .suspended: planResumption()
        case .idle: finishStopping()
        case .failed(let failure):
            if onStopped != nil { finishStopping() } else { fail(.refused("advertising", "\(failure)")) }
        case .starting, .stopping, nil: break
        }
    }

    private func planResumption() {
        guard registration != nil else { return }
        watch.note(foreignCommands: commands.procedure?.foreignCommands ?? 0, now: MonotonicClock.now)
        resumption.set(on: loop, at: watch.deadline) { [weak self] in self?.resume() }
    }

    /// True if this advertiser has stopped or is stopping, so that a new advertiser is needed.
    var isSpent: Bool { registration == nil || onStopped != nil }

    /// Closes the sockets immediately, and calls the pending stop handler.
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

    private func fail(_ failure: KernelCommands<Advertiser>.Failure) {
        switch failure {
        case .read(let error): fail(.system("read from \(adapter)", error))
        case .send(let error): fail(Self.error(error, "send an HCI command"))
        case .unsupported: fail(.refused("advertising", "the controller knows no advertising commands"))
        case .unreadable(let opcode): fail(.refused("\(opcode)", "an answer that cannot be read"))
        case .refused(let opcode, let status): fail(.refused("\(opcode)", "\(status)"))
        case .noAnswer(let opcode): fail(.refused("\(opcode)", "no answer"))
        }
    }

    private static func error(_ error: Errno, _ what: String) -> AdapterError {
        error.recovery(of: .hci) == .forbidden ? .notPermitted(missing: Capability.missing) : .system(what, error)
    }
}

extension KernelAdapter {
    /// Advertises until `stopAdvertising`, and again after each connection; replaces any previous advertisement.
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
            // A controller without a public address has a static random address, which the kernel has set.
            ownAddressType: address.rawValue == 0 ? .random : .public
        )
        let content = Advertiser.Content(parameters, data: advertisement.data, scanResponse: advertisement.scanResponse)
        if let advertiser, advertiser.isSpent {
            advertiser.finishStopping()
            self.advertiser = nil
        }
        do throws(AdapterError) {
            let advertiser: KernelAdvertiser
            if let running = self.advertiser { advertiser = running } else { advertiser = try KernelAdvertiser(self) }
            self.advertiser = advertiser
            isServing = true
            advertiser.start(content, onConnection: onConnection) { [weak self] result in
                if case .failure = result {
                    self?.advertiser = nil
                    self?.isServing = false
                }
                completion(result)
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// Stops advertising; existing connections stay open.
    package func stopAdvertising(completion: @escaping () -> Void) {
        isServing = false
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

/// The schedule for re-enabling advertising, on the caller's clock.
///
/// No command reads a controller's advertising state, and enabling advertising that is already enabled has no effect
/// (Core 6.0, Vol 4, Part E, 7.8.9 and 7.8.56). Therefore advertising is re-enabled soon after another program has sent
/// advertising commands, and periodically otherwise.
struct AdvertisingWatch: Sendable {
    /// Delay between another program's command and re-enabling.
    static let foreignInterval = Duration.seconds(1)
    /// Interval at which advertising is re-enabled if no other program's command was seen.
    static let usualInterval = Duration.seconds(60)

    private var foreignCommands: UInt64 = 0
    /// Time at which advertising is re-enabled next.
    ///
    /// It is nil before advertising has started, and while re-enabling is in progress.
    private(set) var deadline: Duration?

    /// Records that the controller is advertising or has no free connection.
    ///
    /// `count` is the number of other programs' commands seen so far.
    mutating func note(foreignCommands count: UInt64, now: Duration) {
        if count != foreignCommands {
            foreignCommands = count
            deadline = min(deadline ?? now + Self.foreignInterval, now + Self.foreignInterval)
        } else if deadline == nil {
            deadline = now + Self.usualInterval
        }
    }

    /// Records that advertising is being re-enabled.
    mutating func resume() { deadline = nil }
}
