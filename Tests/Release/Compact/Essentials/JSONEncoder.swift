// SPDX-License-Identifier: GPL-2.0-or-later

/// Encodes values as JSON, with one member per line and sorted keys.
public final class JSONEncoder {
    /// Formatting options, which are accepted and ignored: the format is always the same.
    public struct OutputFormatting: OptionSet, Sendable {
        /// Bit set of the options.
        public let rawValue: UInt

        /// Creates the options from a bit set.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// One member per line.
        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        /// Sorted keys.
        public static let sortedKeys = OutputFormatting(rawValue: 2)
    }

    /// Formatting options, which are ignored.
    public var outputFormatting: OutputFormatting = []

    /// Creates an encoder, which can be used repeatedly.
    public init() {}

    /// Returns the JSON text of a value.
    ///
    /// - Throws: Errors of the value's `encode(to:)`.
    public func encode(_ value: some Encodable) throws -> Data {
        let place = JSONPlace()
        try place.put(value, at: [])
        var text = ""
        place.write(to: &text, indentation: "\n")
        return Data(text: text)
    }
}
