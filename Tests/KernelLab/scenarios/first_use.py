# SPDX-License-Identifier: GPL-2.0-or-later
#
# First use: runs the commands that the guide prints one after the other, exactly as printed.

from __future__ import annotations

import re
import shlex
import signal

from bench import BINARY, Bench, compare
from daemons import fresh
from guest import Guest
from peer import NAME, ean13
from readers import Terminal
from scenarios import scenario
from waiting import expect

MOST = 3


async def guide_commands(guest: Guest, binary: str) -> list[list[str]]:
    """Returns the commands that the guide prints for first use, without `sudo` because the lab runs as root."""
    guide = await guest.run(binary, "guide", seconds=60)
    lines = re.findall(r"^ +(?:sudo )?(blewedge .*)$", guide.out, re.MULTILINE)
    expect(lines, f"the guide has no commands: {guide.out!r}")
    return [[binary, *shlex.split(line)[1:]] for line in lines]


@scenario("first-use", deadline=120, once=True)
async def first_use(bench: Bench) -> None:
    """LK-12, X-11: from a fresh machine to the first typed barcode, with at most three commands, which the guide prints."""
    await fresh(bench)
    terminal = await Terminal.open(bench)
    ran: list[str] = []
    name = "DEVICE"
    for command in await guide_commands(bench.guest, BINARY):
        words = [name if word == "DEVICE" else word for word in command]
        ran.append(" ".join(["blewedge", *words[1:]]))
        if words[1] == "use":
            # The product asks for confirmation on the terminal, because the device is unpaired.
            program = await bench.start("script", "-qec", shlex.join(words), "/dev/null")
            await program.until(lambda: "[y/N]" in program.out, "the question of a device that is not paired", 30)
            await program.write(b"y\n")
        else:
            program = await bench.start(*words)
        if words[1] == "run":
            break
        expect(await program.wait(60) == 0, f"{ran[-1]}: exit {program.status}{program.evidence()}")
        if words[1] == "scan":
            # A user would choose the name of the device with a serial service from the list.
            rows = [line.split("\t") for line in program.out.splitlines()]
            name = next((row[3] for row in rows if row[4] != "-"), "")
            expect(name == NAME, f"the list has {rows}")
    expect(words[1] == "run" and len(ran) <= MOST, f"{len(ran)} commands: {'; '.join(ran)}")
    await bench.peer.until_subscribed(60)
    sent = bench.peer.burst([ean13(1)])
    await terminal.until(sent, 20)
    compare(ean13(1), terminal.text)
    await terminal.close()
    await program.signal(signal.SIGINT)
    expect(await program.wait(20) == 130, f"exit {program.status}{program.evidence()}")
    bench.figures = {"sent": sent, "typed": sent, "commands": len(ran)}
    bench.note = "; ".join(ran)
    await fresh(bench)
