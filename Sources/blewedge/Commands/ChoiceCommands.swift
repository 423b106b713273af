// SPDX-License-Identifier: GPL-2.0-or-later

public import ArgumentParser
import BluetoothAdapters
import BluetoothHost
public import BluetoothPackets
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

struct UseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use",
        abstract: "Select a device, and save the selection.",
        usage: "blewedge use <name|address|name@address> [<options>]",
        discussion: """
            A running daemon closes its link to the old device, drops and counts the pending data, and connects to the \
            new device. If no daemon is running, the command scans for the device, and saves its address, address type \
            and name for the next daemon. If another device is already selected, the command asks for confirmation on \
            a terminal, and requires --yes elsewhere. If two devices have the same name, the command rejects the name, \
            and lists both devices.

            Data from a paired device is typed only over a link that is encrypted with the device's keys. Anyone can \
            impersonate an unpaired device by copying its name and address. For an unpaired device, the command \
            therefore asks for confirmation on a terminal. Without a terminal, the command rejects an unpaired device \
            with status 78, unless --security none is given. A keyboard scanner must be paired: on a terminal, the \
            command offers to pair with it, and rejects it otherwise, even with --security none. The levels `encrypted` and `authenticated` of --security \
            require a device that is already paired.

            EXAMPLES:
              blewedge use LINBLE-TEST
              blewedge use LINBLE-TEST --security none
              blewedge use "LT01 BC000120@00:1D:12:00:01:20"   Name and address.
              blewedge use F0:F1:F2:F3:F4:F5 --yes --security authenticated
              blewedge use F0:F1:F2:F3:F4:F5 --address-type random  Without a scan.
              blewedge use LINBLE-TEST --as scanner2   For a [[device]] table.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Name, address or NAME@ADDRESS of the device. The case of the name does not matter.",
            valueName: "name|address|name@address"
        ),
        completion: Completion.devices
    )
    var device: String

    @Flag(help: "Replace the selected device without asking for confirmation.")
    var yes = false

    @Option(
        "Minimum security level of the link. The level `none` accepts an unpaired device without confirmation. Higher security levels require a paired device.",
        value: GATTLinkSecurity.Level.allValueStrings.joined(separator: "|")
    )
    var security: GATTLinkSecurity.Level?

    @Option(
        "If no daemon is running, save the address with this address type, without a scan.",
        value: AddressType.allCases.map { "\($0)" }.joined(separator: "|")
    )
    var addressType: AddressType?

    @Option(
        "Select the device for the table [[device]] of this name in the configuration. It is required if the configuration has several such tables.",
        value: "name"
    )
    var `as`: String?

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var daemon: DaemonOptions

    func validate() throws {
        guard let choice = DeviceSelector(device) else { throw ValidationError("use requires a name or an address.") }
        guard addressType != nil else { return }
        guard case .address = choice else { throw ValidationError("--address-type requires an address.") }
    }

    func run() throws {
        guard let choice = DeviceSelector(device) else { throw CommandFailure(.usage, CommandFaultText.useWantsDevice) }
        try daemon.perform { client in
            try use(choice, through: &client)
        } alone: {
            try useAlone(choice)
        }
    }

    /// Asks the daemon to switch to a device, and prints the answer.
    private func use(_ choice: DeviceSelector, through client: inout ControlClient) throws {
        let answer = try confirmed(choice) { consent in
            let device = consent.paired.map { .address($0.address) } ?? choice
            let request = ControlRequest.use(device, confirmed: consent.isAllowed, security: consent.security)
            return try client.ask(request.of(self.as), patience: .seconds(30))
        }
        try daemon.show(answer, done: LogText.chosen.message("\(choice)"))
    }

    private func useAlone(_ asked: DeviceSelector) throws {
        let paths = try DaemonPaths.current()
        let known = try BondStore(paths.bonds).found()
        let choice = known.pairedChoice(asked).map { .kept($0) } ?? asked
        let file = try reporting(Configuration.read(_:mustExist:), paths.configurationFile, false)
        let (table, configuration) = try file.part(named: self.as)
        if let table, let device = table.device {
            throw CommandFailure(.usage, ControlFaultText.fixedInTable, "\(device)", table.name)
        }
        let store = ChoiceStore(paths.choice(of: table?.name))
        let chosen: SelectedDevice?
        do {
            chosen = try store.read()
        } catch .garbled(let path, _) {
            // Do not ask for confirmation: a selection that cannot be read is lost anyway.
            Console.note(LogText.choiceGarbled.message("\(path)"))
            chosen = nil
        } catch {
            throw CommandFailure(error)
        }
        let isAllowed = try confirmed(choice) { consent in
            if let chosen, !consent.isAllowed, !choice.means(chosen) { throw CommandFailure.chosenAlready(chosen) }
            return true
        }
        let profiles = try reporting(configuration.profiles)
        let least = configuration.leastSecurity(profiles)
        let (found, isKeyboard): (SelectedDevice, Bool)
        if case .address(let address) = asked, let addressType {
            (found, isKeyboard) = (SelectedDevice(DeviceAddress(address, addressType), name: nil), false)
        } else {
            let place = configuration.advertisedAddress
            let run = try ChoiceRun(choice, advertisedAt: place, for: profiles, through: adapterOptions.transport)
            (found, isKeyboard) = try run.run()
        }
        for other in file.parts.compactMap(\.table?.name) where other != table?.name {
            if let taken = try? ChoiceStore(paths.choice(of: other)).read(), taken.device == found.device {
                throw CommandFailure(.usage, ControlFaultText.usedByOther, found.label, other)
            }
        }
        let kept = try confirmed(choice, isAllowed) { consent in
            let known = consent.paired == nil ? known : try reporting(BondStore(paths.bonds).read)
            let device = consent.paired.map { SelectedDevice($0, name: found.name) } ?? found
            let claim = known.claim(of: device.device, on: nil)
            let policy = SecurityPolicy(consent.security, least: least)
            return try reporting(policy.secured, device, claim, isKeyboard, chosen)
        }
        try reporting(store.write, kept)
        try daemon.show(JSONObject(kept), done: LogText.chosenForRun.message(kept.labelWithAddress))
    }

    /// Permissions that the user has given, as options or as answers.
    private struct Consent {
        /// True if another selected device may be replaced.
        var isAllowed: Bool
        var security: GATTLinkSecurity.Level?
        /// Identity of the device with which the user has paired on demand; nil if there was no need.
        var paired: DeviceAddress?
    }

    /// Calls `body` with the permissions that the user has given as options.
    ///
    /// If another device is selected or the device is unpaired, and the user can be asked, `body` is called again after
    /// the user has consented (LK-8). An unpaired keyboard is paired first, if the user agrees.
    private func confirmed<Done>(
        _ choice: DeviceSelector,
        _ isAllowed: Bool? = nil,
        _ body: (Consent) throws -> Done
    ) throws -> Done {
        var consent = Consent(isAllowed: isAllowed ?? yes, security: security)
        while true {
            do {
                return try body(consent)
            } catch let refusal as CommandFailure where refusal.kind != nil && Console.mayAsk(isJSON: daemon.json) {
                let question: Message
                switch refusal.kind {
                case .chosenAlready where !consent.isAllowed:
                    question = LogText.replaceChoice.message(refusal.cause, "\(choice)")
                    consent.isAllowed = true
                case .openDevice where consent.security == nil:
                    question = LogText.useOpenDevice.message(refusal.cause)
                    consent.security = GATTLinkSecurity.Level.none
                case .unpairedKeyboard where consent.paired == nil:
                    question = LogText.pairKeyboard.message(refusal.cause)
                default: throw refusal
                }
                guard try Console.isYes(question.text(.current)) else {
                    throw CommandFailure(.usage, CommandFaultText.notChosen)
                }
                if refusal.kind == .unpairedKeyboard { consent.paired = try pair(choice) }
            }
        }
    }
}

extension UseCommand {
    /// Pairs as `blewedge pair` does on a terminal, and returns the identity of the paired device.
    private func pair(_ choice: DeviceSelector) throws -> DeviceAddress {
        var request = PairingRequest(choice)
        request.console = .keyboardDisplay
        if security == .authenticated { request.required = .authenticated }
        return try PairRun(request, through: adapterOptions.transport, isJSON: false).run()
    }
}

struct ForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Clear the device selection, or delete the keys of a paired device.",
        usage: "blewedge forget [<address>] [<options>]",
        discussion: """
            Without an address, the command clears the selection. When the selection is cleared, a running daemon \
            closes its link, and waits for a new selection. With an address, the command deletes the keys of that \
            device from the bonds file and from the kernel, and the saved services of a keyboard, but keeps the \
            selection. When the kernel deletes the keys of a device, it also closes the link to the device.

            EXAMPLES:
              blewedge forget
              blewedge forget F0:F1:F2:F3:F4:F5
              blewedge forget --device scanner2
            """
    )

    @Argument(
        help: ArgumentHelp("Address of the paired device whose keys are deleted.", valueName: "address"),
        completion: Completion.addresses
    )
    var address: String?

    @OptionGroup var deviceOption: DeviceOption

    @OptionGroup var adapterOptions: AdapterOptions

    @OptionGroup var daemon: DaemonOptions

    func validate() throws {
        guard let address else { return }
        if BluetoothAddress(address) == nil { throw ValidationError("forget takes an address or nothing.") }
        if deviceOption.device != nil { throw ValidationError("--device and an address cannot be combined.") }
    }

    func run() throws {
        if let address = address.flatMap({ BluetoothAddress($0) }) { return try forgetBond(address) }
        let done = LogText.forgotten.message()
        try daemon.perform { client in
            try daemon.show(try client.ask(deviceOption.request(.forget)), done: done)
        } alone: {
            let paths = try DaemonPaths.current()
            var name: String?
            // Without tables, the selection can be cleared although the configuration is faulty.
            if deviceOption.device != nil || (try? Configuration.read(paths.configurationFile)) != nil {
                let file = try reporting(Configuration.read(_:mustExist:), paths.configurationFile, false)
                name = try file.part(named: deviceOption.device).table?.name
            }
            try reporting(ChoiceStore(paths.choice(of: name)).forget)
            try daemon.show(JSONObject(), done: done)
        }
    }

    private func forgetBond(_ address: BluetoothAddress) throws {
        let paths = try DaemonPaths.current()
        let store = BondStore(paths.bonds)
        let found = try store.found().bonds.map(\.identityAddress).first { $0.address == address }
        let wasKept = try reporting(store.remove, address)
        let types = found.map { [$0.type] } ?? AddressType.allCases
        let devices = types.map { DeviceAddress(address, $0) }
        // Also remove keys that the kernel still holds; if there is no adapter, the kernel holds none.
        let hadKeys = try UnpairRun(devices, through: adapterOptions.transport).run()
        _ = try reporting(HIDDeviceStore(paths.hidDevices).forget, address)
        guard wasKept || hadKeys else {
            throw CommandFailure(.usage, BondFaultText.unknownDevice, "\(address)")
        }
        let text: BondText = wasKept ? .forgotten : .onlyInKernel
        try daemon.show(JSONObject(), done: text.message("\(address)"))
    }
}

extension AddressType: ExpressibleByArgument {
    /// Names of the address types, which the help shows instead of the raw values, because those are values in packets.
    public static var allValueStrings: [String] { allCases.map { "\($0)" } }

    /// Parses `public` or `random`.
    public init?(argument: String) {
        guard let type = Self.allCases.first(where: { "\($0)" == argument }) else { return nil }
        self = type
    }
}

/// Searches for a device while no daemon is running, and returns the selected device to store (D-4).
final class ChoiceRun {
    private let foreground: ForegroundRun
    private let choice: DeviceSelector
    private let place: ManufacturerAddressField?
    private let profiles: [Profile]
    private var finder: DeviceFinder?
    private var found: (kept: SelectedDevice, isKeyboard: Bool)?

    /// Creates a search.
    ///
    /// `place` is the field in which devices advertise an address in addition to the one in the packet. `profiles` are
    /// those of the devices that can be used.
    init(
        _ choice: DeviceSelector,
        advertisedAt place: ManufacturerAddressField?,
        for profiles: [Profile],
        through transport: AdapterTransport
    ) throws(CommandFailure) {
        foreground = try ForegroundRun(transport)
        self.choice = choice
        self.place = place
        self.profiles = profiles
        foreground.onFinish = { [unowned self] completion in
            if let finder { finder.stop(completion: completion) } else { completion() }
        }
    }

    /// Scans until the device is heard; otherwise throws the reason, or the exit status for a signal.
    ///
    /// `isKeyboard` is true if a link with the device would use a keyboard profile, as far as its advertisement shows.
    func run() throws -> (kept: SelectedDevice, isKeyboard: Bool) {
        try foreground.run(note: LogText.noDaemonListening.message("\(choice)")) { [unowned self] radio in
            listen(on: radio)
        }
        guard let found else {
            throw CommandFailure(.internal, CommandFaultText.searchEnded)
        }
        return found
    }

    private func listen(on radio: RadioArbiter) {
        let finder = DeviceFinder(
            choice,
            advertisedAt: place,
            wantsName: true,
            sending: profiles.first?.advertised,
            on: radio
        )
        self.finder = finder
        finder.onResult = { [unowned self] result in
            switch result {
            case .success(let device):
                found = (choice.keptChoice(of: device, advertisedAt: place), device.isKeyboard(for: profiles))
                foreground.finish(.success(.success))
            case .failure(let failure): foreground.finish(.failure(CommandFailure(failure, of: choice)))
            }
        }
        finder.start(for: DeviceFinder.usualLimit)
    }
}
