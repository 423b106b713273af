# SPDX-License-Identifier: GPL-2.0-or-later
#
# A device with the address of a paired device but without its key. Unlike the stranger of `bonded`, it sends nothing on its own.
# On a kernel that frees channels twice (faultykernel.py), the first packet matters.

from __future__ import annotations

import asyncio
import json

from bumble.device import Connection
from bumble.pairing import PairingDelegate

from bench import BINARY, Bench, compare
from daemons import fresh, start, tell, until_connected, until_status
from faultykernel import until_fault
from peer import NAME, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from scenarios.pairing import KERNEL, OWN, Hands, bond, hold, pair, take_from_kernel
from waiting import expect

IO = PairingDelegate.IoCapability


class Stranger:
    """The peer, which can lose and regain its key, and the keyboard that types its text."""

    def __init__(self, bench: Bench, daemon: Product, reader: EventReader) -> None:
        self.bench, self.daemon, self.reader = bench, daemon, reader
        self.sent = b""
        self._kept: list = []
        self._hangs_up: asyncio.Task[None] | None = None

    async def types(self) -> None:
        """Checks that the peer's text is typed while it has its key."""
        await self.bench.peer.until_subscribed(60)
        barcode = ean13(len(self.sent))
        self.sent += barcode
        self.bench.peer.burst([barcode])
        await self.reader.until(len(self.sent), 20)
        compare(self.sent, self.reader.text)

    async def loses_key(self) -> None:
        """Deletes the peer's key and disconnects, so that the next link has no key."""
        keys = self.bench.peer.device.keystore
        self._kept = await keys.get_all()
        await keys.delete_all()
        link = self.bench.peer.connection
        assert link is not None
        await link.disconnect()

    async def finds_key(self) -> None:
        for name, keys in self._kept:
            await self.bench.peer.device.keystore.update(name, keys)

    async def is_refused(self, *reasons: str) -> None:
        """Waits until a link without the key ends with one of these reasons, and checks that nothing is typed."""
        peer = self.bench.peer
        before = peer.connections
        await peer.until(lambda: peer.connections > before and peer.connection is None, "a link of the stranger ends", 60)
        said = lambda answer: any(reason in (answer.get("reason") or "") for reason in reasons)  # noqa: E731
        await until_status(self.bench, 40, "it is refused", said)
        compare(self.sent, self.reader.text)

    def hang_up(self, connection: Connection) -> None:
        """Disconnects at once, before the peer has sent a packet."""
        self._hangs_up = asyncio.ensure_future(connection.disconnect())


async def doctor_tells(bench: Bench, adapter: tuple[str, ...]) -> None:
    """Checks that the doctor reports a faulty kernel by its version if the kernel's channels are used."""
    kernel = bench.machine.vm.kernel
    doctor = await bench.guest.run(BINARY, "doctor", "--json", *adapter, check=False, seconds=40)
    found = [finding for finding in doctor.objects[0]["findings"] if finding["severity"] != "note"]
    wanted = ["kernel-quirk"] if kernel.is_faulty and adapter == KERNEL else []
    expect([finding["id"] for finding in found] == wanted, f"of {kernel.package} the doctor says {found}")
    version = kernel.package.split()[1]
    expect(not found or f"Linux {version} " in found[0]["what"], f"of {version} the doctor says {found}")


async def refused_without_key(bench: Bench, adapter: tuple[str, ...]) -> None:
    bond(await pair(bench, hold(bench, Hands(IO.NO_OUTPUT_NO_INPUT)), "none", "", *adapter))
    daemon = await start(bench, *adapter)
    stranger = Stranger(bench, daemon, await EventReader.open(bench, daemon.node))
    chosen = json.loads(await tell(bench, "use", NAME, "--json"))
    expect(chosen["security"] == "encrypted", f"the choice is {chosen}")
    await until_connected(bench, daemon)
    await doctor_tells(bench, adapter)
    await stranger.types()

    # A device without its key that answers, as after a factory reset, does not trigger the kernel's fault.
    await stranger.loses_key()
    await stranger.is_refused("could not be verified")
    await stranger.finds_key()
    await stranger.types()

    # Here the device ends the link before its first packet.
    peer = bench.peer
    peer.mute = True
    peer.device.on("connection", stranger.hang_up)
    await stranger.loses_key()
    if bench.machine.vm.kernel.is_faulty and adapter == KERNEL:
        bench.kernel_fault = await until_fault(bench, 60)
        compare(stranger.sent, stranger.reader.text)
        bench.note = f"{len(stranger.sent)} bytes typed for the key's owner, none else until the kernel failed"
        return
    await stranger.is_refused("could not be verified", "ended the connection")
    peer.device.remove_listener("connection", stranger.hang_up)
    peer.mute = False
    await stranger.finds_key()
    await stranger.types()
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    bench.account(len(stranger.sent), len(stranger.reader.text), daemon.counts())
    await fresh(bench)


@scenario("keyless-own", deadline=240, only_long=True, kernels=("6.1", "6.1.192"))
async def keyless_own(bench: Bench) -> None:
    """As `keyless`, but over the user channel, which the kernel's fault does not affect."""
    await fresh(bench)
    await take_from_kernel(bench)
    await refused_without_key(bench, OWN)


@scenario("keyless", deadline=240, kernels=("6.1", "6.1.192"))
async def keyless(bench: Bench) -> None:
    """X-8: a device with a paired device's address but no key types nothing, silent or disconnecting at once; a kernel with the fault crashes."""
    await fresh(bench)
    await refused_without_key(bench, KERNEL)
