// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothLE
import LinuxIO

/// The one link of the wedge on the event loop, from the attempt to its end.
///
/// Each link has a number, its epoch, from 1 on; values of a link that was closed are never passed on (BT-9). To be used
/// on the loop's thread.
final class DeviceLink {
    /// What happens to the link that was asked for last.
    enum Event {
        /// Subscribed, and the handshake is done.
        case ready
        /// The device answers, but offers nothing that can be used.
        case unsupported(String)
        /// The link is gone, or did not come about.
        case failed(String)
    }

    /// Told what becomes of the link.
    var onEvent: ((Event) -> Void)?
    /// Takes each value of the profile's characteristic, in place.
    var onValue: ((Span<UInt8>) -> Void)?

    /// The number of the link that was asked for last.
    private(set) var epoch: UInt32 = 0
    /// The device of that link.
    private(set) var device: DeviceAddress?
    /// Values of the profile's characteristic.
    private(set) var notifications: UInt64 = 0
    /// Values that nobody asked for: those of other handles, and indications where notifications were subscribed to.
    private(set) var strayValues: UInt64 = 0
    private var droppedBefore: UInt64 = 0

    private let loop: EventLoop
    private let profile: Profile
    private var attempt: (any ConnectionAttempt)?
    private var link: ATTLink?
    private var setup: LinkSetup
    /// Called when no end of a link is waited for any more.
    private var closers: [() -> Void] = []
    private var closings = 0

    /// No link yet.
    init(_ profile: Profile, on loop: EventLoop) {
        self.loop = loop
        self.profile = profile
        setup = LinkSetup(profile: profile)
    }

    /// Packets that the kernel dropped because they were not read in time.
    var dropped: UInt64 { droppedBefore + UInt64(link?.droppedPackets ?? 0) }

    /// Connects, and readies the link; an earlier one must be closed.
    func open(_ device: DeviceAddress, through adapter: any LowEnergyAdapter, timeout: Duration) {
        epoch &+= 1
        self.device = device
        setup = LinkSetup(profile: profile)
        do throws(LinkFailure) {
            attempt = try adapter.connect(to: device, timeout: timeout) { [unowned self] result in connected(result) }
        } catch {
            let number = epoch
            // Not from within the call that asks for it.
            _ = loop.schedule(at: .zero) { [weak self] in
                if self?.epoch == number { self?.onEvent?(.failed("\(error)")) }
            }
        }
    }

    /// Ends the link or the attempt; `completion` is called, later, when there is none any more.
    func close(through adapter: (any LowEnergyAdapter)?, completion: @escaping () -> Void) {
        closers.append(completion)
        closings &+= 1
        let isOpen = link != nil || attempt != nil
        attempt?.cancel()
        attempt = nil
        if let link {
            droppedBefore += UInt64(link.droppedPackets)
            self.link = nil
            link.close()
        }
        let finish = { [weak self] in
            guard let self, closings > 0 else { return }
            closings &-= 1
            if closings == 0 { closed() }
        }
        if isOpen, let adapter, let device {
            adapter.disconnect(device, completion: finish)
        } else {
            _ = loop.schedule(at: .zero, handler: finish)
        }
    }

    /// The adapter is gone, and with it what was waited for.
    func abandon() {
        closings = 0
        closed()
    }

    private func closed() {
        let callers = closers
        closers = []
        for caller in callers { caller() }
    }

    private func connected(_ result: Result<any ATTChannel, LinkFailure>) {
        attempt = nil
        switch result {
        case .success(let channel):
            let link = ATTLink(channel, on: loop)
            self.link = link
            link.onEvent = { [unowned self] event in take(event, of: link) }
            link.onValue = { [unowned self] handle, kind, value in take(value, of: handle, kind) }
            progress(link.perform { client, now in setup.begin(&client, now: now) })
        case .failure(let failure): onEvent?(.failed("\(failure)"))
        }
    }

    private func take(_ event: ATTLink.Event, of link: ATTLink) {
        guard link === self.link else { return }
        switch event {
        case .procedure(let event): progress(link.perform { client, now in setup.handle(event, &client, now: now) })
        case .closed(let failure): onEvent?(.failed("\(failure)"))
        }
    }

    private func progress(_ progress: LinkSetup.Progress) {
        switch progress {
        case .underWay: break
        case .ready: onEvent?(.ready)
        case .unsupported(let reason): onEvent?(.unsupported(reason))
        // A bearer that failed closes the link, which is reported then.
        case .failed(.bearer): break
        case .failed(let error): onEvent?(.failed("\(error)"))
        }
    }

    /// The hot path begins: one comparison, and on to the keyboard's ring.
    private func take(_ value: Span<UInt8>, of handle: AttributeHandle, _ kind: GATTSubscriptionKind) {
        guard setup.isWanted(handle, kind) else {
            strayValues &+= 1
            return
        }
        notifications &+= 1
        onValue?(value)
    }
}
