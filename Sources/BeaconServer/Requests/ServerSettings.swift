// SPDX-License-Identifier: GPL-2.0-or-later

package import SystemPackage

/// What is configured of a server of beacons (D-27); without it nobody is asked.
package struct ServerSettings: Equatable, Sendable {
    /// Where the server is.
    package var address: ServerAddress
    /// The file of the access token, which belongs to the caller alone.
    package var tokenFile: FilePath
    /// The certificates of the authorities that are believed instead of the system's; nil for the system's.
    package var authorityFile: FilePath?
    /// The proxy, as libcurl takes it; nil for none, whatever the environment says.
    package var proxy: String?
    /// The longest that connecting may take, TLS included.
    package var connectTimeout = Duration.seconds(15)
    /// The longest that a request may take as a whole.
    package var timeout = Duration.seconds(15)
    /// The hours that have to pass after regions were fetched before they are fetched again.
    package var updateInterval = 12
    /// Whether the test log is written to (`test-mode`).
    package var isTestMode = false

    /// A server by its address and the file of its token.
    package init(_ address: ServerAddress, tokenFile: FilePath) {
        self.address = address
        self.tokenFile = tokenFile
    }
}
