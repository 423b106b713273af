// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Configuration
import Link
import LinuxIO

/// Simulated device; active for as long as the object exists.
protocol SimulatedDevice: AnyObject {
    /// Core of the device's own adapter.
    var core: AdapterCore { get }

    /// Starts advertising; called when the device's adapter is ready.
    func advertise() throws
}

extension SimulatedDevice {
    func start() {
        core.onEvent = { [unowned self] event in
            // This cannot fail: a simulated controller neither fails nor disappears, and the advertisements below are
            // not too long.
            if case .ready = event { try? advertise() }
        }
        core.start()
    }
}

/// Device that sends lines of text through the characteristic of a profile, one line per period while a central is
/// subscribed.
final class SerialDevice: SimulatedDevice {
    let core: AdapterCore
    private let profile: Profile
    private let name: String
    private let period: Duration
    private let line: (_ number: Int) -> String
    private var module: SimulatedModule?
    private var sender: LineSender?
    private var sent = 0

    init(
        _ profile: Profile,
        name: String,
        every period: Duration,
        on core: AdapterCore,
        line: @escaping (_ number: Int) -> String
    ) {
        self.profile = profile
        self.name = name
        self.period = period
        self.core = core
        self.line = line
    }

    func advertise() throws {
        let module = try SimulatedModule(profile, name: name, on: core.radio) { [unowned self] event in
            if case .subscribed(true) = event { sender?.postpone(by: period) }
        }
        self.module = module
        sender = LineSender(module, every: period, on: core.radio.loop) { [unowned self] in
            defer { sent &+= 1 }
            return Array(line(sent).utf8)
        }
        try module.start { _ in }
    }
}

/// Device that only advertises; if it is connectable, its services have no characteristics.
final class AdvertisingDevice: SimulatedDevice {
    let core: AdapterCore
    private let isConnectable: Bool
    private let interval: Duration
    private let period: Duration?
    private let content: (_ number: Int) -> AdvertisementLayout.Content
    private let timer = LoopTimer()
    private var server: ServerCore?
    private var changes = 0

    /// Creates a device whose content is replaced once per `period`, or never if it is nil.
    init(
        isConnectable: Bool,
        every interval: Duration = .milliseconds(100),
        changing period: Duration? = nil,
        on core: AdapterCore,
        content: @escaping (_ number: Int) -> AdvertisementLayout.Content
    ) {
        self.isConnectable = isConnectable
        self.interval = interval
        self.period = period
        self.core = core
        self.content = content
    }

    func advertise() throws {
        let content = content(0)
        var builder = try GATTDatabaseBuilder(deviceName: content.localName ?? "")
        for service in content.services where isConnectable {
            _ = try builder.add(GATTServiceDefinition(uuid: service, characteristics: []))
        }
        let server = ServerCore(core.radio, builder.database, onEvent: { _, _ in }, onConnection: { _, _, _ in })
        self.server = server
        try advertise(content, on: server)
    }

    private func advertise(_ content: AdvertisementLayout.Content, on server: ServerCore) throws {
        let layout = try AdvertisementLayout(content, canBeAsked: isConnectable)
        let advertisement = Advertisement(
            data: layout.data,
            scanResponse: layout.scanResponse,
            isConnectable: isConnectable,
            interval: interval
        )
        try server.advertise(advertisement) { _ in }
        guard let period else { return }
        timer.set(on: core.radio.loop, after: period) { [unowned self] in change() }
    }

    private func change() {
        changes &+= 1
        server?.stopAdvertising { [weak self] in
            // This cannot fail, as in `start`.
            if let self, let server { try? advertise(content(changes), on: server) }
        }
    }
}
