// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BluetoothHost
import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

struct DevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "List known and connected devices.",
        discussion: """
            Known devices are devices that were selected, paired or connected before, except devices with a private \
            address. Connected devices are devices that have a link to this machine, regardless of the program that \
            made the link. The command does not scan, and needs neither an adapter nor a permission.

            EXAMPLES:
              blewedge devices
              blewedge devices --json
              blewedge devices --remove F0:F1:F2:F3:F4:F5
            """
    )

    @Flag(help: "Print each device as a JSON object on its own line.")
    var json = false

    @Option(
        "Delete the date of this device's last connection, but keep its keys and the selection.",
        value: "address",
        completion: Completion.addresses
    )
    var remove: String?

    func validate() throws {
        if let remove, BluetoothAddress(remove) == nil { throw ValidationError("--remove requires an address.") }
    }

    func run() throws {
        let paths = try DaemonPaths.current()
        let store = KnownDeviceStore(paths.known)
        if let address = remove.flatMap({ BluetoothAddress($0) }) {
            guard try reporting(store.remove, address) else {
                throw CommandFailure(.usage, BondFaultText.neverConnected, "\(address)")
            }
            return
        }
        var list = KnownDeviceList()
        for known in try reporting(store.read) { list.add(known) }
        for bond in try BondStore(paths.bonds).found().bonds { list.addPaired(bond.identityAddress) }
        for store in ChoiceStore.all(in: paths) {
            if let choice = try reporting(store.read) { list.addChosen(choice) }
        }
        list.connected = Self.connected(paths)
        if json {
            for device in list.devices { try StandardStream.output.write(device.object.text + "\n") }
        } else if list.devices.isEmpty {
            Console.note(LogText.noKnownDevices.message())
        } else {
            for line in DisplayWidth.table(list.table(.current)) { try StandardStream.output.write(line + "\n") }
        }
    }

    /// Reads the connections of the kernel's controllers, and those of the daemon, which may use another controller.
    private static func connected(_ paths: DaemonPaths) -> [BluetoothAddress: String] {
        let ofKernel = ((try? KernelConnection.all()) ?? []).map { link in
            (BluetoothAddress(rawValue: link.device), "hci\(link.controller)")
        }
        var connected = Dictionary(ofKernel) { first, _ in first }
        if let sockets = try? DaemonPaths.reachable().map(\.controlSocket.string),
            var client = try? ControlClient(at: sockets), let status = try? client.status()
        {
            for device in status.connected.map(\.address) {
                connected[device] = status.adapter ?? connected[device] ?? ""
            }
        }
        return connected
    }
}

extension KnownDeviceStore {
    /// Stores a connected device; if that fails, returns a message, but does not end the connection.
    func keep(_ device: DeviceAddress, name: String?) -> Message? {
        do throws(Failure) {
            try note(device, name: name)
            return nil
        } catch {
            return Reason(error.failure).message
        }
    }
}

/// The list of all known devices, without duplicates.
///
/// It contains the devices of earlier connections, the paired devices, the selected device, and the connected devices.
struct KnownDeviceList {
    struct Entry: Equatable {
        let address: BluetoothAddress
        /// Type of the address; nil if the device is known only from the kernel.
        fileprivate(set) var type: AddressType?
        fileprivate(set) var name: String?
        fileprivate(set) var isChosen = false
        fileprivate(set) var isPaired = false
        /// Date of the last connection made by this program; nil if there was none.
        fileprivate(set) var lastConnected: String?
        /// Name of the controller that the device is connected to; nil if the device is not connected.
        fileprivate(set) var controller: String?

        fileprivate init(_ address: BluetoothAddress) { self.address = address }

        var object: JSONObject {
            var object = JSONObject()
            object.add("address", "\(address)")
            object.add("addressType", type.map { "\($0)" })
            object.add("name", name.map(LocalName.printable))
            object.add("chosen", isChosen)
            object.add("paired", isPaired)
            object.add("connected", controller != nil)
            object.add("adapter", controller)
            object.add("lastConnected", lastConnected)
            return object
        }
    }

    private var entries: [Entry] = []
    /// The connected devices, each with the name of its controller.
    var connected: [BluetoothAddress: String] = [:]

    /// The devices in the order in which they are listed.
    ///
    /// Connected devices come first, then the selected device, then the others by the date of their last connection.
    var devices: [Entry] {
        var found = entries
        for address in connected.keys where !found.contains(where: { $0.address == address }) {
            found.append(Entry(address))
        }
        for index in found.indices { found[index].controller = connected[found[index].address] }
        return found.sorted { $0.order > $1.order }
    }

    mutating func add(_ known: KnownDevice) {
        change(known.device) { entry in
            entry.name = known.name
            entry.lastConnected = known.lastConnected
        }
    }

    mutating func addPaired(_ device: DeviceAddress) { change(device) { $0.isPaired = true } }

    mutating func addChosen(_ choice: SelectedDevice) {
        change(choice.device) { entry in
            entry.isChosen = true
            entry.name = entry.name ?? choice.name
        }
    }

    private mutating func change(_ device: DeviceAddress, _ body: (inout Entry) -> Void) {
        let place = entries.firstIndex { $0.address == device.address && $0.type == device.type }
        var entry = place.map { entries[$0] } ?? Entry(device.address)
        entry.type = device.type
        body(&entry)
        if let place { entries[place] = entry } else { entries.append(entry) }
    }

    /// Returns the rows of the table: a heading, and one row for each device.
    func table(_ language: Language) -> [[String]] {
        let heading: [LogText] = [.columnName, .columnAddress, .columnKnown, .columnConnected]
        return [heading.map { $0.text(language) }]
            + devices.map { device in
                var known: [Message] = []
                if device.isChosen { known.append(LogText.isChosen.message()) }
                if device.isPaired { known.append(LogText.isPaired.message()) }
                if let date = device.lastConnected { known.append(LogText.connectedOn.message(date)) }
                return [
                    (device.name.map(LocalName.printable) ?? "-"),
                    "\(device.address)",
                    known.isEmpty ? "-" : known.map { $0.text(language) }.joined(separator: ", "),
                    device.controller.map { $0.isEmpty ? LogText.isConnected.text(language) : $0 } ?? "-",
                ]
            }
    }
}

extension KnownDeviceList.Entry {
    fileprivate var order: (Int, Int, String, UInt64) {
        (controller == nil ? 0 : 1, isChosen ? 1 : 0, lastConnected ?? "", address.rawValue)
    }
}
