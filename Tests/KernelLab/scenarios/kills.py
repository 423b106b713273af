# SPDX-License-Identifier: GPL-2.0-or-later
#
# SIGKILL: no last word of the product, and yet no key may stay down.

from __future__ import annotations

import signal

from bench import Bench, compare
from guest import Program
from readers import EventReader, Terminal
from scenarios import scenario
from waiting import expect

SHIFTED = b'ABCDEFGHIJKLMNOPQRSTUVWXYZ{}|:"<>?~!@#$%^&*()_+' * 20


async def order(keys: Program, line: str) -> None:
    done = len(keys.objects)
    await keys.write(f"{line}\n".encode())
    await keys.until(lambda: len(keys.objects) > done, f"the lab's keyboard does {line}", 10)


async def types_plain(bench: Bench, terminal: Terminal, expected: bytes) -> None:
    """The next key, from another keyboard, arrives at the terminal as expected, and nothing besides."""
    keys, _ = await bench.keys()
    before = len(terminal.text)
    await order(keys, "events 4")
    await terminal.until(before + 1, 10)
    await keys.stop()
    expect(terminal.text[before:] == expected, f"the next key came as {terminal.text[before:]!r}, not {expected!r}")


@scenario("sigkill-shifted", deadline=150)
async def sigkill_shifted(bench: Bench) -> None:
    """SIGKILL amid shifted text, three times: the event node is gone, and another keyboard's next key is unshifted."""
    terminal = await Terminal.open(bench)
    holder, node = await bench.keys()  # the control: a Shift that is down does reach the other keyboard's key
    await order(holder, "shift 1")
    await types_plain(bench, terminal, b"A")
    await order(holder, "shift 0")
    await types_plain(bench, terminal, b"a")
    await holder.stop()
    held, typed = 0, []
    for length in (50, 111, 173):
        product = await bench.connected("--max-age", "0")
        reader = await EventReader.open(bench, product.node, share=True)
        start = len(terminal.text)
        bench.peer.burst(SHIFTED[at : at + 20] for at in range(0, len(SHIFTED), 20))
        await terminal.until(start + length, 30)
        await product.program.signal(signal.SIGKILL)
        expect(await product.program.wait(10) == -signal.SIGKILL, "the product did not end by the signal")
        await reader.program.until(lambda: reader.program.status is not None, "the event node is gone (ENODEV)", 10)
        summary = await reader.summary()
        expect(summary["gone"], f"the reader was not told that the keyboard is gone: {summary}")
        exists = await bench.guest.run("test", "-e", product.node, check=False)
        expect(exists.status != 0, f"{product.node} is still there")
        held += len(summary["held"])
        await bench.monitor.until_quiet()
        await bench.peer.until_alone()
        arrived = terminal.text[start:]
        expect(len(arrived) < len(SHIFTED), "all was typed before the signal: it proves nothing")
        compare(SHIFTED[: len(arrived)], arrived)
        await types_plain(bench, terminal, b"a")
        typed.append(len(arrived))
    await terminal.close()
    ends = ", ".join(map(str, typed))
    bench.note = f"killed after {ends} of {len(SHIFTED)} characters; {held} keys down when the nodes went, none after"
