// SPDX-License-Identifier: GPL-2.0-or-later

package import BluetoothHost
package import BluetoothPackets

/// The attributes of a device: its primary services with their characteristics and descriptors.
///
/// They are in ascending order of their handles.
package struct GATTTree: Equatable, Sendable {
    package struct Characteristic: Equatable, Sendable {
        package var characteristic: GATTCharacteristic
        package var descriptors: [GATTDescriptor]

        package init(characteristic: GATTCharacteristic, descriptors: [GATTDescriptor] = []) {
            self.characteristic = characteristic
            self.descriptors = descriptors
        }
    }

    package struct Service: Equatable, Sendable {
        package var service: GATTService
        package var includes: [GATTIncludedService]
        package var characteristics: [Characteristic]

        package init(
            service: GATTService,
            includes: [GATTIncludedService] = [],
            characteristics: [Characteristic] = []
        ) {
            self.service = service
            self.includes = includes
            self.characteristics = characteristics
        }
    }

    package var services: [Service]

    package init(services: [Service] = []) {
        self.services = services
    }
}

/// An attribute, as the user specifies it: by its handle or by a UUID.
package enum GATTTarget: Equatable, Sendable {
    case handle(AttributeHandle)
    case uuid(BluetoothUUID)

    /// Parses a handle such as `0x0012` (one to four digits), or a UUID such as `2A00` or longer.
    ///
    /// Returns nil for any other text.
    package init?(_ text: String) {
        if text.hasPrefix("0x") || text.hasPrefix("0X") {
            let digits = text.dropFirst(2)
            // Require one to four hexadecimal digits, because `UInt16(_:radix:)` alone would also accept a sign.
            guard digits.utf8.count <= 4, digits.allSatisfy(\.isHexDigit), let number = UInt16(digits, radix: 16),
                number != 0
            else { return nil }
            self = .handle(AttributeHandle(number))
        } else if let uuid = BluetoothUUID(text) {
            self = .uuid(uuid)
        } else {
            return nil
        }
    }
}

extension GATTTarget: CustomStringConvertible {
    /// The target as written on the command line.
    package var description: String {
        switch self {
        case .handle(let handle): "\(handle)"
        case .uuid(let uuid): "\(uuid)"
        }
    }
}
