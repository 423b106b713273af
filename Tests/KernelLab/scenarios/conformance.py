# SPDX-License-Identifier: GPL-2.0-or-later
#
# Replays the conformance files at PDU level. The lower tester is our own host on the user channel of the second controller. The
# host under test uses the kernel's sockets, then the user channel.

from __future__ import annotations

from bench import Bench
from scenarios import scenario
from waiting import expect


async def replay(bench: Bench, adapter: str, *options: str, seconds: float) -> None:
    runner = bench.machine.beside("conformance")
    # The guest has the repository at the same path as the host, so the runner finds the vectors.
    program = await bench.start(f"/run/host{runner}", adapter, "user:hci1", *options)
    status = await program.wait(seconds)
    lines = program.out.splitlines()
    failures = [line for line in lines if not line.startswith("ok ")][:-1]
    expect(status == 0, f"exit {status}: {'; '.join(failures[:3])}{program.evidence()}")
    bench.note = lines[-1]


@scenario("conformance", peer="", deadline=400, once=True)
async def kernel(bench: Bench) -> None:
    """CB-7, CB-8, CB-9, CB-10, CB-11, CB-23, CB-24, CB-27: GATT's conformance files over kernel sockets, in both roles."""
    await replay(bench, "hci0", seconds=360)


@scenario("conformance-user", peer="", deadline=400, once=True)
async def user(bench: Bench) -> None:
    """X-10: GATT's conformance files over the HCI user channel, in both roles."""
    await replay(bench, "user:hci0", seconds=360)


@scenario("conformance-waits", peer="", deadline=600, only_long=True)
async def waits(bench: Bench) -> None:
    """GATT's conformance files that wait for time-outs, over the kernel's L2CAP sockets."""
    await replay(bench, "hci0", "--waits", seconds=560)
