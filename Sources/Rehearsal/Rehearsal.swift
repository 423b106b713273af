// SPDX-License-Identifier: GPL-2.0-or-later

package import Beacons
package import BluetoothAdapters
import BluetoothPackets
package import LinuxIO
import VirtualAdapters
import VirtualRadio

/// Simulated radio with one adapter for this program and a set of devices in range; needs no hardware or privileges.
///
/// It must be used on the thread of its event loop. The devices are active for as long as this object exists.
package final class Rehearsal {
    /// Public address of the program's adapter.
    private static let address = BluetoothAddress(rawValue: 0xC0FF_EE00_0002)
    /// Beacon identity of the simulated badge.
    package static let badge = Stage.badge

    private let name: String
    private let loop: EventLoop
    private let radio: MemoryRadio
    private let transport: MemoryTransport
    let devices: [any SimulatedDevice]
    private let controllers: [SimulatedCast.Device: [VirtualController]]

    /// Creates the radio and its devices, which start when the loop runs.
    package init(_ cast: SimulatedCast, on loop: EventLoop) {
        name = "\(AdapterTransport.memory(cast))"
        self.loop = loop
        let radio = MemoryRadio(on: loop)
        self.radio = radio
        transport = radio.addController(Self.address)
        let stage = Stage(radio, around: transport.controller, loop)
        var devices: [any SimulatedDevice] = []
        var controllers: [SimulatedCast.Device: [VirtualController]] = [:]
        for device in cast.devices {
            let others = radio.radio.controllers.count
            devices += stage.start(device)
            controllers[device] = Array(radio.radio.controllers.dropFirst(others))
        }
        self.devices = devices
        self.controllers = controllers
    }

    /// Moves devices out of the adapter's range or back into it; by default, moves all devices.
    package func setInRange(
        _ isInRange: Bool,
        _ devices: some Sequence<SimulatedCast.Device> = SimulatedCast.Device.allCases
    ) {
        for other in devices.flatMap({ controllers[$0] ?? [] }) {
            if isInRange {
                radio.radio.join(transport.controller, other)
            } else {
                radio.radio.separate(transport.controller, other)
            }
        }
    }

    /// Creates the core of the adapter that the user has selected, which may be a simulated one.
    ///
    /// `capture` records the packets of the adapter.
    package static func core(
        _ loop: EventLoop,
        _ transport: AdapterTransport,
        capture: TrafficCapture? = nil
    ) -> AdapterCore {
        guard case .memory(let cast) = transport else { return AdapterCore(loop, transport, capture: capture) }
        return Rehearsal(cast, on: loop).core(capture: capture)
    }

    /// Creates the core of the simulated adapter; the core keeps a strong reference to this object.
    package func core(capture: TrafficCapture? = nil) -> AdapterCore {
        AdapterCore(loop) { [self] loop, completion in
            LowEnergyAdapters.start(transport, name, loop, capture) { [self] result in
                if case .success(let adapter as HostAdapter) = result { shareBonds(of: adapter) }
                completion(result)
            }
        }
    }

    /// Passes the adapter's bonds to the simulated keyboards, whenever they have changed.
    private func shareBonds(of adapter: HostAdapter) {
        let keyboards = devices.compactMap { $0 as? HIDKeyboardDevice }
        adapter.onBonds = { bonds in
            for keyboard in keyboards { keyboard.remember(bonds) }
        }
    }
}
