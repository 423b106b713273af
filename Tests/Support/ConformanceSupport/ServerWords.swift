// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
import BluetoothPackets
import TestSupport

/// Controls a server with the commands of a script, and formats its events.
package struct ServerWords {
    /// Error of a command that is not understood.
    package struct NotUnderstood: Error {
        /// Words of the command.
        package var words: [String]
    }

    /// Last request of the server.
    private var question: GATTServer.RequestID?

    package init() {}

    /// Performs the command of a `do` line; returns the outcome if the upper tester receives it immediately.
    package func perform(
        _ words: [String],
        on server: inout GATTServer,
        _ peer: GATTServer.PeerID
    ) throws -> String? {
        let bytes = VectorFile.bytes(words.last ?? "") ?? []
        do {
            switch words.first {
            case "notify":
                guard words.count > 2, let handle = UInt16(words[1], radix: 16) else {
                    throw NotUnderstood(words: words)
                }
                return try server.update(bytes, of: AttributeHandle(handle)).isEmpty ? nil : "full"
            case "security":
                let level = GATTLinkSecurity.Level.allCases.first { words.count > 1 && "\($0)" == words[1] }
                server.setSecurity(
                    GATTLinkSecurity(
                        level: level ?? .none,
                        keySize: words.compactMap { UInt8($0) }.first ?? 16,
                        isBonded: words.contains("bonded")
                    ),
                    of: peer
                )
            case "respond": try server.respond(to: open(words), with: bytes)
            case "accept": try server.accept(open(words))
            case "refuse": try server.refuse(open(words), ATTError(rawValue: bytes.first ?? 0))
            default: throw NotUnderstood(words: words)
            }
            return nil
        } catch GATTServerError.unknownRequest {
            return "no such question"
        }
    }

    private func open(_ words: [String]) throws -> GATTServer.RequestID {
        guard let question else { throw NotUnderstood(words: words) }
        return question
    }

    /// Formats an event for the scripts, and stores a request so that a later command can answer it.
    package mutating func describe(_ event: GATTServer.Event) -> String {
        switch event {
        case .read(let id, _, let handle, let offset):
            question = id
            return "read \(handle) \(offset)"
        case .write(let id, _, let writes):
            question = id
            return "write" + writes.map { " \($0.handle) \($0.offset) 0x" + Hexadecimal.text($0.value) }.joined()
        case .requestEnded: return "void"
        case .command(_, let handle, let value): return "command \(handle) 0x" + Hexadecimal.text(value)
        case .written(_, let handle, let value): return "written \(handle) 0x" + Hexadecimal.text(value)
        case .subscribed(_, let handle, let kind): return "subscribed \(handle) \(kind)"
        case .unsubscribed(_, let handle): return "unsubscribed \(handle)"
        case .readyToUpdate: return "ready"
        case .confirmed(_, let handle): return "confirmed \(handle)"
        }
    }
}
