// SPDX-License-Identifier: GPL-2.0-or-later

import Glibc
import LinuxIO
import TestSupport
import Testing

@Suite("Users and groups of this machine's own files")
struct AccountFilesTests {
    @Test("A user has the numbers and the home of the first whole line with its name")
    func user() throws {
        let directory = try TestDirectory()
        try directory.write(
            """
            root:x:0:0:root:/root:/bin/sh
            kiosk:x:abc:7:broken number:/broken:/bin/sh
            kiosk:x:5
            # a note
            kiosk:x:994:990::/var/lib/kiosk:/bin/false
            kiosk:x:1:1::/other:/bin/false

            """,
            to: "passwd"
        )
        let files = AccountFiles(directory: directory.path)
        let kiosk = try #require(files.user(named: "kiosk"))
        #expect(kiosk.number == 994 && kiosk.group == 990 && kiosk.home == "/var/lib/kiosk")
        #expect(files.user(named: "root")?.number == 0)
        #expect(files.user(named: "kios") == nil && files.user(named: "") == nil)
    }

    @Test("A user's groups are those that name it as a member, by its whole name")
    func groups() throws {
        let directory = try TestDirectory()
        try directory.write(
            "root:x:0:\nuinput:x:105:kiosk\ntty:x:5:mallory,kiosk\nvideo:x:44:kiosks,akiosk\nbroken:x:nine:kiosk\nshort:x:9\n",
            to: "group"
        )
        let files = AccountFiles(directory: directory.path)
        #expect(files.groups(ofUserNamed: "kiosk") == [105, 5])
        #expect(files.groups(ofUserNamed: "nobody") == [])
    }

    @Test("Without the account files, no user is found")
    func none() throws {
        let directory = try TestDirectory()
        let files = AccountFiles(directory: directory.path)
        #expect(files.user(named: "root") == nil && files.groups(ofUserNamed: "root") == [])
    }

    @Test("This machine's root and its groups are those that the C library names")
    func machine() throws {
        let root = try #require(AccountFiles().user(named: "root"))
        let entry = try #require(getpwnam("root"))
        #expect(root.number == entry.pointee.pw_uid && root.group == entry.pointee.pw_gid)
        #expect(root.home == String(cString: entry.pointee.pw_dir))
    }
}
