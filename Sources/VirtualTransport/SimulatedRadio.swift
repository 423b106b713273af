// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothAdapters
public import BluetoothLE
public import BluetoothPackets
import LinuxIO
import VirtualAdapters

/// Simulated radio for application tests; its adapters communicate without hardware, kernel sockets or privileges.
public final class SimulatedRadio: Sendable {
    private let thread: LoopThread
    private let radio: LoopBound<MemoryRadio>

    /// Creates a radio without adapters; throws `unavailable` if its thread cannot be started.
    public init() throws(BluetoothError) {
        thread = try BluetoothAdapter.makeThread()
        radio = LoopBound(to: thread.executor) { loop in MemoryRadio(on: loop) }
    }

    /// Opens an adapter on this radio; its public address must be unique on the radio.
    public func adapter(_ address: BluetoothAddress) async throws(BluetoothError) -> BluetoothAdapter {
        let radio = radio
        let adapter = BluetoothAdapter(on: thread) { (loop, completion) throws(AdapterError) in
            let host = HostAdapter(name: "memory", transport: radio.value.addController(address), on: loop)
            host.start { result in completion(result.map { host }) }
        }
        try await adapter.start()
        return adapter
    }
}
