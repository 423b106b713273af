# SPDX-License-Identifier: GPL-2.0-or-later
#
# `bench --uinput`: measures with a keyboard of its own, whose keys nobody else receives.

from __future__ import annotations

import asyncio

from bench import Bench
from readers import EventReader, Terminal
from scenarios import scenario
from scenarios.kills import order
from waiting import expect

FIGURES = ("eventsPerSecond", "keystrokes", "lost", "p50Nanoseconds", "p99Nanoseconds")


@scenario("bench-uinput", peer="", deadline=90, once=True)
async def bench_uinput(bench: Bench) -> None:
    """`bench --uinput` exits with 0 and prints figures; its keys reach neither the foreground terminal nor another reader."""
    terminal = await Terminal.open(bench)
    keys, node = await bench.keys()
    reader = await EventReader.open(bench, node, share=True)
    product = await bench.product("bench", "--json", "--uinput", "--seconds", "2")
    await product.exits(0, 60)
    cases = [o for o in product.program.objects if "case" in o]
    by_queue = {o["queue"]: o for o in cases if o["case"] == "uinput"}
    expect(list(by_queue) == [64, 256], f"no figures of uinput for each queue: {product.program.out!r}")
    for figures in by_queue.values():
        expect(all(name in figures for name in FIGURES), f"figures are missing: {figures}")
        expect(figures["lost"] == 0 and figures["eventsPerSecond"] > 0 and figures["keystrokes"] > 0, f"figures: {figures}")
    # Negative control: a key of another keyboard reaches both readers.
    heard = bytes(terminal.text), reader.text
    await order(keys, "events 4")
    await terminal.until(len(heard[0]) + 1, 10)
    await reader.until(len(heard[1]) + 1, 10)
    await asyncio.sleep(0.2)  # time for any other key to arrive
    expect(terminal.text == b"a" and reader.text == b"a", f"heard: {heard}, at last {terminal.text!r}, {reader.text!r}")
    await terminal.close()
    others = ", ".join(o["case"] for o in cases if o["case"] != "uinput")
    figures = by_queue[256]
    bench.note = (
        f"{figures['eventsPerSecond']} events/s (queue of 64: {by_queue[64]['eventsPerSecond']}), write to read p50 {figures['p50Nanoseconds'] / 1000:.0f} µs, "
        f"p99 {figures['p99Nanoseconds'] / 1000:.0f} µs, {figures['keystrokes']} keystrokes; also {others}"
    )
