# SPDX-License-Identifier: GPL-2.0-or-later
#
# A minimal keyboard wedge: bluetoothd for the connection, bleak for GATT, python-evdev for the keys. It runs in the guest and
# types digits and Enter. Its latency is compared with the product's.
#
#     bleakwedge.py ADDRESS UUID
#
# Standard output: {"node":...}, then {"subscribed":true}.

import asyncio
import json
import sys

from bleak import BleakClient, BleakScanner
from evdev import UInput
from evdev import ecodes as e

KEYS = {ord(digit): getattr(e, f"KEY_{digit}") for digit in "0123456789"} | {ord("\r"): e.KEY_ENTER}


def say(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


async def main(address: str, characteristic: str) -> None:
    keyboard = UInput({e.EV_KEY: list(KEYS.values())}, name="lab bleak")
    say(node=keyboard.device.path)

    def typed(_: object, value: bytearray) -> None:
        for byte in value:
            for state in (1, 0):
                keyboard.write(e.EV_KEY, KEYS[byte], state)
                keyboard.syn()

    device = await BleakScanner.find_device_by_address(address, timeout=30)
    if device is None:
        sys.exit("the device is not heard")
    async with BleakClient(device) as client:
        await client.start_notify(characteristic, typed)
        say(subscribed=True)
        await asyncio.Event().wait()


asyncio.run(main(*sys.argv[1:]))
