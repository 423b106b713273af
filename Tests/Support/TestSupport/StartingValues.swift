// SPDX-License-Identifier: GPL-2.0-or-later

/// Returns the paths of the integers in a value, and in its members and elements, that are not zero.
package func integersOtherThanZero(in value: Any) -> [String] {
    Mirror(reflecting: value).children.enumerated().flatMap { place, child -> [String] in
        let name = child.label ?? "\(place)"
        if let integer = child.value as? any BinaryInteger { return integer.description == "0" ? [] : [name] }
        return integersOtherThanZero(in: child.value).map { "\(name).\($0)" }
    }
}
