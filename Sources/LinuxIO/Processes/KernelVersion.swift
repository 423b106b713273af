// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc

/// The version of a Linux kernel.
package struct KernelVersion: Equatable, Sendable {
    /// The first two numbers, which name the series: 6 and 1 of 6.1.192.
    package let major: Int
    package let minor: Int
    /// The third number; nil where the distribution does not give it.
    package let patch: Int?
    /// The version as text: Debian's, such as `6.1.192-2`, or else the release.
    package let text: String

    /// Reads a version from the release and the build, as `uname -r` and `uname -v` print them; nil for other texts.
    ///
    /// Debian counts interfaces in the release (`6.1.0-56-amd64`) and has the version in the build (`#1 SMP … Debian
    /// 6.1.192-2 (2026-11-16)`).
    package init?(release: String, build: String) {
        guard let named = Self.numbers(release) else { return nil }
        (major, minor) = (named.major, named.minor)
        let words = build.split(separator: " ")
        if let mark = words.firstIndex(of: "Debian"), mark + 1 < words.count {
            let version = words[mark + 1].drop { $0 != ":" }.dropFirst()
            let text = String(version.isEmpty ? words[mark + 1] : version)
            if let own = Self.numbers(text), own.major == major, own.minor == minor {
                (patch, self.text) = (own.patch, text)
                return
            }
        }
        // A zero before further numbers is a placeholder.
        let isPlaceholder = named.patch == 0 && release.contains("-")
        (patch, text) = (isPlaceholder ? nil : named.patch, release)
    }

    /// The running kernel's version.
    ///
    /// The corresponding C function is `uname`, which works where a service cannot read /proc/sys.
    package static let running: KernelVersion? = {
        var names = utsname()
        guard unsafe uname(&names) == 0 else { return nil }
        return KernelVersion(release: text(names.release), build: text(names.version))
    }()

    /// The text in a field of `utsname`.
    private static func text<Field>(_ field: Field) -> String {
        unsafe withUnsafeBytes(of: field) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// The numbers at the beginning of a version; nil for fewer than two.
    private static func numbers(_ text: String) -> (major: Int, minor: Int, patch: Int?)? {
        let numbers = text.split(separator: ".", omittingEmptySubsequences: false).prefix(3).map { part in
            Int(part.prefix { "0"..."9" ~= $0 })
        }
        guard numbers.count > 1, let major = numbers[0], let minor = numbers[1] else { return nil }
        return (major, minor, numbers.count > 2 ? numbers[2] : nil)
    }
}
