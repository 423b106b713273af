// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothPackets
import LinuxIO
import SystemPackage

/// A query of the kernel's adapters, which changes none of them.
package final class AdapterCensus {
    /// An adapter that the kernel manages.
    package struct Entry: Hashable, Sendable {
        /// The adapter's index: 0 is hci0.
        package var index: ControllerIndex
        /// The adapter's address, name, version and settings.
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

    /// Asks the kernel for its adapters, and returns them sorted by index.
    ///
    /// It blocks until the kernel has answered, on an event loop of its own.
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
        } catch {
            throw AdapterError(error, "ask the kernel for its adapters")
        }
        return try result.get()
    }

    private func begin() {
        let command = ManagementCommand.readIndexList
        ask(command) { [unowned self] status, parameters throws(DecodingError) in
            guard status == .success else { return completion(.failure(.refused("\(command.opcode)", "\(status)"))) }
            remaining = try ManagementReturn.indexList(parameters.span).sorted { $0.rawValue > $1.rawValue }
            next()
        }
    }

    private func next() {
        guard let index = remaining.popLast() else { return completion(.success(entries)) }
        ask(.readControllerInformation(index)) { [unowned self] status, parameters throws(DecodingError) in
            // An adapter that was removed since the list was read is left out.
            if status == .success {
                let information = try ControllerInformation(returnParameters: parameters.span)
                entries.append(Entry(index: index, information: information))
            }
            next()
        }
    }

    private func ask(
        _ command: ManagementCommand,
        _ take: @escaping (ManagementStatus, [UInt8]) throws(DecodingError) -> Void
    ) {
        management.send(command) { [weak self] reply in
            switch reply {
            case .timedOut: self?.completion(.failure(.silent(command.opcode)))
            case .status(let status, let parameters):
                do throws(DecodingError) {
                    try take(status, parameters)
                } catch {
                    self?.completion(.failure(AdapterError(.malformed(error))))
                }
            }
        }
    }
}

extension AdapterTransport {
    /// True if the controller exists; one that is reached by TCP is taken to exist.
    package var isPresent: Bool {
        switch self {
        case .kernel(let selector):
            ((try? AdapterCensus.take()) ?? []).contains { entry in
                switch selector {
                case .any: true
                case .index(let index): entry.index == index
                case .address(let address): entry.information.address == address
                }
            }
        case .userChannel(let index): FileSystem.exists("/sys/class/bluetooth/hci\(index.rawValue)")
        case .h4(.unixSocket(let path)), .h4(.serialLine(let path, _)): FileSystem.exists(path)
        case .h4(.tcp): true
        }
    }
}
