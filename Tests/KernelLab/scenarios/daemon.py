# SPDX-License-Identifier: GPL-2.0-or-later
#
# The daemon: the selected device, which survives a restart; switching devices; the gate; and faults.

from __future__ import annotations

import asyncio
import signal

from bumble import hci
from bumble.core import UUID, AdvertisingData
from bumble.device import AdvertisingType

from bench import OPEN, Bench, compare
from daemons import FOREVER, chosen, fresh, start, status, tell, until_connected, until_count, until_status, use_open
from peer import ADDRESS, NAME, SERVICE, Peer, ean13
from readers import EventReader
from scenarios import scenario
from waiting import LabError, expect

SELECTION = "/var/lib/blewedge/selection"
OTHER_NAME, OTHER_ADDRESS = "LT01 BC000120", "F1:F1:F2:F3:F4:F6"
KINDS = AdvertisingType.UNDIRECTED_SCANNABLE, AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE


@scenario("daemon-choice", deadline=240, once=True)
async def daemon_choice(bench: Bench) -> None:
    """LK-5, LK-7, LK-20: the selected device survives a restart and SIGKILL; `forget` closes the link; a second daemon is refused."""
    await fresh(bench)
    daemon = await start(bench)
    await daemon.state("unselected", 20)
    # A script cannot be asked, so it must accept in advance that anyone can impersonate the device; otherwise the selection is
    # refused.
    for options, cause in (((), "anyone who copies its name and address can type"), (("--security", "encrypted"), "is not paired")):
        said = await tell(bench, "use", NAME, *options, code=78)
        expect(cause in said and f"blewedge pair {ADDRESS}" in said, f"use {options} says {said!r}")
    expect((await status(bench)).get("selection") is None, "a refused device is chosen")
    await use_open(bench)
    await until_connected(bench, daemon)
    answer = await status(bench)
    expect((answer["requiredSecurity"], answer["link"]["security"]) == ("none", "none"), f"the security is not said: {answer}")
    chosen = answer["selection"]
    expect((chosen["name"], chosen["address"]) == (NAME, ADDRESS), f"status has the choice {chosen}")
    second = await tell(bench, "run", "--device", NAME, *OPEN, code=69)
    expect(str(daemon.program.pid) in second, f"the second one does not name the first, {daemon.program.pid}: {second!r}")
    await daemon.end(signal.SIGTERM, 143)
    await bench.peer.until_alone()

    daemon = await start(bench)
    await until_connected(bench, daemon)
    await daemon.program.signal(signal.SIGKILL)
    await daemon.program.wait(10)
    await bench.peer.until_alone()

    daemon = await start(bench)
    reader = await EventReader.open(bench, daemon.node)
    await until_connected(bench, daemon)
    sent = bench.peer.burst([ean13(1)])
    await reader.until(sent, 20)
    compare(ean13(1), reader.text)
    await tell(bench, "forget")
    await daemon.state("unselected", 10)
    await bench.peer.until_alone()
    await bench.monitor.until_quiet()
    expect((await status(bench)).get("selection") is None, "a choice is left")
    await tell(bench, "stop")
    await daemon.exits(0, 15)
    bench.account(sent, len(reader.text), daemon.counts())
    bench.note = "chosen once, connected by three processes"


@scenario("daemon-follows", deadline=120, once=True)
async def daemon_follows(bench: Bench) -> None:
    """LK-18: the daemon follows its selection file when it is removed, restored, and overwritten with another device."""
    daemon, reader = await chosen(bench)
    kept = await bench.guest.read_file(SELECTION)
    await bench.guest.run("rm", SELECTION)
    await daemon.state("unselected", 10)
    await bench.peer.until_alone()
    links = bench.peer.connections
    await bench.guest.write_file(f"{SELECTION}.new", kept)
    await bench.guest.run("mv", f"{SELECTION}.new", SELECTION)
    await bench.peer.until(lambda: bench.peer.connections > links, "the device is connected to again", 40)
    await until_connected(bench, daemon)
    expect((await status(bench))["selection"]["address"] == ADDRESS, "another device is chosen")
    await Disguise(bench.peer).advertise()
    links = bench.peer.connections
    other = kept.replace(ADDRESS.encode(), OTHER_ADDRESS.encode()).replace(NAME.encode(), OTHER_NAME.encode())
    await bench.guest.write_file(SELECTION, other)
    await bench.peer.until(lambda: bench.peer.connections > links, "the other device is connected to", 40)
    await until_connected(bench, daemon)
    expect((await status(bench))["selection"]["address"] == OTHER_ADDRESS, "the other device is not chosen")
    await bench.monitor.last_link(up=True)
    ups = [event["up"] for event in bench.monitor.events("link")]
    expect(ups == [True, False] * 2 + [True], f"the links went {ups}")
    sent = bench.peer.burst([b"b" * 20])
    await reader.until(sent, 20)
    await daemon.end(signal.SIGTERM, 143)
    bench.account(sent, len(reader.text), daemon.counts())
    await fresh(bench)


@scenario("daemon-lost", deadline=120)
async def daemon_lost(bench: Bench) -> None:
    """LK-19: a lost link is restored within 3 to 5 s."""
    daemon, _ = await chosen(bench)
    await bench.peer.vanish()
    await daemon.state("lost", 20)
    lost = await bench.monitor.last_link(up=False)
    expect(lost["reason"] == 8, f"the link ended otherwise than by its timeout: {lost}")
    await bench.peer.advertise()
    await until_connected(bench, daemon)
    attempt = [event["time"] - lost["time"] for event in bench.monitor.events("attempt") if event["time"] > lost["time"]]
    up = (await bench.monitor.last_link(up=True))["time"] - lost["time"]
    expect(attempt and attempt[0] >= 2.99, f"the first attempt came {attempt} s after the loss")
    expect(up < 5, f"the link was back after {up:.2f} s")
    await daemon.end(signal.SIGTERM, 143)
    bench.note = f"attempt {attempt[0]:.2f} s after the loss, link {up:.2f} s after it"


class Disguise:
    """Makes the peer's controller appear as another device, with another address and name. The existing link is not affected."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def advertise(self, connectable: bool = True) -> None:
        device = self._peer.device
        await device.stop_advertising()
        device.random_address = hci.Address(OTHER_ADDRESS)
        await device.send_command(hci.HCI_LE_Set_Random_Address_Command(random_address=device.random_address))
        names = AdvertisingData([(AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LOCAL_NAME, OTHER_NAME.encode())])
        services = [(AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, UUID(SERVICE).to_bytes())]
        await device.start_advertising(
            advertising_type=KINDS[connectable], advertising_data=bytes(names),
            scan_response_data=bytes(AdvertisingData(services)), auto_restart=False
        )


@scenario("daemon-switch", deadline=180, once=True)
async def daemon_switch(bench: Bench) -> None:
    """LK-8, BT-9: a switch during typing closes the old link first; no byte of the old device is typed later, and the rest is counted."""
    daemon, reader = await chosen(bench, *FOREVER)
    await Disguise(bench.peer).advertise()
    await tell(bench, "use", OTHER_NAME, "--security", "none", code=64)  # replacing a device needs --yes
    first = bench.peer.burst([b"a" * 20] * 400)
    await reader.until(40, 20)
    links = bench.peer.connections
    await use_open(bench, OTHER_NAME, "--yes")
    await daemon.state("connecting", 20)
    await bench.peer.until(lambda: bench.peer.connections > links, "the other device is connected to", 40)
    await until_connected(bench, daemon)
    await bench.monitor.last_link(up=True)
    changes = [(event["up"], event["time"]) for event in bench.monitor.events("link")]
    expect([up for up, _ in changes] == [True, False, True], f"the links went {changes}")
    second = bench.peer.burst([b"b" * 20] * 5)
    typed = len(reader.text)
    await reader.program.until(lambda: reader.text.count(b"b") == second, f"{second} bytes of the other device", 40)
    text = reader.text
    expect(text == b"a" * text.count(b"a") + b"b" * second, "bytes of both devices are mixed")
    expect(text.count(b"a") <= typed, "bytes of the old device were typed after the switch")
    answer = await status(bench)
    expect(answer["selection"]["address"] == OTHER_ADDRESS, f"chosen is {answer['selection']}")
    await daemon.end(signal.SIGTERM, 143)
    counts = daemon.counts()
    expect(counts["switched"] > 0, f"nothing waited when the device was switched: {counts}")
    bench.account(first + second, len(text), counts)
    bench.note = f"{text.count(b'a')} bytes of the old device typed, {counts['switched']} dropped by the switch"


@scenario("daemon-disconnect", deadline=120, once=True)
async def daemon_disconnect(bench: Bench) -> None:
    """LK-17: only `disconnect` disconnects, and it holds until `connect`; bytes still in the buffer are dropped and counted."""
    daemon, reader = await chosen(bench, *FOREVER)
    first = bench.peer.burst([b"a" * 20] * 100)
    await reader.until(40, 20)
    await tell(bench, "disconnect")
    await daemon.state("disconnected", 10)
    await bench.peer.until_alone()
    await bench.monitor.until_quiet()
    links = bench.peer.connections
    expect((await status(bench))["state"] == "disconnected", "not disconnected")
    await asyncio.sleep(8)  # longer than the pause before a lost link is retried
    expect(bench.peer.connections == links, "connected though nobody wants it")
    await tell(bench, "connect")
    await until_connected(bench, daemon)
    second = bench.peer.burst([b"b" * 20])
    await reader.program.until(lambda: reader.text.count(b"b") == second, "the bytes after connect", 20)
    await daemon.end(signal.SIGTERM, 143)
    counts = daemon.counts()
    expect(counts["disconnected"] > 0, f"nothing waited at the disconnect: {counts}")
    bench.account(first + second, len(reader.text), counts)


@scenario("daemon-pause", deadline=120, once=True)
async def daemon_pause(bench: Bench) -> None:
    """LK-22, X-1: bytes received while paused are gated and counted, and are not typed later."""
    daemon, reader = await chosen(bench)
    await tell(bench, "pause")
    answer = await status(bench)
    expect(answer["paused"] and answer["gate"] == "closed", f"not paused: {answer}")
    gated = bench.peer.burst([b"a" * 20] * 5)
    await until_count(bench, "gated", gated)
    await tell(bench, "resume")
    typed = bench.peer.burst([ean13(2)])
    await reader.until(typed, 20)
    compare(ean13(2), reader.text)
    await daemon.end(signal.SIGTERM, 143)
    counts = daemon.counts()
    expect(counts["gated"] == gated and counts["typed"] == typed, f"counted: {counts}")
    bench.account(gated + typed, len(reader.text), counts)
    bench.note = f"{gated} bytes refused by the gate"


@scenario("daemon-gate-vt", deadline=120, once=True)
async def daemon_gate_vt(bench: Bench) -> None:
    """LK-22: with gate.vt, bytes are typed only while that virtual terminal is in the foreground, and never later."""
    await bench.guest.run("chvt", "4")
    daemon, reader = await chosen(bench, configuration="[gate]\nvt = 3\n")
    expected = bytearray()
    for front, text in (("4", b"a"), ("3", b"b"), ("4", b"c"), ("3", b"d")):
        await bench.guest.run("chvt", front)
        gate = "open" if front == "3" else "closed"
        answer = await until_status(bench, 10, f"the gate is {gate}", lambda answer, gate=gate: answer["gate"] == gate)
        bench.peer.burst([text * 20])
        await until_count(bench, "received", answer["counts"]["received"] + 20)
        if front == "3":
            expected += text * 20
            await reader.until(len(expected), 20)
    compare(bytes(expected), reader.text)
    await daemon.end(signal.SIGTERM, 143)
    counts = daemon.counts()
    expect(counts["gated"] == 40, f"counted: {counts}")
    bench.account(80, len(reader.text), counts)
    await fresh(bench)


@scenario("daemon-keys", deadline=120, once=True)
async def daemon_keys(bench: Bench) -> None:
    """LK-23, HK-1, HK-5: `key`, `snippet` and `clear` press keys in between the device's bytes, and are refused while paused."""
    daemon, reader = await chosen(bench, configuration='snippets = "habr"\n')
    await tell(bench, "key", "1", "2", "plus")
    await reader.until(3, 20)
    sent = bench.peer.burst([ean13(3)])
    await reader.until(3 + sent, 20)
    await tell(bench, "snippet", "bold")
    await reader.until(3 + sent + 7, 20)
    text = reader.text
    expect(text[: 3 + sent] == b"12+" + ean13(3), f"typed {text!r}")
    expect(text[3 + sent :].startswith(b"<b></b>"), f"the snippet came as {text[3 + sent:]!r}")
    sent += await cleared(bench, reader)
    await tell(bench, "pause")
    await tell(bench, "key", "1", code=69)
    await tell(bench, "clear", code=69)
    await daemon.end(signal.SIGTERM, 143)
    counts = daemon.counts()
    expect(counts["received"] == sent == counts["typed"], f"keys of clients are in the account of the device: {counts}")
    bench.account(sent, sent, counts)


async def cleared(bench: Bench, reader: EventReader) -> int:
    """Checks that `clear` deletes exactly the text in the field: what the device sent and what clients typed. Returns the number
    of bytes."""
    sent = bench.peer.burst([b"\r", b"1234567", b"\b"])
    await reader.program.until(lambda: reader.text.endswith(b"\r1234567\b"), "what is typed into an empty field", 20)
    await tell(bench, "key", "8", "9")
    # Clear twice: the second time there is nothing to delete.
    await tell(bench, "clear")
    await tell(bench, "clear")
    sent += bench.peer.burst([b"\r"])
    await reader.program.until(lambda: reader.text.endswith(b"\b\r"), "clear, and what comes behind it", 20)
    field = reader.text.split(b"\r")[-2]
    expect(field == b"1234567\b89" + b"\b" * 8, f"in the field was pressed {field!r}")
    return sent


@scenario("daemon-rfkill", deadline=150)
async def daemon_rfkill(bench: Bench) -> None:
    """LK-9: rfkill block leads to bluetoothOff with the cause and the remedy; after unblock the daemon reconnects by itself."""
    daemon, _ = await chosen(bench)
    switch = (await bench.guest.run("sh", "-c", "echo /sys/class/bluetooth/hci0/rfkill*/soft")).out.strip()
    await bench.guest.run("sh", "-c", f"echo 1 >{switch}")
    await daemon.state("bluetoothOff", 20)
    answer = await status(bench)
    expect("rfkill" in answer.get("reason", ""), f"the cause is {answer.get('reason')!r}")
    expect("rfkill unblock" in answer.get("remedy", ""), f"the remedy is {answer.get('remedy')!r}")
    try:
        await bench.peer.until_alone(5)
    except LabError:
        # Linux 6.1 switches the controller off without telling the peer, and the emulated radio has no supervision time-out
        # through which the peer would notice.
        await bench.peer.vanish()
        await bench.peer.advertise()
    await bench.guest.run("sh", "-c", f"echo 0 >{switch}")
    clock = bench.clock()
    await until_connected(bench, daemon)
    bench.note = f"connected {clock():.1f} s after the unblocking"
    await daemon.end(signal.SIGTERM, 143)


@scenario("daemon-rival", deadline=150, once=True)
async def daemon_rival(bench: Bench) -> None:
    """X-7: when bluetoothd is started beside the daemon, status names it and typing continues."""
    daemon, reader = await chosen(bench)
    expect((await status(bench))["rivals"] == [], "a rival before there is one")
    await bench.guest.run("mkdir", "-p", "/run/dbus")
    bus = await bench.start("dbus-daemon", "--system", "--nofork", "--nopidfile", "--print-address=1")
    await bus.until(lambda: "unix:" in bus.out, "the system's bus", 20)
    rival = await bench.start("/usr/libexec/bluetooth/bluetoothd", "--nodetach")
    rivals = (await until_status(bench, 20, "bluetoothd is named", lambda answer: answer["rivals"]))["rivals"]
    expect(str(rival.pid) in rivals[0] and "bluetoothd" in rivals[0], f"named is {rivals}")
    await bench.peer.until_subscribed(60)
    sent = bench.peer.burst([ean13(5)])
    try:
        await reader.until(sent, 30)
    except LabError as error:
        raise LabError(f"{error}; status: {await status(bench)}") from None
    compare(ean13(5), reader.text)
    await rival.stop()
    await daemon.end(signal.SIGTERM, 143)
    bench.note = f"named {rivals[0]}"
