// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothHost
package import BluetoothPackets
import LinuxIO

extension HostAdapter {
    package func makeScanner() throws(ScanError) -> any DeviceScanner {
        guard isOpen, host.failure == nil else { throw .adapterGone }
        return HostScanner(self)
    }

    package var controllerCounts: ControllerCounts {
        var counts = ControllerCounts()
        counts.probes = host.counters.probes
        counts.repeatedResets = host.counters.repeatedResets
        counts.repeatedConnections = host.counters.repeatedConnections
        counts.droppedBytes = transport.droppedBytes
        counts.grantedParameters = host.counters.grantedParameters
        counts.refusedParameters = host.counters.refusedParameters
        counts.badFrames = host.counters.badFrames
        return counts
    }

    package func connections(completion: @escaping ([DeviceAddress]?) -> Void) {
        completion(host.connections.map(\.peer))
    }

    package func quality(of device: DeviceAddress) -> LinkQuality? {
        guard let connection = host.connections.first(where: { $0.peer == device }) else { return nil }
        return perform { host in
            host.readRSSI(of: connection.handle, life: LinkQuality.life, now: MonotonicClock.now)
            let handle = connection.handle
            return LinkQuality(
                rssi: host.rssi(of: handle),
                timing: host.timing(of: handle),
                phy: host.phy(of: handle),
                dataLength: host.receivedDataLength(of: handle)
            )
        }
    }
}
