# SPDX-License-Identifier: GPL-2.0-or-later
#
# The conformance files, replayed at PDU level with our own host on the second controller's user channel as lower
# tester: over the kernel's sockets, and over the user channel.

from __future__ import annotations

from bench import Bench
from scenarios import scenario
from waiting import expect


async def replay(bench: Bench, adapter: str, *options: str, seconds: float) -> None:
    runner = bench.machine.beside("conformance")
    # The guest sees the repository where it is here: the vectors that the runner reads.
    program = await bench.start(f"/run/host{runner}", adapter, "user:hci1", *options)
    status = await program.wait(seconds)
    lines = program.out.splitlines()
    failures = [line for line in lines if not line.startswith("ok ")][:-1]
    expect(status == 0, f"exit {status}: {'; '.join(failures[:3])}{program.evidence()}")
    bench.note = lines[-1]


@scenario("conformance", peer="", deadline=400)
async def kernel(bench: Bench) -> None:
    """CB-7, CB-8, CB-9, CB-10, CB-11, CB-23, CB-24, CB-27: GATT's conformance files over kernel sockets, both roles."""
    await replay(bench, "hci0", seconds=360)


@scenario("conformance-user", peer="", deadline=400, once=True)
async def user(bench: Bench) -> None:
    """X-10: GATT's conformance files over the HCI user channel, both roles."""
    await replay(bench, "user:hci0", seconds=360)


@scenario("conformance-waits", peer="", deadline=600, only_long=True)
async def waits(bench: Bench) -> None:
    """Those of GATT's conformance files that wait for time-outs, over the kernel's L2CAP sockets."""
    await replay(bench, "hci0", "--waits", seconds=560)
