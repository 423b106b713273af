// SPDX-License-Identifier: GPL-2.0-or-later

/// The btsnoop file format, with records of the kernel's monitor channel: btmon's own format, which Wireshark reads
/// too.
///
/// All of a file's own fields are big-endian; the packets in it are as they went over the transport. The format is that
/// of RFC 1761 with another identification and other timestamps; datalink type 2001 is BlueZ's, and Wireshark's
/// `BLUETOOTH_LINUX_MONITOR`. Its records name the controller and the direction, and there is a place for the
/// controller's own address, all of which datalink type 1002 (H4) lacks.
public enum Btsnoop {
    /// The eight bytes that a file begins with.
    public static let identification: [UInt8] = Array("btsnoop\0".utf8)
    /// The only version there is.
    public static let version: UInt32 = 1
    /// The datalink type of records of the monitor channel.
    public static let monitorDatalink: UInt32 = 2001
    /// The bytes before the first record.
    public static let headerByteCount = 16
    /// The bytes before each record's packet.
    public static let recordHeaderByteCount = 24
    /// The longest packet that a reader accepts: what a 16-bit length allows.
    public static let packetCapacity = 65_535
    /// The beginning of 1970 in the microseconds of the file.
    ///
    /// They count from "the year 0", which every program takes as 719,540 days before: BlueZ's and Wireshark's number
    /// too.
    public static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

    /// The header of a file of the monitor's records.
    public static let header: [UInt8] = {
        var writer = ByteWriter(reservingCapacity: headerByteCount)
        writer.write(identification)
        writer.write(version.byteSwapped)
        writer.write(monitorDatalink.byteSwapped)
        return writer.bytes
    }()

    /// Refuses bytes that are not the header of such a file.
    public static func checkHeader(_ bytes: Span<UInt8>) throws(DecodingError) {
        var reader = ByteReader(bytes, packet: "btsnoop file")
        for byte in identification where try reader.readUInt8("Identification Pattern") != byte {
            throw DecodingError(
                packet: "btsnoop file",
                field: "Identification Pattern",
                offset: reader.offset &- 1,
                reason: .invalidValue(UInt64(bytes[reader.offset &- 1]))
            )
        }
        let version = try reader.readUInt32("Version Number").byteSwapped
        guard version == Self.version else { throw reader.error("Version Number", .invalidValue(UInt64(version))) }
        let datalink = try reader.readUInt32("Datalink Type").byteSwapped
        guard datalink == monitorDatalink else {
            throw reader.error("Datalink Type", .invalidValue(UInt64(datalink)))
        }
    }
}
