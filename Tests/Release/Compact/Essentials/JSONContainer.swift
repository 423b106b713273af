// SPDX-License-Identifier: GPL-2.0-or-later

/// Encoder of the value at one position, and the containers in it.
struct JSONContainer: Encoder {
    let place: JSONPlace
    let codingPath: [any CodingKey]

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        place.begin(array: false)
        return KeyedEncodingContainer(Keyed(place: place, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        place.begin(array: true)
        return Listed(place: place, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(place: place, codingPath: codingPath) }

    /// Container of an object's members.
    struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let place: JSONPlace
        let codingPath: [any CodingKey]

        func encodeNil(forKey key: Key) { _ = place.member(key.stringValue) }

        func encode(_ value: some Encodable, forKey key: Key) throws {
            try place.member(key.stringValue).put(value, at: codingPath + [key])
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { nested(key).container(keyedBy: type) }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }

        func superEncoder() -> any Encoder {
            JSONContainer(place: place.member("super"), codingPath: codingPath)
        }

        func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

        private func nested(_ key: Key) -> JSONContainer {
            JSONContainer(place: place.member(key.stringValue), codingPath: codingPath + [key])
        }
    }

    /// Container of an array's elements.
    struct Listed: UnkeyedEncodingContainer {
        let place: JSONPlace
        let codingPath: [any CodingKey]

        var count: Int { place.elements.count }

        func encodeNil() { _ = place.element() }

        func encode(_ value: some Encodable) throws { try place.element().put(value, at: codingPath) }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            nested().container(keyedBy: type)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }

        func superEncoder() -> any Encoder { nested() }

        private func nested() -> JSONContainer { JSONContainer(place: place.element(), codingPath: codingPath) }
    }

    /// Container of a single value.
    struct Single: SingleValueEncodingContainer {
        let place: JSONPlace
        let codingPath: [any CodingKey]

        func encodeNil() {}

        func encode(_ value: some Encodable) throws { try place.put(value, at: codingPath) }
    }
}
