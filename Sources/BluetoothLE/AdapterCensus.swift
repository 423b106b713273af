// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
import LinuxIO
import SystemPackage

/// Asks the kernel which adapters there are, and changes none of them.
package final class AdapterCensus {
    /// An adapter that the kernel manages.
    package struct Entry: Hashable, Sendable {
        /// Its number: 0 is hci0.
        package var index: ControllerIndex
        /// What the kernel tells of it.
        package var information: ControllerInformation
    }

    private let management: ManagementChannel
    private let completion: (Result<[Entry], AdapterError>) -> Void
    private var remaining: [ControllerIndex] = []
    private var entries: [Entry] = []

    private init(
        _ management: ManagementChannel,
        _ completion: @escaping (Result<[Entry], AdapterError>) -> Void
    ) {
        self.management = management
        self.completion = completion
    }

    /// All adapters, by their number.
    ///
    /// Waits for the kernel's answers, on a loop of its own.
    package static func take() throws(AdapterError) -> [Entry] {
        var result: Result<[Entry], AdapterError> = .failure(.noAdapter)
        do throws(Errno) {
            let loop = try EventLoop()
            let census = AdapterCensus(try ManagementChannel(on: loop)) { found in
                result = found
                loop.stop()
            }
            census.begin()
            try loop.run()
            census.management.close()
        } catch .addressFamilyNotSupported {
            throw .noBluetoothInKernel
        } catch {
            throw .system("ask the kernel for its adapters", error)
        }
        return try result.get()
    }

    private func begin() {
        let command = ManagementCommand.readIndexList
        management.send(command) { [weak self] reply in
            guard let self else { return }
            switch reply {
            case .timedOut: completion(.failure(.silent(command.opcode)))
            case .status(.success, let parameters):
                do throws(DecodingError) {
                    remaining = try ManagementReturn.indexList(parameters.span).sorted { $0.rawValue > $1.rawValue }
                    next()
                } catch {
                    completion(.failure(AdapterError(.malformed(error))))
                }
            case .status(let status, _): completion(.failure(.refused("\(command.opcode)", "\(status)")))
            }
        }
    }

    private func next() {
        guard let index = remaining.popLast() else { return completion(.success(entries)) }
        let command = ManagementCommand.readControllerInformation(index)
        management.send(command) { [weak self] reply in
            guard let self else { return }
            switch reply {
            case .timedOut: completion(.failure(.silent(command.opcode)))
            case .status(.success, let parameters):
                do throws(DecodingError) {
                    let information = try ControllerInformation(returnParameters: parameters.span)
                    entries.append(Entry(index: index, information: information))
                    next()
                } catch {
                    completion(.failure(AdapterError(.malformed(error))))
                }
            // It has gone since it was listed.
            case .status: next()
            }
        }
    }
}
