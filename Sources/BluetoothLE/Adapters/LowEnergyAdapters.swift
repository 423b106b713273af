// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
package import LinuxIO

/// The opening of adapters, over any transport.
package enum LowEnergyAdapters {
    /// Finds an adapter and makes it ready; `completion` is called once, later, on the loop's thread.
    ///
    /// An adapter of the kernel with the `known` address is taken under whatever number it has come back.
    /// `capture` records its packets; for the kernel's sockets its `listen` has to be called before. Throws the
    /// errors that are known at once.
    package static func open(
        _ transport: AdapterTransport,
        on loop: EventLoop,
        known: BluetoothAddress? = nil,
        capture: TrafficCapture? = nil,
        completion: @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void
    ) throws(AdapterError) {
        switch transport {
        case .kernel(let selector):
            try KernelAdapter.open(selector, known: known, on: loop) { result in
                if case .success(let adapter) = result { capture?.follow(adapter.index) }
                completion(result.map { $0 })
            }
        case .userChannel(let index):
            // The recorded packets carry this index; the monitor channel is not used.
            capture?.follow(index)
            start(try UserChannelTransport(controller: index, on: loop), "\(transport)", loop, capture, completion)
        case .h4(let address):
            start(try H4StreamTransport(to: address, on: loop), "\(transport)", loop, capture, completion)
        }
    }

    /// Starts the host stack of this library above a controller.
    private static func start(
        _ transport: any PacketTransport,
        _ name: String,
        _ loop: EventLoop,
        _ capture: TrafficCapture?,
        _ completion: @escaping (Result<any LowEnergyAdapter, AdapterError>) -> Void
    ) {
        let adapter = HostAdapter(name: name, transport: transport, on: loop)
        adapter.onPacket = { [weak capture] isSent, packet in capture?.record(isSent ? .sent : .received, packet) }
        // The completion handler keeps the adapter alive until it is called.
        adapter.start { result in
            completion(
                result.map { adapter }.mapError { error in
                    // With several controllers in use, the message has to name the one that failed.
                    if case .controller(let what) = error { .controller("\(name): \(what)") } else { error }
                }
            )
        }
    }
}
