// SPDX-License-Identifier: GPL-2.0-or-later
//
// GATT server with attributes of every kind, which is also a central on the same adapter, for tests with other
// Bluetooth stacks. It uses only the public library.
//
//     gattpeer ADAPTER NAME
//
// Prints the contents of its database, and then events, including the adapter's state, as one JSON object per line. It
// advertises whenever the adapter is powered on. Commands on standard input:
//
//     notify COUNT      send this number of values to all subscribers
//     indicate COUNT    the same with indications
//     connect ADDRESS UUID
//                       connect to a device with a static random address, and count the values of a characteristic
//     quit              disconnect, close the adapter and exit

import BluetoothAdapters
import BluetoothLE
import BluetoothPackets
import Glibc

/// Input of the task below.
enum Input: Sendable {
    case command([String])
    case event(ServerEvent)
    case state(BluetoothState)
}

/// Prints a line and flushes the output.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    var offset = 0
    while offset < bytes.count {
        let count = bytes[offset...].withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
        guard count > 0 else { exit(74) }
        offset += count
    }
}

func fail(_ cause: String) -> Never {
    say(#"{"event":"failed","cause":"\#(cause.filter { $0 != "\"" && $0 != "\\" })"}"#)
    exit(70)
}

guard CommandLine.arguments.count == 3 else { fail("usage: gattpeer ADAPTER NAME") }
let name = CommandLine.arguments[2]
do {
    let adapter = try BluetoothAdapter(try AdapterTransport(CommandLine.arguments[1]))
    let rich = try RichDatabase(name: name)
    let dynamic = DynamicValue()
    let server = PeripheralServer(
        adapter,
        database: rich.database,
        handlers: ServerHandlers(
            read: { (_, _) throws(ATTError) in await dynamic.value },
            write: { (_, writes) throws(ATTError) in try await dynamic.write(writes) }
        )
    )
    for line in rich.lines { say(line) }
    let (inputs, source) = AsyncStream<Input>.makeStream(bufferingPolicy: .unbounded)
    CommandReader { words in source.yield(.command(words)) }.start()
    let events = Task {
        for try await event in server.events { source.yield(.event(event)) }
    }
    let states = await adapter.states()
    let following = Task {
        for try await state in states { source.yield(.state(state)) }
    }
    // The states report a failure, and later attempts as well.
    try? await adapter.start()

    let follower = Follower(Central(adapter))
    var sender: Sender?
    inputs: for await input in inputs {
        switch input {
        case .command(let words):
            switch (words.first, words.dropFirst().first) {
            case ("notify", let count?):
                sender = Sender(server, rich.notified, total: UInt32(count) ?? 0)
            case ("indicate", let count?):
                sender = Sender(server, rich.indicated, total: UInt32(count) ?? 0)
            case ("connect", let address?) where words.count == 3:
                try await follower.follow(address, words[2])
            case ("quit", _): break inputs
            default: fail("no command: \(words.joined(separator: " "))")
            }
        case .state(let state):
            say(#"{"event":"state","state":"\#(state)"}"#)
            guard state == .poweredOn else { continue }
            do throws(BluetoothError) {
                try await server.advertise(.init(localName: name, services: [RichDatabase.batteryService]))
                say(#"{"event":"advertising"}"#)
            } catch {
                // A lost adapter recovers on its own and then reports its state.
                say(#"{"event":"silent"}"#)
            }
        case .event(.connected): say(#"{"event":"connected"}"#)
        case .event(.disconnected): say(#"{"event":"disconnected"}"#)
        case .event(.subscribed(_, let handle, let kind)):
            say(#"{"event":"subscribed","handle":\#(handle.rawValue),"kind":"\#(kind)"}"#)
        case .event(.written(_, let handle, let value)):
            say(#"{"event":"written","handle":\#(handle.rawValue),"hex":"\#(Hexadecimal.text(value))"}"#)
        case .event(.command(_, let handle, let value)):
            say(#"{"event":"command","handle":\#(handle.rawValue),"hex":"\#(Hexadecimal.text(value))"}"#)
        case .event(.unsubscribed), .event(.readyToUpdate), .event(.confirmed): break
        }
        if try await sender?.advance() == true {
            sender = nil
            say(#"{"event":"sent"}"#)
        }
    }
    events.cancel()
    following.cancel()
    await follower.leave()
    for central in await server.centrals { await server.disconnect(central.id) }
    await server.stopAdvertising()
    say(#"{"event":"end","dropped":\#(server.events.dropped)}"#)
} catch {
    fail("\(error)")
}
