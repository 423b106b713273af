// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO

/// Opens adapters, whatever carries their packets.
package enum LowEnergyAdapters {
    /// Finds and readies an adapter; `completion` is called once, later, on the loop's thread.
    ///
    /// `capture` records its packets; over the kernel's sockets it must `listen` before. Throws at once what can be known
    /// at once.
    package static func open(
        _ transport: AdapterTransport,
        on loop: EventLoop,
        capture: TrafficCapture? = nil,
        completion: @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void
    ) throws(AdapterError) {
        switch transport {
        case .kernel(let selector):
            try KernelAdapter.open(selector, on: loop) { result in
                if case .success(let adapter) = result { capture?.follow(adapter.index) }
                completion(result.map { $0 })
            }
        case .userChannel(let index):
            // Its packets bear its number; the monitor is not listened to.
            capture?.follow(index)
            start(try UserChannelTransport(controller: index, on: loop), "\(transport)", loop, capture, completion)
        case .h4(let address):
            start(try H4StreamTransport(to: address, on: loop), "\(transport)", loop, capture, completion)
        }
    }

    /// Puts our own host above a controller.
    private static func start(
        _ transport: any PacketTransport,
        _ name: String,
        _ loop: EventLoop,
        _ capture: TrafficCapture?,
        _ completion: @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void
    ) {
        let adapter = HostAdapter(name: name, transport: transport, on: loop)
        adapter.onPacket = { [weak capture] isSent, packet in capture?.record(isSent ? .sent : .received, packet) }
        // Kept by its own completion until that is called.
        adapter.start { result in
            completion(
                result.map { adapter }.mapError { error in
                    // Of several controllers, the one that failed has to be named.
                    if case .controller(let what) = error { .controller("\(name): \(what)") } else { error }
                }
            )
        }
    }
}
