// SPDX-License-Identifier: GPL-2.0-or-later

import ArgumentParser
import BeaconServer
import Beacons
import Configuration
import Control
import Daemon
import Devices
import LinuxIO
import SystemPackage
import Texts

/// The options of every command that uses a beacon server (D-27).
struct ServerOptions: ParsableArguments {
    @Option(
        "Address of the server, in the form https://HOST[:PORT][/PATH] (default: beacons.server in the configuration).",
        value: "address"
    )
    var server: String?

    @Option(
        "File that contains the access token (default: beacons.app-code-file in the configuration). The token file must have mode 0600 and belong to you.",
        value: "file"
    )
    var tokenFile: String?

    @Option("File of certificate authorities to trust instead of those of the system.", value: "file")
    var caFile: String?

    @Option("Address of the proxy to use. Proxy settings in environment variables are ignored.", value: "address")
    var proxy: String?

    @Option("Time-out of each request to the server.", value: "time")
    var timeout = TimeArgument(.seconds(15))

    @Flag(help: "Print the result as one JSON object. If the command fails, the JSON object contains the error number.")
    var json = false

    /// Returns the settings for the server that the option names or, without the option, the configuration.
    ///
    /// Throws an error if neither names a server.
    func settings(_ configured: BeaconConfiguration) throws(CommandFailure) -> ServerSettings {
        guard let server = server ?? configured.server else {
            let file = try DaemonPaths.current().configurationFile
            throw CommandFailure(.configuration, BeaconServerFaultText.notConfigured, "\(file)")
        }
        guard let tokenFile = tokenFile ?? configured.appCodeFile else {
            throw CommandFailure(.configuration, BeaconServerFaultText.tokenWanted)
        }
        let address: ServerAddress
        do throws(ServerAddress.Fault) {
            address = try ServerAddress(server)
        } catch {
            throw CommandFailure(error, in: server)
        }
        var settings = ServerSettings(address, tokenFile: FilePath(tokenFile))
        settings.authorityFile = caFile.map { FilePath($0) }
        settings.proxy = proxy
        settings.userID = configured.userID
        settings.timeout = timeout.duration
        settings.connectTimeout = min(settings.connectTimeout, timeout.duration)
        return settings
    }

    /// Calls `run` with the server, by default with this process's files and streams.
    ///
    /// Errors for programs include error numbers.
    func perform(
        hours: Int? = nil,
        isTestMode: Bool = false,
        files: ServerFiles? = nil,
        _ output: ServerOutput? = nil,
        _ run: (ServerRun) throws -> Void
    ) throws {
        let output = output ?? ServerOutput(isJSON: json)
        let configured: BeaconConfiguration?
        var settings: ServerSettings
        do throws(CommandFailure) {
            configured =
                files == nil
                ? try reporting(Configuration.read(_:mustExist:), DaemonPaths.current().configurationFile, false)
                    .beacons
                : nil
            settings = try self.settings(configured ?? BeaconConfiguration())
        } catch {
            try output.tell(error)
            throw error
        }
        settings.updateInterval = hours ?? configured?.updateInterval ?? settings.updateInterval
        settings.isTestMode = isTestMode || configured?.isTest == true
        do {
            let files = try files ?? .current()
            settings.agreement = try AgreementStore(files.agreement).read()
            try run(ServerRun(settings, files: files, output))
        } catch let fault as ServerFault {
            try output.tell(fault)
            throw CommandFailure(fault)
        } catch let failure as ServerFile.Failure {
            let failure = CommandFailure(failure)
            try output.tell(failure)
            throw failure
        }
    }
}

/// Prints the results of the beacon server commands: as text for people, or as JSON for programs.
struct ServerOutput {
    let isJSON: Bool
    let write: (String) throws -> Void
    let note: (Message) -> Void
    /// Handler that is called with each record that the server has accepted.
    let onContact: (TrackRun.Contact) -> Void

    /// Creates an output that, by default, prints to this process's streams and notifies the clients of the daemon.
    init(
        isJSON: Bool,
        write: @escaping (String) throws -> Void = { try StandardStream.output.write($0) },
        note: @escaping (Message) -> Void = { Console.note($0) },
        onContact: @escaping (TrackRun.Contact) -> Void = { ServerOutput.tellDaemon($0) }
    ) {
        (self.isJSON, self.write, self.note, self.onContact) = (isJSON, write, note, onContact)
    }

    /// Best effort: makes the daemon report a contact to its clients.
    private static func tellDaemon(_ contact: TrackRun.Contact) {
        guard let region = BeaconRegion(contact.record.region.description),
            var client = try? ControlClient(at: DaemonPaths.reachable().map(\.controlSocket.string))
        else { return }
        _ = try? client.ask(.beacons(.contact(region, contact.result)))
    }

    func tell(_ object: JSONObject) throws { try write(object.text + "\n") }

    /// Prints an error for programs, with the server's error number or with the HTTP status.
    func tell(_ fault: ServerFault) throws {
        guard isJSON else { return }
        var object = JSONObject()
        object.add("ok", false)
        object.add(membersOf: Self.members(of: fault))
        try tell(object)
    }

    /// Prints for programs that the command failed before the server was contacted.
    func tell(_ failure: CommandFailure) throws {
        guard isJSON else { return }
        var object = JSONObject()
        object.add("ok", false)
        object.add("cause", failure.cause)
        object.add("remedy", failure.remedy)
        try tell(object)
    }

    /// Returns the JSON members that describe an error.
    static func members(of fault: ServerFault) -> JSONObject {
        var object = JSONObject()
        object.add("error", fault.error?.rawValue)
        object.add("status", fault.status)
        let failure = CommandFailure(fault)
        object.add("cause", failure.cause)
        object.add("remedy", failure.remedy)
        return object
    }
}
