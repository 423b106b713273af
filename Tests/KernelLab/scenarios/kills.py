# SPDX-License-Identifier: GPL-2.0-or-later
#
# SIGKILL: the product cannot clean up, and still no key may stay down.

from __future__ import annotations

import asyncio
import itertools
import json
import signal

from bumble import hci

from air import Adapter
from bench import BINARY, Bench, compare
from controllers import Crossing, Variant, bumble
from daemons import FOREVER, fresh, start, status, tell, use_open
from guest import Program
from peer import ADDRESS, NAME, ean13
from product import Product
from readers import EventReader, Terminal
from scenarios import scenario
from waiting import expect

CHOICE_FILE = "/var/lib/blewedge/selection"
FOR_EVER = 1e6  # in seconds
MOMENTS = 25
LONG_MOMENTS = 1000
SHIFTED = b'ABCDEFGHIJKLMNOPQRSTUVWXYZ{}|:"<>?~!@#$%^&*()_+' * 20


async def order(keys: Program, line: str) -> None:
    done = len(keys.objects)
    await keys.write(f"{line}\n".encode())
    await keys.until(lambda: len(keys.objects) > done, f"the lab's keyboard does {line}", 10)


async def types_plain(bench: Bench, terminal: Terminal, expected: bytes) -> None:
    """Checks that the next key from another keyboard arrives at the terminal as expected, and nothing else."""
    keys, _ = await bench.keys()
    before = len(terminal.text)
    await order(keys, "events 4")
    await terminal.until(before + 1, 10)
    await keys.stop()
    expect(terminal.text[before:] == expected, f"the next key came as {terminal.text[before:]!r}, not {expected!r}")


@scenario("sigkill-shifted", deadline=150, once=True)
async def sigkill_shifted(bench: Bench) -> None:
    """SIGKILL during shifted text, three times: the event node is removed, and the next key of another keyboard is unshifted."""
    terminal = await Terminal.open(bench)
    holder, node = await bench.keys()  # negative control: a Shift that is down changes the other keyboard's key
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


@scenario("link-crossed", peer="no adapter", deadline=240)
async def link_crossed(bench: Bench) -> None:
    """X-7: a link established while its attempt is canceled is closed, even if the kernel does not know it: after a kill and a time-out."""
    manners = Crossing()
    variant = Variant("crossing", "Bumble, whose connections come up late", bumble(Adapter, True), lambda: manners)
    expect(await bench.add_foreign(variant), "the kernel gives the controller up")
    await fresh(bench)
    daemon = await start(bench, *FOREVER)
    await use_open(bench)
    await manners.until(lambda: manners.held, "the device is connected to", 40)
    await daemon.program.signal(signal.SIGKILL)
    expect(await daemon.program.wait(10) == -signal.SIGKILL, f"the daemon did not end by the signal{daemon.program.evidence()}")
    await manners.until(lambda: manners.held is None, "the kernel ends the attempt", 20)
    manners.crosses = True  # the next connection attempt, which its own daemon cancels
    clock = bench.clock()
    daemon = await start(bench, *FOREVER)
    await manners.until(lambda: manners.held, "the next daemon connects to the device", 40)
    killed = clock()
    await manners.until(lambda: manners.held is None, "the attempt is given up", 60)
    clock = bench.clock()
    await bench.peer.until_subscribed(60)
    radio = (await status(bench))["radio"]
    expect(radio["adapterRestarted"] == 1 and radio["adapterLost"] == 0, f"the adapter was not renewed: {radio}")
    knows = radio["linksCrossed"] == 0
    expect(not knows or bench.machine.vm.kernel.series == "5.10", f"the link was not found: {radio}")
    await daemon.end(signal.SIGTERM, 143)
    # After a normal end, there is no link to close.
    daemon = await start(bench, *FOREVER)
    await bench.peer.until_subscribed(60)
    radio = (await status(bench))["radio"]
    expect(radio["adapterRestarted"] == 0 and radio["linksCrossed"] == 0, f"without a cause: {radio}")
    await daemon.end(signal.SIGTERM, 143)
    known = "known to the kernel" if knows else "unknown to the kernel"
    bench.note = f"{known}; tried again {killed:.1f} s after the kill, connected {clock():.1f} s after the time-out"
    await fresh(bench)


class Killer:
    """Kills a daemon at random moments while it types to a text console.

    The time of a signal does not depend on any event, so it can happen at any moment. The seed repeats the sequence.
    """

    def __init__(self, bench: Bench, terminal: Terminal, keys: Program) -> None:
        self.bench = bench
        self.terminal = terminal
        self.keys = keys
        self.random = bench.chooser()
        self.numbers = itertools.count(1)
        self.choices: list[bytes] = []
        self.sent = self.arrived = 0

    async def daemon(self) -> Product:
        return await start(self.bench, *FOREVER)

    async def kill(self, daemon: Program) -> None:
        await daemon.signal(signal.SIGKILL)
        expect(await daemon.wait(10) == -signal.SIGKILL, f"the daemon did not end by the signal{daemon.evidence()}")

    async def at_start(self) -> None:
        """Kills the daemon while it creates its keyboard, looks for its adapter, scans or connects."""
        program = await self.bench.start(BINARY, "run", "--json", *FOREVER)
        await asyncio.sleep(self.random.uniform(0, 1.5))
        await self.kill(program)

    async def while_typing(self) -> None:
        daemon = await self.daemon()
        await daemon.state("connected", 40)
        await self.bench.peer.until_subscribed()
        start = len(self.terminal.text)
        sent = [ean13(next(self.numbers)) for _ in range(60)]
        self.bench.peer.burst(sent)
        await self.terminal.until(start + self.random.randrange(1, 400), 30)
        await asyncio.sleep(self.random.uniform(0, 0.05))
        await self.kill(daemon.program)
        await self.bench.peer.until_alone(20)
        # Every byte up to the signal arrived once and in order.
        whole, arrived = b"".join(sent), self.terminal.text[start:]
        compare(whole[: len(arrived)], arrived)
        self.sent += len(whole)
        self.arrived += len(arrived)

    async def while_choosing(self) -> None:
        """Kills the daemon and a client while the selected device is being written."""
        daemon = await self.daemon()
        options = ("--address-type", "random", "--yes", "--security", "none")
        client = await self.bench.start(BINARY, "use", ADDRESS if self.random.random() < 0.5 else NAME, *options)
        await asyncio.sleep(self.random.uniform(0, 0.6))
        await self.kill(daemon.program)
        await client.signal(signal.SIGKILL)
        await client.wait(10)

    async def check(self) -> None:
        """Checks that no key is down, nothing more is typed, and the file of the selected device is intact."""
        before = len(self.terminal.text)
        await order(self.keys, "events 4")
        await self.terminal.until(before + 1, 10)
        expect(self.terminal.text[before:] == b"a", f"the next key came as {self.terminal.text[before:]!r}")
        kept = await self.bench.guest.read_file(CHOICE_FILE)
        expect(kept in self.choices, f"the choice is {kept!r}, none of {self.choices}")


async def supervise(bench: Bench) -> None:
    """Reports a time-out to the peer when a controller is switched off, because the emulated radio does not report a Reset to the
    other end of a link."""
    seen = 0
    while True:
        await bench.monitor.program.until(lambda: len(bench.monitor.events("closed")) > seen, "it is switched off", FOR_EVER)
        seen = len(bench.monitor.events("closed"))
        if (link := bench.peer.connection) is not None:
            reason = hci.HCI_CONNECTION_TIMEOUT_ERROR
            bench.peer.device.host.on_packet(bytes(hci.HCI_Disconnection_Complete_Event(0, link.handle, reason)))


async def kill_at_random(bench: Bench, count: int) -> None:
    watching = asyncio.create_task(supervise(bench))
    try:
        await kill_each(bench, count)
    finally:
        watching.cancel()


async def kill_each(bench: Bench, count: int) -> None:
    await fresh(bench)
    terminal = await Terminal.open(bench)
    keys, _ = await bench.keys()
    killer = Killer(bench, terminal, keys)
    daemon = await killer.daemon()
    for device in (ADDRESS, NAME):
        await use_open(bench, device)
        choice = await bench.guest.read_file(CHOICE_FILE)
        # A device selected by address has no name if none was heard with the address.
        unnamed = {name: value for name, value in json.loads(choice).items() if name != "name"}
        killer.choices += [choice, json.dumps(unnamed, separators=(",", ":")).encode() + b"\n"]
    await killer.kill(daemon.program)
    await bench.peer.until_alone(20)
    kinds = (killer.at_start, killer.while_choosing, killer.while_typing, killer.at_start)
    for number in range(count):
        await kinds[number % len(kinds)]()
        await killer.check()
    expect(0 < killer.arrived < killer.sent, "no signal came while something was typed: it proves nothing")
    # Finally, check that a new daemon starts, connects and types.
    await bench.peer.until_alone(20)
    daemon = await killer.daemon()
    await daemon.state("connected", 40)
    await bench.peer.until_subscribed()
    before = len(terminal.text)
    bench.peer.burst([ean13(0)])
    await terminal.until(before + len(ean13(0)), 20)
    compare(ean13(0), terminal.text[before:])
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    await terminal.close()
    bench.note = f"{count} times; {killer.arrived} of {killer.sent} bytes came before the signal, none twice"


@scenario("sigkill-moments", deadline=900, once=True)
async def sigkill_moments(bench: Bench) -> None:
    """X-2, LK-5: SIGKILL at 25 random moments: no byte is typed twice, no key stays down, and the selection file is intact."""
    await kill_at_random(bench, MOMENTS)


@scenario("sigkill-thousand", deadline=7200, only_long=True, newest=True)
async def sigkill_thousand(bench: Bench) -> None:
    """As `sigkill-moments`, but at 1,000 moments."""
    await kill_at_random(bench, LONG_MOMENTS)
