# SPDX-License-Identifier: GPL-2.0-or-later
#
# The daemon and its commands as the scenarios use them.

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
    """Nothing is chosen, as on a machine that nobody has set up."""
    await bench.forget()


async def write(bench: Bench, path: str, text: str) -> None:
    await bench.guest.run("mkdir", "-p", path.rsplit("/", 1)[0])
    await bench.guest.write_file(path, text.encode())


async def start(bench: Bench, *arguments: str, before: tuple[str, ...] = ()) -> Product:
    """The daemon; its keyboard stands. `before` is a command that starts it."""
    daemon = await bench.product("run", "--json", *arguments, before=before)
    await daemon.keyboard()
    return daemon


async def tell(bench: Bench, *words: str, code: int = 0) -> str:
    """A command, and the exit code it must have; what it said."""
    program = await bench.guest.run(BINARY, *words, seconds=40, check=False)
    expect(program.status == code, f"blewedge {' '.join(words)}: {program.status} instead of {code}{program.evidence()}")
    return program.out + program.err


async def use_open(bench: Bench, device: str = NAME, *options: str) -> str:
    """Chooses a device without keys, as a script has to: anybody may be it."""
    return await tell(bench, "use", device, "--security", "none", *options)


async def status(bench: Bench) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(await tell(bench, "status", "--json"))
    return answer


async def until_status(bench: Bench, seconds: float, what: str, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Asks until it holds of the answer; a line of `status --watch` would end only with its reader."""
    clock = bench.clock()
    while not holds(answer := await status(bench)):
        expect(clock() < seconds, f"{what}: not within {seconds:g} s; status: {answer}")
    return answer


async def until_count(bench: Bench, name: str, least: int) -> None:
    """The daemon has counted so many bytes as that."""
    await until_status(bench, 20, f"{least} bytes {name}", lambda answer: answer["counts"][name] >= least)


async def until_connected(bench: Bench, daemon: Product) -> None:
    await daemon.state("connected", 40)
    await bench.peer.until_subscribed()


async def chosen(
    bench: Bench, *arguments: str, configuration: str = "", before: tuple[str, ...] = ()
) -> tuple[Product, EventReader]:
    """A daemon on a machine that nobody has set up, for which the peer is chosen and connected; and a reader of its keys."""
    await fresh(bench)
    if configuration:
        await write(bench, CONFIGURATION, configuration)
    daemon = await start(bench, *arguments, before=before)
    reader = await EventReader.open(bench, daemon.node)
    await use_open(bench)
    await until_connected(bench, daemon)
    return daemon, reader
