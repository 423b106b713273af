# SPDX-License-Identifier: GPL-2.0-or-later
#
# The status line on the terminal on which the keyboard runs.

from __future__ import annotations

import re
import signal

from bench import BINARY, Bench
from daemons import CONFIGURATION, fresh, tell, until_count, write
from guest import Program
from peer import NAME, ean13
from readers import EventReader
from scenarios import scenario
from waiting import expect

RUN = f"exec {BINARY} run --device {NAME} --security none"


@scenario("status-line", deadline=150, once=True)
async def status_line(bench: Bench) -> None:
    """LK-13, LK-17, LK-25, LK-26: on a terminal `run` shows state, counts and an indicator; with the setting off or in a pipe, none of them."""
    await fresh(bench)
    terminal = await connected(bench, f"stty cols 90; export TERM=linux; {RUN}")
    sent = bench.peer.burst([ean13(1)])
    await terminal.until(lambda: f"received {sent}  typed {sent}" in terminal.out, "the counts on the line", 20)
    drawn = re.findall(r"\r\x1b\[K([^\r\n\x1b]+)", terminal.out)
    expect(any(line.startswith(f"connected to {NAME}") and len(line) == 89 for line in drawn), f"drawn was {drawn}")
    expect(any(line.endswith("* received") for line in drawn), f"no mark of what was received: {drawn}")
    # The mark disappears after a moment, and then nothing more is drawn.
    await terminal.until(lambda: terminal.out.endswith(f"typed {sent}"), "the mark is taken away", 10)
    await tell(bench, "stop")
    await terminal.until(lambda: "received 14 bytes in 1 notifications: typed 14" in terminal.out, "the account", 20)
    await bench.peer.until_alone(20)

    await write(bench, CONFIGURATION, 'status-line = "off"\n')
    silent = await connected(bench, f"stty cols 90; export TERM=linux; {RUN}")
    # LK-17: closing the terminal ends neither the keyboard nor the link.
    await silent.signal(signal.SIGKILL)
    await silent.wait(20)
    bench.peer.burst([ean13(2)])
    await until_count(bench, "typed", sent)
    await tell(bench, "stop")
    await bench.peer.until_alone(20)
    await fresh(bench)
    pipe = await connected(bench, f"export TERM=linux; {RUN} 2>&1 | cat")
    await tell(bench, "stop")
    await pipe.wait(20)
    for program in (silent, pipe):
        expect("\x1b" not in program.out, f"drawn was {program.out!r}")
    bench.figures = {"sent": sent, "typed": sent}
    bench.note = f"{len(drawn)} lines drawn"


async def connected(bench: Bench, line: str) -> Program:
    """Runs a shell command that starts the keyboard on a separate terminal, and waits until the peer is connected."""
    program = await bench.start("script", "-qec", line, "/dev/null")
    node = await program.until(lambda: re.search(r"the keyboard is (/dev/\S+)", program.out), "the keyboard", 20)
    await EventReader.open(bench, node.group(1))
    await program.until(lambda: f"connected to {NAME}" in program.out, "the sentence that it is connected", 30)
    await bench.peer.until_subscribed()
    return program
