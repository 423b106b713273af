// SPDX-License-Identifier: GPL-2.0-or-later

import TestSupport
import Testing

@Suite struct ArticleTests {
    @Test("The example in the documentation is the one that is compiled here")
    func example() throws {
        let article = try VectorFile.lines("../../Sources/BluetoothLE/BluetoothLE.docc/BluetoothLE.md").map(\.text)
        let compiled = try VectorFile.lines("../Unit/BluetoothLETests/ExampleCentral.swift").map(\.text).dropFirst()
        let start = try #require(article.firstIndex(of: "```swift"))
        let shown = article[(start + 1)...].prefix { $0 != "```" }
        #expect(Array(shown) == Array(compiled))
        #expect(shown.count <= 32)
    }
}
