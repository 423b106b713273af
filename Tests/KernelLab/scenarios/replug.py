# SPDX-License-Identifier: GPL-2.0-or-later
#
# The adapter is unplugged in each state of the daemon, and plugged in again. It then has another number, and another adapter has
# its old number. Only its address identifies it.

from __future__ import annotations

import re
import signal

from bench import Bench, compare
from daemons import CONFIGURATION, FOREVER, fresh, start, status, until_connected, write
from faultykernel import known_fault
from guest import Program
from peer import ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from scenarios.adapters import CHOICE, DEAD, SELECTION, off
from scenarios.keys import clean_keys
from waiting import LabError, expect

# The emulator's controllers: one that could be mistaken for the adapter, the adapter, and the peer's.
STRANGER, OURS, PEERS = range(3)
# Delays the daemon's `connect` by three seconds. Meanwhile the device stops advertising, so that the attempt stays pending.
CONNECTS = "/run/lab/connects"
HELD = (
    "strace", "--seccomp-bpf", "-D", "-f", "-qq", "-o", CONNECTS,
    "-e", "trace=connect", "-e", "inject=connect:delay_enter=3000000",
)  # fmt: skip


class Replug:
    """The daemon's adapter, and functions to unplug it and plug it in."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.first = 0  # number of the first of the three controllers
        self.address = ""
        self.times: list[tuple[str, float]] = []
        self._dead: list[Program] = []

    @property
    def number(self) -> int:
        return self.first + OURS

    async def plug(self) -> None:
        await self.bench.add_controllers("", self.first, 3)
        said = (await self.bench.guest.run("btmgmt", "info")).out
        found = re.search(rf"hci{self.number}:.*?addr ([0-9A-F:]+)", said, re.DOTALL)
        expect(found, f"hci{self.number} has no address: {said!r}")
        assert found is not None
        expect(self.address in ("", found[1]), f"hci{self.number} has the address {found[1]}, not {self.address}")
        self.address = found[1]

    async def pull(self, daemon: Product) -> None:
        """Unplugs all three controllers. Then another controller takes the lowest number."""
        await self.bench.remove_controllers()
        await daemon.state("bluetoothOff", 20)
        await off(self.bench, "no Bluetooth adapter", "plug in an adapter")
        self._dead.append(await self._take(self.first))
        self.first += 1

    async def _take(self, number: int) -> Program:
        """Adds a controller with this number. The kernel releases a number a moment after it reports the removal of the
        adapter."""
        monitor, clock = self.bench.monitor.program, self.bench.clock()
        while True:
            seen = len(monitor.objects)
            dead = await self.bench.start("/usr/bin/python3", "-c", DEAD)
            await dead.until(lambda dead=dead: "there" in dead.out, "another controller has a number", 10)
            added = [o["index"] for o in monitor.objects[seen:] if o.get("event") == "added"]
            if number in added:
                return dead
            expect(clock() < 20, f"hci{number} is held by somebody, another controller became {added}")
            await dead.stop()

    async def resume(self, daemon: Product, phase: str) -> None:
        """Plugs the controllers in again, and checks that the daemon resumes by itself. `phase` describes what the daemon was
        doing."""
        await self.plug()
        clock = self.bench.clock()
        await self.bench.add_peer("linble", self.first + PEERS)
        await until_connected(self.bench, daemon)
        self.times.append((phase, clock()))
        answer = await status(self.bench)
        expect(answer["adapter"] == f"hci{self.number}", f"{answer['adapter']} is used, not hci{self.number}")

    def scanning(self) -> bool:
        scans = self.bench.monitor.events("scan", self.number)
        return bool(scans) and scans[-1]["on"]

    @property
    def note(self) -> str:
        times = ", ".join(f"{phase} {took:.1f} s" for phase, took in self.times)
        return f"resumed after the adapter was back as another hciN, killed while {times}"


async def plugged(bench: Bench, before: tuple[str, ...] = ()) -> tuple[Replug, Product, EventReader]:
    """Starts a daemon that knows its adapter by address, with a selected device that is out of range."""
    await fresh(bench)
    bench.keeps_addresses = True
    replug = Replug(bench)
    await replug.plug()
    await write(bench, CONFIGURATION, f'adapter = "{replug.address}"\n')
    await write(bench, SELECTION, CHOICE)
    daemon = await start(bench, *FOREVER, before=before)
    return replug, daemon, await EventReader.open(bench, daemon.node)


@scenario("adapter-replug", peer="no adapter", deadline=300, once=True)
async def adapter_replug(bench: Bench) -> None:
    """X-7, LK-9: unplugged while scanning, connected and typing, and back under another number: the daemon resumes, every byte is counted."""
    replug, daemon, reader = await plugged(bench)
    await bench.monitor.program.until(replug.scanning, "the daemon scans", 20)
    await replug.pull(daemon)
    await replug.resume(daemon, "scanning")
    whole = b"".join(map(ean13, range(2)))
    await reader.until(bench.peer.burst(map(ean13, range(2))), 20)
    received = len(whole)

    await replug.pull(daemon)
    await replug.resume(daemon, "connected")
    amid = list(map(ean13, range(2, 12)))
    sent = bench.peer.burst(amid)
    await reader.until(received + 1, 20)

    await replug.pull(daemon)
    # Everything received is typed. Data that never left the peer's controller was not received.
    counts = (await status(bench))["counts"]
    arrived = counts["received"] - received
    expect(0 < arrived <= sent, f"{sent} bytes sent, counted: {counts}")
    await replug.resume(daemon, "typing")
    last = list(map(ean13, range(12, 14)))
    whole += b"".join(amid)[:arrived] + b"".join(last)
    bench.peer.burst(last)
    await reader.until(len(whole), 20)
    await ends(bench, daemon, reader, whole)
    bench.note = replug.note


async def ends(bench: Bench, daemon: Product, reader: EventReader, whole: bytes) -> None:
    """Ends the daemon, and checks that exactly this text was typed and counted, and that no key is down."""
    await daemon.end(signal.SIGTERM, 143)
    await reader.program.until(lambda: reader.program.status is not None, "the keyboard is removed", 10)
    compare(whole, reader.text)
    clean_keys(await reader.summary())
    counts = daemon.counts()
    expect(counts["typed"] == counts["received"] == len(whole), f"not all was typed: {counts}")
    bench.account(len(whole), len(reader.text), counts)
    await fresh(bench)


async def pending(bench: Bench, replug: Replug, daemon: Product) -> None:
    """Waits until the daemon's `connect` is pending in the kernel for a device that has stopped advertising."""
    await bench.add_peer("linble", replug.first + PEERS)

    def heard() -> bool:
        return any(o.get("state") == "connecting" and "found" in o.get("reason", "") for o in daemon.program.objects)

    await daemon.program.until(heard, "the device is heard", 30)
    await bench.peer.device.stop_advertising()
    # Stop the delays.
    begun = f"until grep -q EINPROGRESS {CONNECTS}; do sleep 0.1; done; kill $(pidof strace)"
    await bench.guest.run("sh", "-c", begun, seconds=30)


@scenario("adapter-replug-connecting", peer="no adapter", deadline=300, once=True)
async def adapter_replug_connecting(bench: Bench) -> None:
    """X-7: unplugged while connecting, and back under another number: the daemon resumes, or a kernel with the known fault crashes."""
    replug, daemon, reader = await plugged(bench, HELD)
    await pending(bench, replug, daemon)
    try:
        await replug.pull(daemon)
    except LabError:
        bench.kernel_fault = known_fault(bench)
        if bench.kernel_fault:
            return
        raise
    await replug.resume(daemon, "connecting")
    whole = b"".join(map(ean13, range(3)))
    await reader.until(bench.peer.burst(map(ean13, range(3))), 20)
    await ends(bench, daemon, reader, whole)
    bench.note = replug.note
