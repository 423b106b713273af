// SPDX-License-Identifier: GPL-2.0-or-later

/// The keys that a virtual keyboard declares: those that its tables reach, so that the kernel drops every other.
public struct KeySet: Equatable, Sendable {
    /// The keys, in the kernel's order.
    public private(set) var codes: [KeyCode] = []

    /// No key.
    public init() {}

    /// The given keys.
    public init(_ keys: some Sequence<KeyCode>) {
        for key in keys { insert(key) }
    }

    /// Adds a key.
    public mutating func insert(_ key: KeyCode) {
        let place = codes.firstIndex { $0 >= key } ?? codes.endIndex
        guard place == codes.endIndex || codes[place] != key else { return }
        codes.insert(key, at: place)
    }

    /// The keys of both.
    public func union(_ other: KeySet) -> KeySet {
        KeySet(codes + other.codes)
    }

    /// The keys to declare to the kernel: these, and with `asKeyboard` the codes 1 to 31 too, all of which udev wants
    /// to see before it calls a device a keyboard (ID_INPUT_KEYBOARD).
    ///
    /// Refused where a combination is forbidden.
    public func declared(asKeyboard: Bool) throws(ForbiddenKeys) -> KeySet {
        let all = asKeyboard ? union(KeySet((1...31).map(KeyCode.init(rawValue:)))) : self
        if let forbidden = all.forbidden { throw forbidden }
        return all
    }

    /// The first fault of the set; nil for a set that may be declared.
    public var forbidden: ForbiddenKeys? {
        if let key = codes.first(where: { Self.never.contains($0) }) { return .alone(key) }
        guard let alt = codes.first(where: { $0 == .leftAlt || $0 == .rightAlt }),
            let key = codes.first(where: { Self.notWithAlt.contains($0) })
        else { return nil }
        return .together(alt, key)
    }

    private static let never = Set(["sysrq", "power", "sleep", "suspend"].compactMap(KeyCode.init(name:)))
    private static let notWithAlt = Set(
        ((1...24).map { "f\($0)" } + ["up", "down", "left", "right", "delete", "kpdot"]).compactMap(KeyCode.init(name:))
    )
}

/// Keys that no configuration may declare, because a barcode could then restart the machine or leave the application.
public enum ForbiddenKeys: Error, Equatable, Sendable, CustomStringConvertible {
    /// A key that acts on the whole machine.
    case alone(KeyCode)
    /// Alt together with a key that makes a switch of terminals or a restart of it.
    case together(KeyCode, KeyCode)

    /// One line for people, with the reason.
    public var description: String {
        switch self {
        case .alone(let key): "key \(key) is refused: it stops or controls the whole machine"
        case .together(let alt, let key):
            "keys \(alt) and \(key) are refused together: with Ctrl they could restart the machine or change the terminal"
        }
    }
}
