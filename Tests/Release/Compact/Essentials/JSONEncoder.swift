// SPDX-License-Identifier: GPL-2.0-or-later

/// Writes values as JSON: a line for each member, in the order of the keys.
public final class JSONEncoder {
    /// How the text is laid out; as it is here whatever is asked for.
    public struct OutputFormatting: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Layout of the bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A line for each member.
        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        /// Members in the order of their keys.
        public static let sortedKeys = OutputFormatting(rawValue: 2)
    }

    /// How the text is laid out.
    public var outputFormatting: OutputFormatting = []

    /// Encoder of any number of values.
    public init() {}

    /// The text of a value.
    ///
    /// - Throws: What the value's own `encode(to:)` throws.
    public func encode(_ value: some Encodable) throws -> Data {
        let place = JSONPlace()
        try place.put(value, at: [])
        var text = ""
        place.write(to: &text, indentation: "\n")
        return Data(text: text)
    }
}
