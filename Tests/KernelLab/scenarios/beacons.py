# SPDX-License-Identifier: GPL-2.0-or-later
#
# Beacons: Bumble's beacons are watched, ranged and designated, open the gate, and type their codes; and the product is a beacon
# itself.
#
# The emulated radio reports an advertisement only once, when advertising starts, and without a signal strength. Therefore the
# peer switches advertising off and on again. Distances are unknown in these scenarios; the tests with simulated controllers cover
# them.

from __future__ import annotations

import asyncio
import contextlib
import json
import pathlib
import signal
import struct
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

from bumble import hci
from bumble.core import UUID, AdvertisingData
from bumble.device import AdvertisingType

from bench import BINARY, TRACE, Bench, compare
from daemons import CONFIGURATION, fresh, start, status, tell, until_connected, until_status, use_open, write
from decoders import tshark
from guest import Program
from peer import ean13
from readers import EventReader
from scenarios import scenario
from waiting import expect

BADGES = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
GATES = "11111111-DFFB-48D2-B060-D0F5A71096E0"
NAMESPACE = "00112233445566778899"
REGIONS = "/etc/blewedge/regions"
FILE = f"""static {BADGES} Badges
static {GATES} Gates
static eddystone:{NAMESPACE}/AABBCCDDEEFF Door
key {BADGES}/1/2 A17C
key {BADGES}/1/3 B28D
"""
SETTINGS = f'[beacons]\nregions = "{REGIONS}"\nexit-after = "3s"\n'
PERIOD = 0.5  # period of a beacon in seconds; a region is entered after two sightings within 2 s
EVENT = 30


def ibeacon(group: str, major: int, minor: int, power: int = -59) -> bytes:
    data = struct.pack("<HBB", 0x004C, 2, 0x15) + uuid.UUID(group).bytes + struct.pack(">HHb", major, minor, power)
    return bytes(AdvertisingData([(AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, data)]))


def altbeacon(group: str, major: int, minor: int) -> bytes:
    data = struct.pack("<H", 0x0118) + b"\xbe\xac" + uuid.UUID(group).bytes + struct.pack(">HHbB", major, minor, -59, 0)
    return bytes(AdvertisingData([(AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, data)]))


def eddystone(namespace: str, instance: str) -> bytes:
    service = bytes(UUID.from_16_bits(0xFEAA).to_bytes())
    data = service + b"\x00\xee" + bytes.fromhex(namespace + instance) + b"\x00\x00"
    kinds = AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, AdvertisingData.SERVICE_DATA_16_BIT_UUID
    return bytes(AdvertisingData([(AdvertisingData.FLAGS, b"\x06"), (kinds[0], service), (kinds[1], data)]))


@contextlib.asynccontextmanager
async def beacons(bench: Bench, *frames: bytes) -> AsyncIterator[None]:
    """Broadcasts these frames in turn until the context ends."""
    device = bench.peer.device

    async def play() -> None:
        while True:
            for frame in frames:
                kind = AdvertisingType.UNDIRECTED
                await device.start_advertising(advertising_type=kind, advertising_data=frame, scan_response_data=b"")
                await asyncio.sleep(PERIOD / len(frames))
                await device.stop_advertising()

    if device.is_advertising:
        await device.stop_advertising()
    player = asyncio.create_task(play())
    try:
        yield
    finally:
        player.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await player
        with contextlib.suppress(hci.HCI_Error):
            await device.stop_advertising()


async def regions(bench: Bench, settings: str = SETTINGS) -> None:
    """Writes a configuration and its file of regions."""
    await fresh(bench)
    await write(bench, CONFIGURATION, settings)
    await write(bench, REGIONS, FILE)


async def told(program: Program, change: str, region: str) -> dict[str, Any]:
    """Waits for an event about a region and returns it."""

    def found() -> dict[str, Any] | None:
        of = [o for o in program.objects if o.get("event") == "region" and (o["change"], o["region"]) == (change, region)]
        return of[-1] if of else None

    event: dict[str, Any] = await program.until(found, f"{region} is {change}", EVENT)
    return event


async def asked(bench: Bench, *words: str, code: int = 0) -> dict[str, Any]:
    """Returns the answer to a request about beacons."""
    answer: dict[str, Any] = json.loads((await tell(bench, "beacons", *words, "--json", code=code)).splitlines()[0])
    return answer


async def until_asked(bench: Bench, what: str, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    clock = bench.clock()
    while not holds(answer := await asked(bench, "status")):
        expect(clock() < EVENT, f"{what}: not within {EVENT} s; beacons: {answer}")
    return answer


@scenario("beacons-watch", deadline=240, once=True)
async def watch(bench: Bench) -> None:
    """SW-1, SW-3, SW-4, SW-16, D-22, D-23: a command without a daemon reports the entry and exit of regions of an iBeacon, an AltBeacon and an Eddystone."""
    await regions(bench, '[beacons]\nmax-designated = 0\nedition = "NORMAL"\nversion = "9"\nserver = "https://localhost"\n')
    said = await tell(bench, "config", "check", code=78)
    for fault in (
        "line 2: beacons.max-designated wants a whole number", 'line 3: beacons.edition wants "SWAMP"',
        'line 4: beacons.version wants "1.3.0"', "line 5: beacons.server wants an access code",
    ):  # fmt: skip
        expect(fault in said, f"{fault}: {said!r}")
    await regions(bench)
    await write(bench, REGIONS, FILE + "static nonsense\n")
    said = await tell(bench, "beacons", "regions", code=78)
    expect("line 6: " in said, f"a wrong line: {said!r}")
    await regions(bench)
    japanese = await bench.guest.run("env", "BLEWEDGE_LANG=ja", BINARY, "beacons", "regions")
    expect("リージョン" in japanese.out and "REGION" not in japanese.out, f"in Japanese: {japanese.out!r}")
    kinds = {entry["region"]: entry["kinds"] for entry in (await asked(bench, "regions"))["regions"]}
    door = f"eddystone:{NAMESPACE}/AABBCCDDEEFF"
    expect(kinds == dict.fromkeys((BADGES, GATES, door), ["reserved", "initial"]), f"the regions are {kinds}")
    program = await bench.start(BINARY, "beacons", "watch", "initial", "--json")
    frames = ibeacon(BADGES, 1, 2), altbeacon(GATES, 3, 4), eddystone(NAMESPACE, "AABBCCDDEEFF")
    await bench.monitor.program.until(lambda: bench.monitor.scanning, "it scans", 20)
    async with beacons(bench, *frames):
        for region, beacon, code in (
            (BADGES, f"{BADGES}/1/2", "A17C"), (GATES, f"{GATES}/3/4", "00030004"), (door, door, None),
        ):  # fmt: skip
            event = await told(program, "entered", region)
            expect((event["beacon"], event.get("keyCode")) == (beacon, code), f"told was {event}")
    for region in BADGES, GATES, door:
        await told(program, "left", region)
    changes = [o["change"] for o in program.objects if o["event"] == "region"]
    expect(sorted(changes) == ["entered"] * 3 + ["left"] * 3, f"told were {changes}")
    await program.signal(signal.SIGINT)
    expect(await program.wait(20) == 130, f"exit {program.status}{program.evidence()}")
    await bench.monitor.until_quiet()
    bench.note = "three frames, three regions"


@scenario("beacons-display", deadline=240, once=True)
async def display(bench: Bench) -> None:
    """SW-2, SW-4, D-24: regions already entered are reported at the start without gate.vt, otherwise with that terminal in the foreground; the doctor's finding."""
    settings = SETTINGS.replace('"3s"', '"30s"') + 'watch = "initial"\ntell = "entry-state-on-display"\n'
    for gate in "", "[gate]\nvt = 3\n":
        await bench.guest.run("chvt", "4")
        await regions(bench, settings + gate)
        daemon = await start(bench)
        events = await bench.start(BINARY, "events")
        await events.until(lambda events=events: events.objects, "the events begin", 20)
        async with beacons(bench, ibeacon(BADGES, 1, 2)):
            await until_asked(bench, "the badge is near", lambda answer: BADGES in answer["inside"])
            if gate:
                expect(not [o for o in events.objects if o.get("event") == "region"], "told before the terminal is in front")
                await bench.guest.run("chvt", "3")
            await told(events, "inside", BADGES)
        changes = [o["change"] for o in events.objects if o.get("event") == "region"]
        expect(changes == ["inside"], f"told were {changes}")
        await daemon.end(signal.SIGTERM, 143)
        await events.stop()
    await bench.guest.run("chvt", "1")
    await regions(bench, '[beacons]\nwatch = "managed"\n')
    daemon = await start(bench)
    found = json.loads((await tell(bench, "doctor", "--json", code=78)).splitlines()[0])["findings"]
    expect("beacons-without-regions" in [finding["id"] for finding in found], f"the doctor found {found}")
    await daemon.end(signal.SIGTERM, 143)
    await fresh(bench)
    bench.note = "at the start, and with the terminal"


@scenario("beacons-range", deadline=240, once=True)
async def ranging(bench: Bench) -> None:
    """SW-5, SW-6, SW-7, D-25, D-26: beacons are listed with their key codes, with and without the designated ones, and tracked, alone and by a daemon."""
    await regions(bench)
    await asked(bench, "designate", "B28D", "--region", BADGES)
    async with beacons(bench, ibeacon(BADGES, 1, 2), ibeacon(BADGES, 1, 3)):
        for run in "alone", "by a daemon":
            if run != "alone":
                daemon = await start(bench)
            for options, codes in ((), {"A17C", "B28D"}), (("--without-designated",), {"A17C"}):
                answer = await asked(bench, "range", "static", "--seconds", "3", *options)
                lists = {entry["region"]: entry["beacons"] for entry in answer["ranged"]}
                found = lists[BADGES]
                expect({beacon["keyCode"] for beacon in found} == codes, f"{run} {options}: {found}")
                expect(all((b["proximity"], b["segment"], b["measuredPower"]) == ("unknown", 1, -59) for b in found), f"{found}")
                expect(lists[GATES] == [], f"{run}: beacons of nobody: {lists[GATES]}")
            if run == "alone":
                track = (await asked(bench, "track", BADGES))["track"]
                total = sum(beacon["sightings"] for beacon in track)
                expect(total >= 5 and {b["keyCode"] for b in track} == {"A17C", "B28D"}, f"tracked: {track}")
        await tell(bench, "beacons", "range", "dynamic", code=69)
    await tell(bench, "beacons", "track", "0A1B2C3D-DFFB-48D2-B060-D0F5A71096E0", code=78)
    await daemon.end(signal.SIGTERM, 143)
    bench.note = "two beacons, alone and by a daemon"


def actions(*deeds: tuple[str, str]) -> str:
    return "".join(
        f'[beacons.actions.a{number}]\nregion = "{region}"\ndo = "{deed}"\nunauthenticated = true\n'
        for number, (region, deed) in enumerate(deeds)
    )


@scenario("beacons-badge", deadline=300, once=True)
async def badge(bench: Bench) -> None:
    """D-30, X-1, SW-13, X-10: a badge opens the gate and types its code while barcodes are typed and a beacon is advertised, all on one controller."""
    own = f"{GATES}/7/8"
    settings = f'{SETTINGS}advertise = "{own}"\n' + actions((BADGES, "gate"), (f"{BADGES}/1/2", "type"))
    await regions(bench, settings)
    daemon = await start(bench)
    reader = await EventReader.open(bench, daemon.node)
    await use_open(bench)
    await until_connected(bench, daemon)
    answer = await status(bench)
    expect(answer["gate"] == "closed" and "no beacon that opens the gate is nearby" in answer["gateReason"], f"the gate: {answer}")
    expect(answer["beacons"]["unauthenticatedActions"] == ["a0", "a1"], f"status says {answer['beacons']}")
    sent = bench.peer.burst([ean13(1)])
    await until_status(bench, 20, "the first barcode is gated", lambda answer: answer["counts"]["gated"] == sent)
    heard: set[bytes] = set()
    listener = bench.peer.device
    listener.on("advertisement", lambda advertisement: heard.add(bytes(advertisement.data)))
    async with beacons(bench, ibeacon(BADGES, 1, 2)):
        await reader.until(5, EVENT)
        compare(b"A17C\r", reader.text)
        sent += 5 + bench.peer.burst([ean13(2), ean13(3)])
        await reader.until(5 + 28, EVENT)
        compare(b"A17C\r" + ean13(2) + ean13(3), reader.text)
        expect((await status(bench))["gate"] == "open", "the gate is closed though the badge is near")
        await listener.start_scanning(active=False)
        await bench.peer.until(lambda: ibeacon(GATES, 7, 8) in heard, "the peer hears the product's beacon", EVENT)
        await listener.stop_scanning()
    await until_status(bench, EVENT, "the gate closes behind the badge", lambda answer: answer["gate"] == "closed")
    # The user paused typing, so a badge must not resume it.
    await tell(bench, "pause")
    async with beacons(bench, ibeacon(BADGES, 1, 2)):
        await until_asked(bench, "the badge is near again", lambda answer: BADGES in answer["inside"])
        expect((await status(bench))["gateReason"].startswith("paused"), "a badge ends a pause")
    await daemon.end(signal.SIGTERM, 143)
    counts = daemon.counts()
    # The code of the beacon seen during the pause was received too, and gated.
    expect(counts["received"] == sent + 5 and counts["gated"] == 14 + 5, f"the account: {counts}")
    bench.note = "gated, opened, typed A17C and two barcodes"


@scenario("beacons-designated", deadline=300, once=True)
async def designated(bench: Bench) -> None:
    """SW-8, SW-9, SW-12, SW-15, D-29: only the designated badge causes events, also after SIGKILL; a switcher controls the others; each answer has its number."""
    await regions(bench, SETTINGS + 'watch = "initial, designated"\n')
    daemon = await start(bench)
    await daemon.state("unselected", 20)
    await until_asked(bench, "three regions are watched", lambda answer: len(answer["watched"]) == 3)
    for words, number, code in (
        (["A17C"], -2, 64), (["--region", BADGES], -3, 64), (["A17C", "--region", f"{GATES[:-1]}1"], -4, 78),
        (["nobody", "--region", BADGES], -5, 64), (["A17C", "--region", BADGES, "--no-entry", "--no-exit"], -8, 64),
        (["A17C", "--region", BADGES], 1, 0),
    ):  # fmt: skip
        answer = await asked(bench, "designate", *words, code=code)
        expect(answer["answer"] == number, f"designate {words}: {answer}")
    await daemon.program.signal(signal.SIGKILL)
    await daemon.program.wait(10)

    daemon = await start(bench)
    answer = await until_asked(bench, "its own region is watched", lambda answer: f"{BADGES}/1/2" in answer["watched"])
    expect(BADGES not in answer["watched"] and GATES in answer["watched"], f"watched are {answer['watched']}")
    events = await bench.start(BINARY, "events")
    await events.until(lambda: events.objects, "the events begin", 20)
    async with beacons(bench, ibeacon(BADGES, 1, 3), ibeacon(BADGES, 1, 2)):
        await told(events, "entered", f"{BADGES}/1/2")
    await told(events, "left", f"{BADGES}/1/2")
    changed = {o["region"] for o in events.objects if o.get("event") == "region"}
    expect(changed == {f"{BADGES}/1/2"}, f"others reacted: {changed}")

    await tell(bench, "beacons", "update", "B28D", "--switcher", "on", code=64)
    answer = await asked(bench, "update", "A17C", "--switcher", "on")
    expect(answer["designated"][0]["switcher"] is True, f"updated: {answer}")
    expect("regions" in await asked(bench, "unwatch", "all-but-switchers"), "how many were watched is not said")
    async with beacons(bench, ibeacon(BADGES, 1, 2)):
        await until_asked(bench, "the others are watched", lambda answer: GATES in answer["watched"])
    await until_asked(bench, "the others are watched no more", lambda answer: GATES not in answer["watched"])
    answer = await asked(bench, "release", "A17C")
    expect(answer["designated"] == [], f"left are {answer}")
    await tell(bench, "beacons", "release", "A17C", code=64)
    await asked(bench, "designate", "B28D", "--region", BADGES)
    await tell(bench, "beacons", "clear")
    answer = await asked(bench, "status")
    expect((answer["designated"], answer["watched"]) == ([], []), f"cleared: {answer}")
    expect((await asked(bench, "set-up"))["made"] is False, "the file of regions is made anew")
    await bench.guest.run("rm", REGIONS)
    expect((await asked(bench, "set-up")) == {"regions": REGIONS, "made": True}, "the file of regions is not made")
    await daemon.end(signal.SIGTERM, 143)
    bench.note = "six answers, one badge, one switcher"


@scenario("beacons-advertise", deadline=240, once=True)
async def advertise(bench: Bench) -> None:
    """SW-2, SW-13, SW-22: Bumble and tshark decode the product's beacons, sent with and without a daemon; `check` says why advertising is impossible."""
    await regions(bench)
    said = await tell(bench, "beacons", "check", "--json", "--adapter", "hci7", code=69)
    answer = json.loads(said.splitlines()[0])
    expect((answer["available"], answer["canAdvertise"]) == (False, False) and "hci7" in answer["cause"], f"check: {answer}")
    expect((answer["device"], answer["foreground"], answer["on"]) == (False, False, False), f"SW-22: {answer}")
    answer = json.loads(await tell(bench, "beacons", "check", "--json"))
    expect((answer["available"], answer["canAdvertise"], answer["adapter"]) == (True, True, "hci0"), f"check: {answer}")
    conditions = [answer[name] for name in ("device", "foreground", "background", "on")]
    expect(conditions == [True, True, False, True], f"SW-22, no service installed: {answer}")
    heard: set[bytes] = set()
    device = bench.peer.device
    await device.stop_advertising()
    device.on("advertisement", lambda advertisement: heard.add(bytes(advertisement.data)))
    for words, frame in (
        ((f"{BADGES}/258/65535", "--power", "-71"), ibeacon(BADGES, 258, 65535, -71)),
        ((f"eddystone:{NAMESPACE}/AABBCCDDEEFF",), eddystone(NAMESPACE, "AABBCCDDEEFF")),
    ):
        program = await bench.start(BINARY, "beacons", "advertise", *words, "--json")
        await program.until(lambda program=program: program.objects, "it advertises", 20)
        await device.start_scanning(active=False)
        await bench.peer.until(lambda frame=frame: frame in heard, f"Bumble hears {words[0]}", EVENT)
        await device.stop_scanning()
        await program.signal(signal.SIGTERM)
        expect(await program.wait(20) == 143, f"exit {program.status}{program.evidence()}")
    daemon = await start(bench)
    await daemon.state("unselected", 20)
    await tell(bench, "beacons", "advertise", "--off", code=69)
    await tell(bench, "beacons", "advertise", f"{GATES}/1/2")
    await until_asked(bench, "it advertises", lambda answer: answer["advertising"] == "on")
    await device.start_scanning(active=False)
    await bench.peer.until(lambda: ibeacon(GATES, 1, 2) in heard, "Bumble hears the daemon's beacon", EVENT)
    await device.stop_scanning()
    await tell(bench, "beacons", "advertise", "--off")
    await until_asked(bench, "it advertises no more", lambda answer: answer["advertising"] == "off")
    await daemon.end(signal.SIGTERM, 143)
    found = await by_tshark(bench)
    for group in BADGES, GATES:
        expect(uuid.UUID(group).hex in found, f"tshark has not decoded {group}")
    bench.note = "three beacons by Bumble, two by tshark"


async def by_tshark(bench: Bench) -> str:
    """Returns the manufacturer data with Apple's company identifier that tshark finds in the commands that the kernel sent to the
    controller."""
    fields = ("-e", "btcommon.eir_ad.entry.data")
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "beacons.btsnoop"
        trace.write_bytes(await bench.guest.read_file(TRACE))
        lines = tshark("-r", str(trace), "-Y", "btcommon.eir_ad.entry.company_id == 0x004c", "-T", "fields", *fields)
    return lines.replace(":", "")


