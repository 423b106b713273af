# SPDX-License-Identifier: GPL-2.0-or-later
#
# Functions that start the daemon and run its commands for the scenarios.

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bench import BINARY, Bench
from peer import NAME
from product import Product
from readers import EventReader
from waiting import expect

CONFIGURATION = "/etc/blewedge/blewedge.toml"
FOREVER = ("--max-age", "0")


async def fresh(bench: Bench) -> None:
    """Removes the selected device, as on a machine before its first use."""
    await bench.forget()


async def write(bench: Bench, path: str, text: str) -> None:
    await bench.guest.run("mkdir", "-p", path.rsplit("/", 1)[0])
    await bench.guest.write_file(path, text.encode())


async def start(bench: Bench, *arguments: str, before: tuple[str, ...] = ()) -> Product:
    """Starts the daemon and waits for its keyboard. `before` is a command that starts it."""
    daemon = await bench.product("run", "--json", *arguments, before=before)
    await daemon.keyboard()
    return daemon


async def tell(bench: Bench, *words: str, code: int = 0) -> str:
    """Runs a command, checks its exit code, and returns its output."""
    program = await bench.guest.run(BINARY, *words, seconds=40, check=False)
    expect(program.status == code, f"blewedge {' '.join(words)}: {program.status} instead of {code}{program.evidence()}")
    return program.out + program.err


async def use_open(bench: Bench, device: str = NAME, *options: str) -> str:
    """Selects an unpaired device as a script must: it accepts that anyone can impersonate the device."""
    return await tell(bench, "use", device, "--security", "none", *options)


async def status(bench: Bench) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(await tell(bench, "status", "--json"))
    return answer


async def until_status(bench: Bench, seconds: float, what: str, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Polls `status` until the condition is true for the answer. `status --watch` is not used, because it ends only when its
    reader does."""
    clock = bench.clock()
    while not holds(answer := await status(bench)):
        expect(clock() < seconds, f"{what}: not within {seconds:g} s; status: {answer}")
    return answer


async def until_count(bench: Bench, name: str, least: int) -> None:
    """Waits until a counter of the daemon is at least `least` bytes."""
    await until_status(bench, 20, f"{least} bytes {name}", lambda answer: answer["counts"][name] >= least)


async def until_connected(bench: Bench, daemon: Product) -> None:
    await daemon.state("connected", 40)
    await bench.peer.until_subscribed()


async def chosen(
    bench: Bench, *arguments: str, configuration: str = "", before: tuple[str, ...] = ()
) -> tuple[Product, EventReader]:
    """Starts a daemon on a machine before its first use, selects the peer, waits for the connection, and opens a reader of the
    keyboard."""
    await fresh(bench)
    if configuration:
        await write(bench, CONFIGURATION, configuration)
    daemon = await start(bench, *arguments, before=before)
    reader = await EventReader.open(bench, daemon.node)
    await use_open(bench)
    await until_connected(bench, daemon)
    return daemon, reader
