// SPDX-License-Identifier: GPL-2.0-or-later

public import BluetoothLE
public import BluetoothPackets
import LinuxIO

/// A radio in memory for an application's tests: its adapters hear each other, without a controller, a kernel's socket or a
/// privilege.
public final class SimulatedRadio: Sendable {
    private let thread: LoopThread
    private let radio: LoopBound<MemoryRadio>

    /// A radio on which nobody is yet; throws `unavailable` if its thread cannot be made.
    public init() throws(BluetoothError) {
        thread = try BluetoothAdapter.makeThread()
        radio = LoopBound(to: thread.executor) { loop in MemoryRadio(on: loop) }
    }

    /// An open adapter of this radio with a public address, which no other one of it may have.
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
