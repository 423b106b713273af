// SPDX-License-Identifier: GPL-2.0-or-later

package import LinuxIO
package import SystemPackage
package import Texts

/// The user's agreement to the use of a beacon server (SW-17); it applies only to that server.
package struct ServerAgreement: Equatable, Sendable {
    /// Maximum length of the text, in characters.
    private static let longestText = 4096

    /// Address of the server.
    package let server: String
    /// Time of the agreement, in seconds since 1970-01-01 00:00:00 UTC.
    package let seconds: Int
    /// Text that was shown to the user.
    package let shownText: String

    package init(to address: ServerAddress, at seconds: Int, shownText: String) {
        (self.server, self.seconds, self.shownText) = (address.description, seconds, shownText)
    }

    package var members: JSONObject {
        var object = JSONObject()
        object.add("server", server)
        object.add("at", seconds)
        object.add("text", shownText)
        return object
    }

    /// Contents of the file: JSON, with a line feed at the end.
    package var text: String {
        var object = JSONObject()
        object.add("version", 1)
        object.add(membersOf: members)
        return object.text + "\n"
    }

    package init(parsing bytes: [UInt8]) throws(ServerAnswerFault) {
        let object = try AnswerMember(whole: bytes)
        _ = try object["version"].integer(1...1)
        server = try object["server"].string(longest: Self.longestText)
        seconds = Int(clamping: try object["at"].integer(0...(Int64(1) << 40)))
        shownText = try object["text"].string(longest: Self.longestText)
    }
}

/// The file that stores the user's agreement.
package struct AgreementStore: Sendable {
    private let file: ServerFile

    package init(_ path: FilePath) { file = ServerFile(path, limit: 1 << 16) }

    /// Reads the agreement; returns nil if the file does not exist.
    package func read() throws(ServerFile.Failure) -> ServerAgreement? {
        try file.read { bytes throws(ServerAnswerFault) in try ServerAgreement(parsing: bytes) }
    }

    package func keep(_ agreement: ServerAgreement) throws(ServerFile.Failure) { try file.write(agreement.text) }

    package func remove() throws(ServerFile.Failure) { try file.removeUnderLock() }
}
