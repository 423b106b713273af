# SPDX-License-Identifier: GPL-2.0-or-later
#
# Scales whose values are numbers: one that only advertises them, and one that indicates them.

from __future__ import annotations

import signal

from bumble import gatt
from bumble.core import UUID, AdvertisingData
from bumble.device import AdvertisingType

from bench import Bench, compare
from daemons import CONFIGURATION, fresh, start, status, tell, until_status, use_open, write
from peer import Peer
from readers import EventReader
from scenarios import scenario
from waiting import expect

MI_SCALE, WEIGHT_SCALE, WEIGHT_MEASUREMENT, BTHOME = "181D", "181D", "2A9D", "FCD2"
STABLE, REMOVED = 0x20, 0xA0
DAY = bytes([0xE8, 0x07, 1, 1, 8, 0])
# Weights in units of 5 g; the second and the third are equal.
WEIGHTS = [14490, 16260, 16260, 13001, 0, 65535]


def kilograms(weight: int) -> bytes:
    return f"{weight * 5 / 1000:.3f}".rstrip("0").rstrip(".").encode() + b"\r"


class Scale:
    """A Mi Smart Scale, which advertises its weight and its state, and accepts no connection."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._second = 0

    def weigh(self) -> None:
        """Begins another weighing, whose advertisements have another time."""
        self._second += 1

    async def advertise(self, flags: int, weight: int) -> None:
        await self.send(MI_SCALE, bytes([flags]) + weight.to_bytes(2, "little") + DAY + bytes([self._second]))

    async def send(self, service: str, data: bytes) -> None:
        """Advertises service data."""
        advertisement = AdvertisingData(
            [
                (AdvertisingData.COMPLETE_LOCAL_NAME, self._peer.name.encode()),
                (AdvertisingData.SERVICE_DATA_16_BIT_UUID, UUID(service).to_bytes() + data),
            ]
        )
        device = self._peer.device
        await device.stop_advertising()
        await device.start_advertising(
            advertising_type=AdvertisingType.UNDIRECTED, advertising_data=bytes(advertisement), scan_response_data=b"",
            advertising_interval_min=100, advertising_interval_max=100
        )  # fmt: skip


@scenario("values-advertised", deadline=180)
async def values_advertised(bench: Bench) -> None:
    """A scale that only advertises: each stable weight is typed once, and each advertisement that was received is counted."""
    scale = Scale(bench.peer)
    await scale.advertise(REMOVED, WEIGHTS[-1])
    await fresh(bench)
    await write(bench, CONFIGURATION, 'profile = "xiaomi-scale"\n')
    daemon = await start(bench)
    reader = await EventReader.open(bench, daemon.node)
    await daemon.state("unselected", 20)
    await use_open(bench)
    await daemon.state("connected", 40)
    # The value of the load before the start is not typed.
    await until_status(bench, 20, "the old weight is received", lambda now: now["values"]["removed"])
    expected = b""
    for number, weight in enumerate(WEIGHTS, 1):
        scale.weigh()
        await scale.advertise(0, weight // 2)
        await until_status(
            bench, 20, f"unstable weight {number}", lambda now, number=number: now["values"]["unstable"] >= number
        )
        await scale.advertise(STABLE, weight)
        expected += kilograms(weight)
        await reader.until(len(expected), 20)
        await scale.advertise(REMOVED, weight)
    # A scan for a client receives the same advertisements, and must not disturb.
    await tell(bench, "scan", "--once")
    compare(expected, reader.text)
    now = await status(bench)
    values = now["values"]
    expect(values["typed"] == len(WEIGHTS) and values["unreadable"] == 0, f"values {values}")
    expect(values["received"] == now["counts"]["notifications"], f"{values['received']} values of {now['counts']}")
    expect(bench.peer.connections == 0, "connected to a scale that only advertises")
    await daemon.end(signal.SIGTERM, 143)
    counts = daemon.counts()
    bench.account(len(expected), len(reader.text), counts)
    bench.note = f"{values['received']} advertisements of {len(WEIGHTS)} weighings"

    # Encrypted advertisements are refused, and the state says why nothing is typed.
    await write(bench, CONFIGURATION, 'profile = "bthome"\n')
    await scale.send(BTHOME, b"\x41\x06\x5e\x1f")
    daemon = await start(bench)
    await daemon.state("connected", 40)
    now = await until_status(bench, 20, "the state names the encryption", lambda now: now.get("reason"))
    expect(now["reason"] == "the advertisement is encrypted", f"reason {now['reason']!r}")
    expect(now["values"]["encrypted"] == 1 and now["counts"]["received"] == 0, f"counts {now}")
    await daemon.end(signal.SIGTERM, 143)


@scenario("values-indicated", peer="other", deadline=120, once=True)
async def values_indicated(bench: Bench) -> None:
    """A scale with the Weight Scale service: `auto` finds it, and types each indicated weight, even the same one again."""
    measurement = gatt.Characteristic(WEIGHT_MEASUREMENT, gatt.Characteristic.Properties.INDICATE, 0, b"")
    peer = bench.peer
    peer.device.add_service(gatt.Service(WEIGHT_SCALE, [measurement]))
    subscribed = []
    measurement.on(gatt.Characteristic.EVENT_SUBSCRIPTION, lambda _connection, _notify, indicate: subscribed.append(indicate))
    await fresh(bench)
    daemon = await start(bench)
    reader = await EventReader.open(bench, daemon.node)
    await daemon.state("unselected", 20)
    await use_open(bench)
    await daemon.state("connected", 40)
    expect(subscribed == [True], f"subscriptions {subscribed}")
    expected = b""
    for weight in WEIGHTS[:5]:
        await peer.device.indicate_subscribers(measurement, bytes([0]) + weight.to_bytes(2, "little"))
        expected += kilograms(weight)
    await peer.device.indicate_subscribers(measurement, bytes([0, 0xFF, 0xFF]))
    await reader.until(len(expected), 20)
    compare(expected, reader.text)
    values = (await status(bench))["values"]
    expect(values["typed"] == 5 and values["notMeasured"] == 1 and values["received"] == 6, f"values {values}")
    await daemon.end(signal.SIGTERM, 143)
    bench.account(len(expected), len(reader.text), daemon.counts())
    bench.note = "5 weights and one failed measurement, each confirmed"
