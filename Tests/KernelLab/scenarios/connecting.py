# SPDX-License-Identifier: GPL-2.0-or-later
#
# Connecting and reconnecting: the steps, the pause in scanning before an attempt, the times of retries, and the choice of the
# device.

from __future__ import annotations

import asyncio
import signal
from typing import Any

from bench import BINARY, Bench, compare
from central import event
from daemons import CONFIGURATION, chosen, fresh, start, status, tell, until_connected, use_open, write
from peer import ADDRESS, NAME, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import expect

# Tolerance in seconds: early for the rounding of a clock, late for a busy machine.
EARLY, LATE = 0.05, 2.5


def steps(bench: Bench) -> list[dict[str, Any]]:
    """Returns the scans, connection attempts and links of the product's controller in order."""
    kinds = ("scan", "attempt", "link")
    return [o for o in bench.monitor.program.objects if o.get("index") == 0 and o["event"] in kinds]


def quiet(found: list[dict[str, Any]]) -> int:
    """Checks that no scan runs during an attempt, from before its start until the link is up. Returns the number of attempts."""
    scanning = attempting = False
    attempts = 0
    for step in found:
        if step["event"] == "scan":
            expect(not (step["on"] and attempting), f"a scan begins during an attempt: {found}")
            scanning = step["on"]
        elif step["event"] == "attempt":
            expect(not scanning, f"an attempt begins during a scan: {found}")
            attempts, attempting = attempts + 1, True
        else:
            attempting = False
    return attempts


@scenario("connect-quiet", deadline=150)
async def connect_quiet(bench: Bench) -> None:
    """BT-4, CB-31: no scan of the product runs during a connection attempt, over kernel sockets and the user channel."""
    notes = []
    for adapter in "hci0", "user:hci0":
        if adapter.startswith("user:"):
            await bench.guest.run("btmgmt", "--index", "0", "power", "off")
        before = len(steps(bench))
        product = await bench.connected("--adapter", adapter)
        reader = await EventReader.open(bench, product.node)
        found = steps(bench)[before:]
        expect(quiet(found) == 1, f"not one attempt: {found}")
        # The kernel scans passively before it connects. The product's own scan is active, because it needs the name.
        ours = [step for step in found if step["event"] == "scan" and step["on"] and step["active"]]
        expect(len(ours) == 1, f"{len(ours)} active scans for one link: {found}")
        start = next(number for number, step in enumerate(found) if step is ours[0])
        expect(found[start + 1]["event"] == "scan" and not found[start + 1]["on"], f"after our scan: {found[start:]}")
        attempt = next(step for step in found if step["event"] == "attempt")
        timing = attempt["interval"], attempt["latency"], attempt["timeout"]
        expect(timing == ([12, 24], 0, 400), f"asked for is {timing}, not 15 to 30 ms, no latency, 4 s")
        quiet_for = attempt["time"] - found[start + 1]["time"]
        notes.append(f"{adapter}: our scan ended {1000 * quiet_for:.1f} ms before the attempt")
        # No scan runs while the link is up.
        await reader.until(bench.peer.burst([ean13(1)]), 20)
        await product.end(signal.SIGINT, 130)
        expect(not any(step["event"] == "scan" and step["on"] for step in steps(bench)[before + len(found) :]), "scanned on")
        await bench.peer.until_alone()
    bench.note = "; ".join(notes)


@scenario("default-profile", peer="nordic", deadline=150, once=True)
async def default_profile(bench: Bench) -> None:
    """LK-15, D-32: without a configuration, a device with the Nordic UART Service is connected and types; the profile linble rejects it."""
    daemon, reader = await chosen(bench)
    expect((await status(bench))["profile"] == "nordic", "status has another profile")
    sent = bench.peer.burst([ean13(1), ean13(2)])
    await reader.until(sent, 20)
    compare(ean13(1) + ean13(2), reader.text)
    await daemon.end(signal.SIGTERM, 143)
    bench.account(sent, len(reader.text), daemon.counts())
    await bench.peer.until_alone()
    await write(bench, CONFIGURATION, 'profile = "linble"\n')
    other = await start(bench)
    await other.state("unsupported", 40)
    answer = await status(bench)
    expect(answer["reason"] == "it has no LINBLE UART Service; it offers Nordic UART Service", f"the reason is {answer}")
    expect("--profile auto" in answer["remedy"] and answer["profile"] == "linble", f"status has {answer}")
    await other.end(signal.SIGTERM, 143)


@scenario("steps", deadline=180, once=True)
async def all_steps(bench: Bench) -> None:
    """BT-1: power, scan, connect, confirm, read and write, disconnect: each step is reported, in this order."""
    await fresh(bench)
    switch = (await bench.guest.run("sh", "-c", "echo /sys/class/bluetooth/hci0/rfkill*/soft")).out.strip()
    await bench.guest.run("sh", "-c", f"echo 1 >{switch}")
    await write(bench, "/var/lib/blewedge/selection", f"address = {ADDRESS}\ntype = random\n")
    daemon = await start(bench)
    events = await bench.start(BINARY, "events")
    await daemon.state("bluetoothOff", 20)
    await events.until(lambda: any(o.get("state") == "bluetoothOff" for o in events.objects), "the state of the adapter", 20)
    await bench.guest.run("sh", "-c", f"echo 0 >{switch}")
    await until_connected(bench, daemon)
    sent = bench.peer.burst([ean13(1)])
    await events.until(lambda: any(o.get("event") == "received" for o in events.objects), "what was received", 20)
    await tell(bench, "send", "--hex", "4f4b")
    await bench.peer.until(lambda: bench.peer.writes == [b"OK"], "what was written", 20)
    await tell(bench, "disconnect")
    await daemon.state("disconnected", 20)
    await bench.peer.until_alone()
    told = [f"{o['event']} {o.get('state', '')}".strip() for o in events.objects if o["event"] in ("state", "received")]
    reasons = [o.get("reason", "") for o in events.objects if o.get("state") == "connecting"]
    wanted = ["state bluetoothOff", "state connecting", "state connected", "received", "state disconnected"]
    at = 0
    for step in wanted:
        expect(step in told[at:], f"no {step} after {told[:at]}: {told}")
        at += told[at:].index(step) + 1
    expect(any(reason.startswith(f"found {ADDRESS}") for reason in reasons), f"heard nobody: {reasons}")
    kinds = [step["event"] + (" on" if step.get("on") or step.get("up") else "") for step in steps(bench)]
    attempt = kinds.index("attempt")
    expect("scan on" in kinds[:attempt] and "link on" in kinds[attempt:] and kinds[-1] == "link", f"the controller: {kinds}")
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    expect(daemon.counts()["received"] == sent, f"counted: {daemon.counts()}")
    bench.note = ", ".join(told)


@scenario("retries", deadline=240, once=True)
async def retries(bench: Bench) -> None:
    """LK-16: a device that refuses is retried after 3 s, then after 6 s; a silent device, as soon as it is heard again."""
    await fresh(bench)
    daemon = await start(bench)
    bench.peer.mute = True  # answer no request, so that each link can be ended here
    await use_open(bench)
    ends: list[float] = []
    gaps: list[float] = []

    def links(up: bool) -> list[float]:
        return [link["time"] for link in bench.monitor.events("link") if link["up"] is up]

    async def refuse() -> None:
        """Waits for the next attempt, records the pause before it, and disconnects."""
        await bench.monitor.program.until(lambda: len(links(up=True)) > len(ends), "the next attempt", 40)
        connection = await bench.peer.until(lambda: bench.peer.connection, "the link comes up", 10)
        gaps.extend(links(up=True)[-1] - end for end in ends[-1:])
        await connection.disconnect()
        await bench.monitor.program.until(lambda: len(links(up=False)) > len(ends), "its end", 10)
        ends.append(links(up=False)[-1])
        await daemon.state("failed", 10)

    for _ in range(2):
        await refuse()
    # Become silent during the second pause, so that the device is silent when the third attempt has failed.
    await bench.peer.fall_silent()
    await bench.peer.advertise(again=False)
    await refuse()
    # The device is heard within 3 s, too early to bring the next attempt forward, and is then silent. The next attempt would come
    # after 12 s.
    await bench.peer.advertise()
    await bench.peer.fall_silent()
    await asyncio.sleep(5)
    bench.peer.mute = False
    await bench.peer.advertise()
    await until_connected(bench, daemon)
    gaps.append(links(up=True)[-1] - ends[-1])
    for gap, (least, most) in zip(gaps, [(3, 3 + LATE), (6, 6 + LATE), (5, 5 + LATE)], strict=True):
        expect(least - EARLY <= gap <= most, f"the pauses were {gaps} s, that of {gap:.2f} is to be {least} … {most}")
    await daemon.end(signal.SIGTERM, 143)
    bench.note = f"pauses {', '.join(f'{gap:.2f}' for gap in gaps)} s"


@scenario("reconnect", peer="no adapter", deadline=300, once=True)
async def reconnect(bench: Bench) -> None:
    """BT-2: after a lost link the same device is reconnected at once, and another device with its name is never connected."""
    await bench.add_controllers("linble", count=3)
    daemon, reader = await chosen(bench, configuration='adapter = "hci0"\n')
    double = Product(await bench.start(BINARY, "simulate", "--json", "--adapter", "hci2", "--name", NAME))
    await event(double.program, "advertising")
    times = []
    for away in 0.0, 0.0, 8.0:
        await bench.peer.vanish()
        await daemon.state("lost", 20)
        lost = (await bench.monitor.last_link(up=False))["time"]
        if away:
            # Only the impostor advertises.
            await daemon.state("connecting", 20)
            await asyncio.sleep(away)
        clock = bench.clock()
        await bench.peer.advertise()
        await until_connected(bench, daemon)
        up = await bench.monitor.last_link(up=True)
        times.append(clock() if away else up["time"] - lost)
    sent = bench.peer.burst([ean13(1)])
    await reader.until(sent, 20)
    compare(ean13(1), reader.text)
    others = [o for o in daemon.program.objects if o.get("state") == "connected" and o["address"] != ADDRESS]
    expect(not others, f"connected to another device: {others}")
    taken = [o for o in double.program.objects if o.get("event") == "connected"]
    expect(not taken, f"the double was connected to: {taken}")
    # Negative control: the impostor can be found and connected to.
    await use_open(bench, next(o["adapterAddress"] for o in double.program.objects if "adapterAddress" in o), "--yes")
    await event(double.program, "connected", 40)
    await daemon.end(signal.SIGTERM, 143)
    await double.end(signal.SIGINT, 130)
    expect(max(times[:2]) < 3 + LATE and times[2] < 2 * LATE, f"back after {times} s")
    bench.note = f"back {times[0]:.2f} and {times[1]:.2f} s after the loss, {times[2]:.2f} s after it was there again"
