// SPDX-License-Identifier: GPL-2.0-or-later

/// Error with a human-readable description.
public protocol LocalizedError: Error {
    /// Description of the error.
    var errorDescription: String? { get }
}

extension LocalizedError {
    /// Default description: nil.
    public var errorDescription: String? { nil }
}

/// Encoded text.
public struct Data: Sendable {
    let text: String
}

extension String {
    /// Text encodings.
    public enum Encoding: Sendable {
        /// UTF-8.
        case utf8
    }

    /// Decodes the text.
    public init?(data: Data, encoding: Encoding) { self = data.text }
}
