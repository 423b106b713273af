# SPDX-License-Identifier: GPL-2.0-or-later
#
# Negative controls: something is broken on purpose, and the check that the other scenarios rely on has to
# fail, for the reason that was built in. A control passes only then.

from __future__ import annotations

import signal

from bench import Bench, compare
from peer import ean13
from readers import EventReader
from scenarios import scenario
from scenarios.keys import BURST, SCANS
from waiting import LabError, expect

TABLE = "/run/lab/broken.table"


def must_differ(sent: bytes, arrived: bytes) -> str:
    """The comparison has to fail; its words."""
    try:
        compare(sent, arrived)
    except LabError as error:
        return str(error)
    raise LabError("the comparison did not notice what was broken on purpose")


@scenario("control-table")
async def control_table(bench: Bench) -> None:
    """A table that types 1 for 0: the comparison must fail, at just those bytes."""
    await bench.guest.write_file(TABLE, b'# broken on purpose\n0x30 = text "1"\n')
    product = await bench.run("--table", TABLE)
    reader = await EventReader.open(bench, product.node)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    sent = b"".join(SCANS[:5])
    bench.peer.burst(SCANS[:5])
    await reader.until(len(sent), 20)
    await product.end(signal.SIGINT, 130)
    bench.account(len(sent), len(reader.text), product.counts())
    must_differ(sent, reader.text)
    compare(sent.replace(b"0", b"1"), reader.text)
    bench.note = "noticed"


@scenario("control-pacing")
async def control_pacing(bench: Bench) -> None:
    """Pacing off and a reader that sleeps: the kernel must drop events, and the comparison must fail."""
    scans = [ean13(number) for number in range(60)]
    product = await bench.run("--stall", "0")
    reader = await EventReader.open(bench, product.node, stall=2000)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    sent = bench.peer.burst(scans)
    await bench.peer.drained(20)
    await reader.program.until(lambda: reader.text, "the reader wakes", 10)
    await product.end(signal.SIGINT, 130)
    await reader.program.wait(10)
    summary = await reader.summary()
    counts = product.counts()
    bench.account(sent, len(reader.text), counts)
    must_differ(b"".join(scans), reader.text)
    expect(counts["typed"] == sent, f"the product itself lost some: {counts}")
    expect(summary["dropped"] > 0, f"no SYN_DROPPED: {summary}")
    bench.note = f"noticed: SYN_DROPPED {summary['dropped']} times"


@scenario("control-drop")
async def control_drop(bench: Bench) -> None:
    """One notification of 50 is never sent: the comparison must fail, at just that one."""
    product = await bench.run()
    reader = await EventReader.open(bench, product.node)
    await product.state("connected", 30)
    await bench.peer.until_subscribed()
    values, dropped = BURST[:50], 27
    sent = bench.peer.burst(value for number, value in enumerate(values) if number != dropped)
    await reader.until(sent, 20)
    await product.end(signal.SIGINT, 130)
    whole = b"".join(values)
    bench.account(len(whole), len(reader.text), product.counts())
    must_differ(whole, reader.text)
    compare(b"".join(values[:dropped] + values[dropped + 1 :]), reader.text)
    expect(bench.figures["lost"] == 5, f"5 bytes lost on purpose, seen: {bench.figures}")
    bench.note = f"noticed: notification {dropped} is missing"
