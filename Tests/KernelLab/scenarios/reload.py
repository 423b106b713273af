# SPDX-License-Identifier: GPL-2.0-or-later
#
# Reloading the configuration, with `reload` and with SIGHUP.

from __future__ import annotations

import signal
from typing import Any

from bench import Bench, compare
from daemons import CONFIGURATION, chosen, status, tell, write
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import expect

TABLE = "/etc/blewedge/own.table"


@scenario("daemon-reload", deadline=240, once=True)
async def daemon_reload(bench: Bench) -> None:
    """LK-21: `reload` and SIGHUP load another table; a wrong configuration is refused with its line, and typing continues."""
    daemon, reader = await chosen(bench)
    await types(bench, reader, b"a\tb\r", b"a\tb\r")

    # Unchanged: nothing happens, and the link stays up.
    links = bench.peer.connections
    await write(bench, CONFIGURATION, "# nothing is set\n")
    await tell(bench, "reload")
    await types(bench, reader, b"c\r", b"c\r")
    expect(bench.peer.connections == links, "a configuration that has not changed cost the link")

    # Invalid: an error names the line, and the previous configuration stays in use.
    for wrong, line in (('table = "strict"\npace = "fast"\n', "line 2"), (f'table = "{TABLE}"\n', "cannot read the table")):
        await write(bench, CONFIGURATION, wrong)
        said = await tell(bench, "reload", code=78)
        expect(line in said, f"the refusal of {wrong!r} is {said!r}")
        await types(bench, reader, b"d\t\r", b"d\t\r")
    expect(bench.peer.connections == links, "a configuration that is wrong cost the link")

    # Another table: from now on, Tab is discarded.
    await write(bench, TABLE, "0x09 = discard\n")
    await tell(bench, "reload")
    reader = await renewed(bench, daemon, 2)
    await types(bench, reader, b"e\tf\r", b"ef\r")
    expect((await status(bench))["table"] == TABLE, "status has the old table")

    # The configuration is unchanged, but the file that it refers to has changed. Reload with a signal, as `systemctl reload` may.
    await write(bench, TABLE, "0x09 = key enter\n")
    await daemon.program.signal(signal.SIGHUP)
    reader = await renewed(bench, daemon, 3)
    await types(bench, reader, b"gh\t", b"gh\r")

    # A paused daemon stays paused, and a signal with an invalid configuration changes nothing.
    await tell(bench, "pause")
    await write(bench, CONFIGURATION, "table = 1\n")
    await daemon.program.signal(signal.SIGHUP)
    await write(bench, CONFIGURATION, 'max-age = "0"\n')
    await tell(bench, "reload")
    await renewed(bench, daemon, 4)
    answer = await status(bench)
    expect(answer["paused"] and answer["state"] == "connected", f"after reload: {answer}")
    await daemon.end(signal.SIGTERM, 143)
    counts = [event for event in daemon.program.objects if event.get("event") == "counts"]
    expect(len(counts) == 4, f"{len(counts)} accounts of four configurations")
    expect(all(account["received"] == account["typed"] + account["discarded"] for account in counts), f"{counts}")
    total: dict[str, Any] = {name: sum(account[name] for account in counts) for name in ("received", "typed", "discarded")}
    bench.account(total["received"], total["typed"], total)
    bench.note = f"one process, {bench.peer.connections - links + 1} links"


async def types(bench: Bench, reader: EventReader, sent: bytes, typed: bytes) -> None:
    """Sends bytes from the peer and checks the typed text."""
    start = len(reader.text)
    bench.peer.burst([sent])
    await reader.until(start + len(typed), 20)
    compare(typed, reader.text[start:])


async def renewed(bench: Bench, daemon: Product, number: int) -> EventReader:
    """Waits until the same process has created its keyboard for the `number`th time and is connected again."""

    def nodes() -> list[str]:
        return [event["node"] for event in daemon.program.objects if event.get("event") == "keyboard"]

    await daemon.program.until(lambda: len(nodes()) == number, f"keyboard {number}", 40)
    reader = await EventReader.open(bench, nodes()[-1])
    await daemon.state("connected", 40)
    await bench.peer.until_subscribed()
    return reader
