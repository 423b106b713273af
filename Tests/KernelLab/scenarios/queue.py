# SPDX-License-Identifier: GPL-2.0-or-later
#
# The event queue that the kernel keeps for a reader of a keyboard, tested with random traces. The exact model in the unit tests
# is based on it.

from __future__ import annotations

import random

from bench import REPOSITORY, Bench
from scenarios import scenario
from waiting import expect

VECTORS = REPOSITORY / "Tests/Vectors/evdev-queue.txt"
TRACES = 200
MARGIN = 12  # around the queue's 64 entries, where the behavior changes
HEAD = """\
# What the kernel gives to a reader of a keyboard, traces recorded in the kernel lab on 6.1 and the same on 6.12.
# A line is a trace and what was read. In the trace: a to z that key goes down, A to Z it goes up, `.` a report ends
# the frame, `|` the reader reads all that there is. In what was read, `!` is SYN_DROPPED, and `|` ends each reading.
# Delete this file and run `Tests/KernelLab/lab --kernel 6.1 queue-model` for a new one, of other traces.
"""


def trace(chooser: random.Random) -> str:
    """Returns a trace of complete frames with up to six changes each, and with reads near the limit of the queue and
    elsewhere."""
    down: list[str] = []
    text = ""

    def frame(most: int) -> str:
        changes = ""
        touched: set[str] = set()
        for _ in range(most):
            key = chooser.choice("abcdefgh")
            if key in touched:
                continue
            touched.add(key)
            changes += key.upper() if key in down else key
            down.remove(key) if key in down else down.append(key)
        return changes + "."

    for _ in range(chooser.randint(1, 3)):
        wanted = chooser.choice((chooser.randint(1, 40), chooser.randint(64 - MARGIN, 64 + MARGIN), chooser.randint(60, 140)))
        segment = ""
        most = chooser.choice((1, 1, 2, 6))
        while len(segment) < wanted:
            segment += frame(chooser.randint(1, most))
        text += segment + "|"
    if down:  # release the key, or pressing it would not be an event in the next trace
        text += "".join(key.upper() + "." for key in down) + "|"
    return text


@scenario("queue-model", peer="", deadline=120, once=True)
async def queue_model(bench: Bench) -> None:
    """X-2: for random traces of events and reads, the kernel delivers what Tests/Vectors records; the unit tests' model must match it."""
    recorded: list[tuple[str, str]] = []
    if VECTORS.exists():
        lines = [line for line in VECTORS.read_text().splitlines() if line and not line.startswith("#")]
        recorded = [(line.split(" ")[0], line.split(" ")[1]) for line in lines]
        expect(len(recorded) >= TRACES, f"{VECTORS.name} has {len(recorded)} traces only")
    traces = [given for given, _ in recorded]
    if not traces:
        chooser = bench.chooser()
        traces = [trace(chooser) for _ in range(TRACES)]
    program = await bench.start("queue")
    await program.until(lambda: program.objects, "the lab's keyboard", 20)
    await program.write("".join(f"{line}\n" for line in [program.objects[0]["node"], *traces]).encode())
    await program.close_input()
    expect(await program.wait(60) == 0, f"the player of traces failed{program.evidence()}")
    read = [str(o["read"]) for o in program.objects[1:]]
    expect(len(read) == len(traces), f"{len(traces)} traces played, {len(read)} answered")
    drops = sum("!" in got for got in read)
    expect(0 < drops < len(read), f"{drops} of {len(read)} traces overflow the queue: they prove nothing")
    if not recorded:
        VECTORS.write_text(HEAD + "".join(f"{given} {got}\n" for given, got in zip(traces, read, strict=True)))
        bench.note = f"{len(read)} traces recorded, {drops} of them overflow"
        return
    differing = [(given, then, now) for (given, then), now in zip(recorded, read, strict=True) if then != now]
    first = f"{differing[0][0]}: {differing[0][1]} was recorded, {differing[0][2]} is read" if differing else ""
    expect(not differing, f"{len(differing)} of {len(read)} traces are read otherwise than recorded, the first {first}")
    bench.note = f"{len(read)} traces as recorded, {drops} of them overflow"
