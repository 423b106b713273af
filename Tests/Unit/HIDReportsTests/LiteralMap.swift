// SPDX-License-Identifier: GPL-2.0-or-later

import HIDReports

/// Model of a report descriptor that lists each usage, as Linux does: slow, and without ranges.
struct LiteralMap {
    struct Field {
        var usages: [UInt32] = []
        var flags: UInt32
        var offset: Int
        var size: Int
        var count: Int
        var minimum: Int32
        var maximum: Int32
    }

    struct Report {
        var bits = 0
        var fields: [Field] = []
    }

    /// Reports by kind (1 to 3) and id.
    private(set) var reports: [[Int]: Report] = [:]
    /// Position of the item that is refused; nil if the map is accepted.
    private(set) var refusedAt: Int?

    private struct Globals {
        var page: UInt32 = 0
        var minimum: Int32 = 0
        var maximum: Int32 = 0
        var size = 0
        var count = 0
        var id = 0
    }

    private struct Locals {
        var usages: [(usage: UInt32, isWhole: Bool)] = []
        var minimum: UInt32 = 0
        var isOpen = false
        var delimiters = 0
    }

    private var globals = Globals()
    private var stack: [Globals] = []
    private var locals = Locals()
    private var depth = 0

    init(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count {
            let size = [0, 1, 2, 4][Int(bytes[offset] % 4)]
            guard bytes[offset] < 0xF0, offset + size < bytes.count else { break }
            let data = bytes[(offset + 1)...].prefix(size).reversed().reduce(0 as UInt32) { $0 * 256 + UInt32($1) }
            guard apply(bytes[offset] / 4 % 4, tag: bytes[offset] / 16, data, size: size) else { break }
            offset += 1 + size
        }
        let isWhole = !bytes.isEmpty && offset == bytes.count && depth == 0 && !locals.isOpen && offset <= 4096
        refusedAt = isWhole ? nil : min(offset, 4096)
    }

    /// Returns false if the item is refused.
    private mutating func apply(_ kind: UInt8, tag: UInt8, _ data: UInt32, size: Int) -> Bool {
        let signed =
            size == 1
            ? Int32(Int8(truncatingIfNeeded: data))
            : size == 2 ? Int32(Int16(truncatingIfNeeded: data)) : Int32(bitPattern: data)
        switch (kind, tag) {
        case (0, _): return main(tag, data)
        case (1, 0): globals.page = data
        case (1, 1): globals.minimum = signed
        case (1, 2): globals.maximum = globals.minimum < 0 ? signed : Int32(bitPattern: data)
        case (1, 3...6): break
        case (1, 7):
            globals.size = Int(data)
            return data <= 256
        case (1, 8):
            globals.id = Int(data)
            return (1...255).contains(data)
        case (1, 9):
            globals.count = Int(data)
            return data <= 12_288
        case (1, 10):
            stack.append(globals)
            return stack.count <= 4
        case (1, 11):
            guard let last = stack.popLast() else { return false }
            globals = last
        case (1, _): return false
        case (2, 10):
            guard locals.isOpen != (data != 0) else { return false }
            locals.isOpen.toggle()
            locals.delimiters += locals.isOpen ? 1 : 0
        case (2, 0...2) where locals.delimiters > 1: break
        case (2, 0): return add(data, size)
        case (2, 1): locals.minimum = data
        case (2, 2): return addRange(data, size)
        default: break
        }
        return true
    }

    private mutating func add(_ usage: UInt32, _ size: Int) -> Bool {
        guard locals.usages.count < 12_288 else { return false }
        locals.usages.append(size == 4 ? (usage, true) : (globals.page << 16 | usage & 0xFFFF, false))
        return true
    }

    private mutating func addRange(_ data: UInt32, _ size: Int) -> Bool {
        var last = data
        let taken = UInt32(locals.usages.count)
        if last &- locals.minimum &+ taken >= 12_288 {
            last = 12_288 - taken &+ locals.minimum &- 1
            guard last != 0 else { return false }
        }
        var next = locals.minimum
        while next <= last {
            guard add(next, size) else { return false }
            next &+= 1
        }
        return true
    }

    private mutating func main(_ tag: UInt8, _ data: UInt32) -> Bool {
        for index in locals.usages.indices.reversed() where !locals.usages[index].isWhole {
            if locals.usages[index].usage >> 16 == globals.page { break }
            locals.usages[index].usage = globals.page << 16 | locals.usages[index].usage & 0xFFFF
        }
        defer { locals = Locals() }
        switch tag {
        case 10: depth += 1
        case 12:
            depth -= 1
            return depth >= 0
        case 8: return addField(1, data)
        case 9: return addField(2, data)
        case 11: return addField(3, data)
        default: break
        }
        return true
    }

    private mutating func addField(_ kind: Int, _ flags: UInt32) -> Bool {
        var report = reports[[kind, globals.id]] ?? Report()
        let (minimum, maximum) = (globals.minimum, globals.maximum)
        let isRange = minimum < 0 ? minimum <= maximum : UInt32(minimum) <= UInt32(bitPattern: maximum)
        guard isRange else { return false }
        let offset = report.bits
        report.bits += globals.size * globals.count
        guard report.bits <= 32_760 else { return false }
        if !locals.usages.isEmpty, report.fields.count < 256 {
            report.fields.append(
                Field(
                    usages: locals.usages.map(\.usage),
                    flags: flags,
                    offset: offset,
                    size: globals.size,
                    count: globals.count,
                    minimum: minimum,
                    maximum: maximum
                )
            )
        }
        reports[[kind, globals.id]] = report
        return true
    }
}
