# SPDX-License-Identifier: GPL-2.0-or-later
#
# The file with the keys of paired devices: its permissions and owner, damaged records, and a full disk.

from __future__ import annotations

import json
import signal
import zlib

from bumble.pairing import PairingDelegate

from bench import BINARY, Bench, compare
from daemons import fresh, start, tell, until_connected, until_status
from peer import ADDRESS, NAME, ean13
from readers import EventReader
from scenarios import scenario
from scenarios.pairing import BONDS, Hands, bond, hold, pair
from waiting import expect

STATE = "/var/lib/blewedge"
KEPT = "/run/lab/bonds.kept"
IO = PairingDelegate.IoCapability
OTHERS = 9
BROKEN = 5  # index of the damaged record, of ten


def others(record: str) -> list[str]:
    """Returns records of other devices, each with a valid checksum."""
    found = []
    for number in range(OTHERS):
        text = record.rsplit(" crc=", 1)[0].replace(ADDRESS, f"F0:00:00:00:00:{number:02X}")
        found.append(f"{text} crc={zlib.crc32(text.encode()):08X}")
    return found


async def modes(bench: Bench) -> list[str]:
    return (await bench.guest.run("stat", "-c", "%a", STATE, BONDS)).out.split()


@scenario("keys-kept", deadline=240, once=True)
async def keys_kept(bench: Bench) -> None:
    """X-8: a bond file readable by others is protected again, one damaged record of ten is skipped, another user's file is refused; a full disk changes nothing."""
    await fresh(bench)
    bond(await pair(bench, hold(bench, Hands(IO.NO_OUTPUT_NO_INPUT)), "none"))
    lines = (await bench.guest.read_file(BONDS)).decode().splitlines()
    heading, record = lines[0], lines[1]
    records = [*others(record), record]
    broken = records[BROKEN][:-1] + ("0" if records[BROKEN][-1] != "0" else "1")
    records[BROKEN] = broken
    text = "".join(f"{line}\n" for line in (heading, *records)).encode()
    await bench.guest.write_file(BONDS, text)

    # A file that everybody may read: its permissions are corrected and reported, and an error names the line of the damaged
    # record.
    await bench.guest.run("chmod", "755", STATE)
    await bench.guest.run("chmod", "644", BONDS)
    listed = await bench.guest.run(BINARY, "bonds", "--json")
    found = [json.loads(line)["address"] for line in listed.out.splitlines()]
    expect(len(found) == OTHERS and found[-1] == ADDRESS, f"the list has {found}")
    expect(await modes(bench) == ["700", "600"], f"the directory and the file have the modes {await modes(bench)}")
    for said in (f"{STATE} ", BONDS, f"(lines {BROKEN + 2})"):
        expect(said in listed.err, f"nothing says {said!r}: {listed.err!r}")
    expect((await bench.guest.read_file(BONDS)) == text, "reading has changed the file")

    # The keys after the damaged record still work.
    daemon = await start(bench)
    reader = await EventReader.open(bench, daemon.node)
    await tell(bench, "use", NAME)
    await until_connected(bench, daemon)
    await until_status(bench, 10, "an encrypted link", lambda a: a["link"]["security"] == "encrypted")
    sent = bench.peer.burst([ean13(1)])
    await reader.until(sent, 20)
    compare(ean13(1), reader.text)
    await daemon.end(signal.SIGTERM, 143)

    # A file or folder owned by another user is neither read nor written.
    for path in (BONDS, STATE):
        await bench.guest.run("chown", "7001", path)
        for command in (("bonds",), ("forget", ADDRESS)):
            said = await tell(bench, *command, code=77)
            expect(path in said, f"{command[0]} of another's {path}: {said!r}")
        await bench.guest.run("chown", "0", path)
    expect((await bench.guest.read_file(BONDS)) == text, "another's file was changed")

    await no_room(bench, text)
    bench.note = f"{len(records)} records, one of them broken"


async def no_room(bench: Bench, text: bytes) -> None:
    """Fills the disk of the state directory, and checks that a failure to save is reported and that the saved data is
    unchanged."""
    await bench.guest.run("cp", "-p", BONDS, KEPT)
    await bench.guest.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", STATE)
    try:
        await bench.guest.run("cp", "-p", KEPT, BONDS)
        filler = f"{STATE}/filler"
        await bench.guest.run("dd", "if=/dev/zero", f"of={filler}", "bs=4096", check=False)
        said = await tell(bench, "forget", "F0:00:00:00:00:00", code=74)
        expect("no space" in said.lower() and "free some space" in said.lower(), f"forget on a full disk: {said!r}")
        expect((await bench.guest.read_file(BONDS)) == text, "the old file is not as it was")
        names = (await bench.guest.run("ls", "-A", STATE)).out.split()
        expect(sorted(names) == ["bonds", "filler"], f"left behind are {names}")
        # After space is freed, saving works again.
        await bench.guest.run("rm", filler)
        await tell(bench, "forget", "F0:00:00:00:00:00")
        found = (await tell(bench, "bonds", "--json")).count('"address"')
        expect(found == OTHERS - 1, f"{found} bonds are left")
    finally:
        await bench.guest.run("umount", STATE)
