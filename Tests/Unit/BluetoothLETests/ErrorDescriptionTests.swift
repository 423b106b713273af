// SPDX-License-Identifier: GPL-2.0-or-later

import BluetoothAdapters
import BluetoothHost
import BluetoothPackets
import Testing

@Suite("Descriptions of errors, as an application prints them") struct ErrorDescriptionTests {
    private static let handle = AttributeHandle(0x0012)
    private static let range = AttributeHandleRange(start: AttributeHandle(0x0020), end: AttributeHandle(0x0001))

    private static let procedures: [GATTError] = [
        .errorResponse(request: .readRequest, handle: handle, error: .readNotPermitted),
        .errorForAnotherRequest(.readRequest, expected: .writeRequest), .handleOutOfOrder(handle, expected: range),
        .invalidRange(range), .invalidItemLength(.readRequest, 3), .invalidValueLength(handle, 3),
        .tooManyRequests(limit: 3), .tooManyAttributes(limit: 3), .tookTooLong(limit: .seconds(3)),
        .valueTooLong(limit: 3), .echoDiffers(handle), .notSubscribable(handle), .invalidArgument(range),
        .queueFull(limit: 3), .exchangedAlready, .bearer(.transactionTimeout(.readRequest)), .bearer(.closed),
        .bearer(.unexpectedPDU(.readRequest, expected: nil)), .bearer(.notSequential(.readRequest)),
    ]

    private static let pairings: [(ManagedPairing.Failure, String)] = [
        (.refused(.pairDevice, .notSupported), "Pair Device (0x0019) was rejected: Not Supported (0x0C)"),
        (.notReached(.connectFailed), "the device was not reached: Connect Failed (0x04)"),
        (.disagreed, "the devices did not agree on keys"), (.alreadyPaired, "there are keys for this device already"),
        (.declined, "the user declined"), (.cancelled, "the pairing timed out or was cancelled"),
        (.notBonded, "the device stores no keys"),
        (
            .tooWeak(GATTLinkSecurity(level: .encrypted)),
            "the device offers less security than required: encrypted, with a key of 16 bytes"
        ), (.keyTooShort, "the device supports only keys of less than 16 bytes"),
        (.legacy, "the device supports only legacy pairing, which does not authenticate it"),
    ]

    private static let errors: [(BluetoothError, String)] = [
        (.unavailable(.unsupported, cause: "no adapter", remedy: "plug one in"), "no adapter; plug one in"),
        (.scanFailed(cause: "not permitted to scan", remedy: nil), "not permitted to scan"),
        (.connectionFailed(.outOfReach), "cannot connect: the device is out of range"),
        (.disconnected(.byPeer), "disconnected: ended by the device"),
        (.disconnected(.requested), "disconnected: ended by this side"),
        (.disconnected(.adapterLost("hci0 was removed")), "disconnected: hci0 was removed"),
        (.timedOut, "the connection or the pairing timed out"),
        (.notSecured, "there is no bond, the bond is too weak, or the device does not have its keys"),
        (.notConnected, "the device is not connected"),
        (.noCharacteristic(0x2A19, service: nil), "the device has no characteristic 2A19"),
        (.noCharacteristic(0x2A19, service: 0x180F), "the device has no characteristic 2A19 in a service 180F"),
        (.procedure(procedures[0]), "Read Request refused at 0x0012: Read Not Permitted (0x02)"),
        (.advertisingFailed(cause: "the kernel refused it"), "advertising failed: the kernel refused it"),
        (.server(.invalidLength(handle, 600)), "attribute 0x0012 does not accept a value of 600 bytes"),
        (.server(.notStored(handle)), "attribute 0x0012 has no stored value"),
        (.server(.notSubscribable(handle)), "attribute 0x0012 has neither notifications nor indications"),
        (.serverExists, "another server uses this adapter"), (.cancelled, "the operation was cancelled"),
    ]

    @Test("The description of an error is one plain sentence")
    func sentences() {
        for (error, text) in Self.errors { #expect("\(error)" == text) }
        for (failure, text) in Self.pairings {
            #expect("\(BluetoothError.pairingFailed(failure))" == "pairing failed: \(text)")
        }
    }

    @Test("A description contains no names of types, cases or arguments")
    func names() throws {
        var errors = Self.errors.map(\.0) + Self.procedures.map { .procedure($0) }
        errors += Self.pairings.map { .pairingFailed($0.0) }
        let layout = #expect(throws: AdvertisementLayout.Failure.self) {
            try AdvertisementLayout(.init(localName: String(repeating: "n", count: 60)))
        }
        errors.append(.advertisementTooLong(try #require(layout)))
        let service = GATTService(handles: Self.range, uuid: 0x180F)
        let databases: [GATTDatabaseError] = [
            .noHandle(0x180F), .invalidLength(0x2A19, 600), .constantIsWritable(0x2A19), .unknownInclude(service),
            .reservedDescriptor(0x2902), .unsupportedProperty(0x2A19),
        ]
        for text in errors.map({ "\($0)" }) + databases.map({ "\($0)" }) {
            #expect(!text.contains(/[a-z][A-Z]|rawValue|: nil|\w\(\w+:|^\w+\(/), "\(text)")
            #expect(!text.contains("\n") && text.count < 140, "\(text)")
        }
    }
}
