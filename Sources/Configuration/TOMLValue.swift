// SPDX-License-Identifier: GPL-2.0-or-later

import CTOML

/// Value in a TOML 1.0 text with its line number, parsed by toml++.
struct TOMLValue: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        case string(String)
        case integer(Int64)
        case boolean(Bool)
        case array([TOMLValue])
        case table([TOMLMember])
        /// A fraction, a date or a time.
        case other
    }

    var kind: Kind
    var line: Int
}

struct TOMLMember: Equatable, Sendable {
    var key: String
    var line: Int
    var value: TOMLValue
}

extension TOMLValue {
    /// Parses a text of at most `limit` bytes; returns its members in line order.
    static func table(of text: String, limit: Int) throws(ConfigurationFaults) -> [TOMLMember] {
        guard text.utf8.count <= limit else {
            throw ConfigurationFaults([ConfigurationFault(line: nil, reason: "longer than \(limit) bytes")])
        }
        do throws(ConfigurationFault) {
            return try table(of: text)
        } catch {
            throw ConfigurationFaults([error])
        }
    }

    /// Parses a text; returns its members in line order.
    static func table(of text: String) throws(ConfigurationFault) -> [TOMLMember] {
        let builder = TOMLBuilder()
        var fault = ctoml_fault()
        var text = text
        let isRead = text.withUTF8 { bytes in
            // Sound: the builder outlives the call, and only this call uses the context, on this thread.
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                unsafe ctoml_read(
                    characters.baseAddress,
                    characters.count,
                    Unmanaged.passUnretained(builder).toOpaque(),
                    { context, item in
                        guard let context = unsafe context, let item = unsafe item else { return }
                        unsafe Unmanaged<TOMLBuilder>.fromOpaque(context).takeUnretainedValue().take(
                            TOMLItem(item.pointee)
                        )
                    },
                    &fault
                )
            }
        }
        guard isRead else {
            // Sound: the reason ends with a zero byte inside its array.
            let reason = unsafe withUnsafeBytes(of: &fault.reason) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard fault.line > 0 else { throw ConfigurationFault(line: nil, reason: "not TOML: \(reason)") }
            throw ConfigurationFault(line: Int(fault.line), reason: "column \(fault.column): not TOML: \(reason)")
        }
        return builder.root
    }
}

/// Builder that assembles a table from the items that the parser reports one by one.
private final class TOMLBuilder {
    private struct Open {
        var member: TOMLMember
        var isTable: Bool
        var members: [TOMLMember] = []
    }

    private var open: [Open] = []
    private(set) var root: [TOMLMember] = []

    func take(_ item: TOMLItem) {
        switch item.content {
        case .end: close()
        case .table: open.append(Open(member: item.member(.other), isTable: true))
        case .array: open.append(Open(member: item.member(.other), isTable: false))
        case .value(let kind): add(item.member(kind))
        }
    }

    private func close() {
        guard var last = open.popLast() else { return }
        let members = last.members.sorted { $0.line < $1.line }
        last.member.value.kind = last.isTable ? .table(members) : .array(last.members.map(\.value))
        if open.isEmpty { root = members } else { add(last.member) }
    }

    private func add(_ member: TOMLMember) {
        guard !open.isEmpty else { return }
        open[open.count - 1].members.append(member)
    }
}

/// Copy of an item that the C parser reported.
private struct TOMLItem {
    enum Content {
        case value(TOMLValue.Kind)
        case array
        case table
        case end
    }

    let key: String
    let line: Int
    let content: Content

    /// Copies an item while the C parser guarantees that the item is valid.
    @unsafe init(_ item: ctoml_item) {
        // Sound: the parser provides a length with each pointer, and both are valid during the call that creates this
        // item.
        key = unsafe Self.text(item.key, item.key_length)
        line = Int(unsafe item.line)
        let number = unsafe item.number
        content =
            switch UInt32(bitPattern: unsafe item.kind) {
            case CTOML_END.rawValue: .end
            case CTOML_TABLE.rawValue: .table
            case CTOML_ARRAY.rawValue: .array
            case CTOML_STRING.rawValue: .value(.string(unsafe Self.text(item.text, item.text_length)))
            case CTOML_INTEGER.rawValue: .value(.integer(number))
            case CTOML_BOOLEAN.rawValue: .value(.boolean(number != 0))
            default: .value(.other)
            }
    }

    func member(_ kind: TOMLValue.Kind) -> TOMLMember {
        TOMLMember(key: key, line: line, value: TOMLValue(kind: kind, line: line))
    }

    @unsafe private static func text(_ pointer: UnsafePointer<CChar>?, _ count: Int) -> String {
        guard let pointer = unsafe pointer else { return "" }
        let bytes = unsafe UnsafeBufferPointer(start: pointer, count: count)
        return unsafe String(decoding: bytes.lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
