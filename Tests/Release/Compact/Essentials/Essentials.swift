// SPDX-License-Identifier: GPL-2.0-or-later

/// An error with a text for people.
public protocol LocalizedError: Error {
    /// The text.
    var errorDescription: String? { get }
}

extension LocalizedError {
    /// No text.
    public var errorDescription: String? { nil }
}

/// A text as the bytes of its encoding.
public struct Data: Sendable {
    let text: String
}

extension String {
    /// The encodings of a text.
    public enum Encoding: Sendable {
        /// UTF-8.
        case utf8
    }

    /// The text of the bytes.
    public init?(data: Data, encoding: Encoding) { self = data.text }
}
