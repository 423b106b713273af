# SPDX-License-Identifier: GPL-2.0-or-later
#
# The product as the server, with which Bumble pairs as the central: `simulate --pairable`.

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import Any

from bumble import att, smp
from bumble.core import ProtocolError
from bumble.device import Connection, Device
from bumble.gatt_client import Client
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

import waiting
from air import Air
from central import Counter, event, find, meet, subscribe
from guest import Program
from peer import NOTIFY, SERVICE
from product import Product
from setting import Setting, test
from waiting import LabError, expect

ADDRESS = "F0:F1:F2:F3:F4:F6"
IO = PairingDelegate.IoCapability


class Hands(PairingDelegate):
    """The user of the central, who enters the number that the product shows and confirms every comparison."""

    def __init__(self, capability: IO) -> None:
        super().__init__(capability)
        self.program: Program | None = None
        self.shown: asyncio.Queue[str] = asyncio.Queue()

    async def compare_numbers(self, number: int, digits: int) -> bool:
        self.shown.put_nowait(f"{number:0{digits}d}")
        return True

    async def get_number(self) -> int | None:
        assert self.program is not None
        return int((await event(self.program, "passkey"))["number"])


async def surroundings(setting: Setting, capability: IO) -> tuple[Device, Hands]:
    """Creates a central with its own keys, and a controller with a separate address for the product (radio.py, fault 2)."""
    setting.link = Air()
    os.environ["STATE_DIRECTORY"] = str(setting.folder / "state")
    device = await setting.central()
    device.keystore = MemoryKeyStore()
    hands = Hands(capability)
    mitm = capability != IO.NO_OUTPUT_NO_INPUT
    device.pairing_config_factory = lambda _connection: PairingConfig(mitm=mitm, delegate=hands)
    await setting.port(address=ADDRESS)
    return device, hands


async def begin(setting: Setting, device: Device, *arguments: str) -> tuple[Product, Connection, Client]:
    """Starts `simulate` and connects the central to it."""
    arguments = ("--name", "SIM", "--json", "--barcodes", "3", "--rate", "100", *arguments)
    product = await setting.product(setting.ports[0], "simulate", *arguments)
    connection, client = await meet(device, await find(device, SERVICE, "SIM"), 247)
    return product, connection, client


async def refused(client: Client, error: int) -> None:
    """Checks that the product refuses to send values over this link."""
    try:
        await subscribe(client, NOTIFY)
    except ProtocolError as refusal:
        expect(refusal.error_code == error, f"a subscription is refused with {refusal}")
    else:
        raise LabError("a link without keys subscribes")


async def unpaired(connection: Connection) -> None:
    try:
        await connection.pair()
    except ProtocolError as refusal:
        expect(refusal.error_code == smp.ErrorCode.PAIRING_NOT_SUPPORTED, f"a pairing is refused with {refusal}")
    else:
        raise LabError("a central pairs that must not")


async def served(client: Client) -> None:
    """Checks that the product sends values over this link."""
    counter: Counter = await subscribe(client, NOTIFY)
    await counter.until(lambda: len(counter.values) == 3, "3 barcodes", 20)


async def end(setting: Setting, product: Product) -> None:
    await product.end(signal.SIGINT, 130)
    await setting.ports[0].until_free()


def kept(setting: Setting) -> list[str]:
    path = setting.folder / "state" / "bonds"
    return [line for line in path.read_text().splitlines() if line[:1] != "#"] if path.exists() else []


@test("simulate-pairing")
async def pairing(setting: Setting) -> None:
    """CB-27, X-8: an unpaired central is refused, enters the number shown, and then receives values; later its key is enough."""
    device, hands = await surroundings(setting, IO.KEYBOARD_INPUT_ONLY)
    secured = ("--security", "authenticated")
    product, connection, client = await begin(setting, device, *secured, "--pairable", "60", "--console", "display")
    hands.program = product.program
    await refused(client, att.ErrorCode.INSUFFICIENT_AUTHENTICATION)
    await connection.pair()
    said: dict[str, Any] = await event(product.program, "paired")
    expect((said["security"], said["adapter"]) == ("authenticated", ADDRESS), f"the bond is {said}")
    await served(client)
    mode = (setting.folder / "state" / "bonds").stat().st_mode & 0o777
    expect(mode == 0o600, f"the keys have the mode {mode:o}")
    await end(setting, product)

    product, connection, client = await begin(setting, device, *secured)
    await refused(client, att.ErrorCode.INSUFFICIENT_ENCRYPTION)
    await connection.encrypt()
    await served(client)
    await end(setting, product)

    # A central with the same address but without the key.
    await device.keystore.delete_all()  # type: ignore[union-attr]
    product, connection, client = await begin(setting, device, *secured, "--pairable", "60", "--console", "display")
    await unpaired(connection)
    await refused(client, att.ErrorCode.INSUFFICIENT_ENCRYPTION)
    expect(len(kept(setting)) == 1, f"{len(kept(setting))} bonds are kept")
    await end(setting, product)


@test("simulate-pairing-asked")
async def asked(setting: Setting) -> None:
    """X-8: after a numeric comparison, the answer No leaves no key, and extra input for one question does not answer the next."""
    device, hands = await surroundings(setting, IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT)
    options = ("--security", "encrypted", "--pairable", "60", "--console", "yes-no")
    product, connection, client = await begin(setting, device, *options)
    hands.program = product.program
    for answer, ending in (b"n\ny\n", "pairingFailed"), (b"n\n", "pairingFailed"), (b"y\n", "paired"):
        known = len(product.program.objects)
        pairing = asyncio.create_task(again(connection))

        def question(known: int = known) -> Any:
            return next((o for o in product.program.objects[known:] if o.get("event") == "compare"), None)

        found = await product.program.until(question, "a question", 20)
        shown = await asyncio.wait_for(hands.shown.get(), 20 * waiting.patience)
        expect(found["number"] == shown, f"{found} is compared with {shown}")
        await product.program.write(answer)
        with contextlib.suppress(ProtocolError):
            await pairing


        def ended(known: int = known) -> str:
            events = [o.get("event") for o in product.program.objects[known:]]
            return next((name for name in events if name in ("paired", "pairingFailed")), "")

        told = await product.program.until(ended, "the end of the pairing", 20)
        expect(told == ending, f"{answer!r} is answered with {told}")
        expect(len(kept(setting)) == (ending == "paired"), f"{ending}, and the keys are {kept(setting)}")
    await served(client)
    await end(setting, product)


async def again(connection: Connection) -> None:
    """Retries the pairing until the product accepts another attempt after a failed one."""
    while True:
        try:
            return await connection.pair()
        except ProtocolError as refusal:
            if refusal.error_code != smp.ErrorCode.REPEATED_ATTEMPTS:
                raise
        await asyncio.sleep(0.1)


@test("simulate-not-pairable")
async def not_pairable(setting: Setting) -> None:
    """CB-27, X-8: without --pairable the product refuses to pair; Just Works is not reported as authenticated."""
    device, _ = await surroundings(setting, IO.NO_OUTPUT_NO_INPUT)
    product, connection, client = await begin(setting, device, "--security", "encrypted")
    await unpaired(connection)
    await refused(client, att.ErrorCode.INSUFFICIENT_AUTHENTICATION)
    await end(setting, product)
    product, connection, client = await begin(setting, device, "--security", "encrypted", "--pairable", "60")
    await connection.pair()
    said = await event(product.program, "paired")
    expect(said["security"] == "encrypted", f"the bond is {said}")
    await served(client)
    await end(setting, product)
    product, connection, client = await begin(setting, device, "--security", "authenticated")
    await connection.encrypt()
    await refused(client, att.ErrorCode.INSUFFICIENT_AUTHENTICATION)
    await end(setting, product)


@test("simulate-pair")
async def pair(setting: Setting) -> None:
    """X-8: `pair` and `simulate` pair with each other in each pairing model, and both save the keys."""
    setting.link = Air()
    for number, (here, there, level) in enumerate(
        (
            ("none", "none", "encrypted"),
            ("display", "keyboard", "authenticated"),
            ("keyboard", "display", "authenticated"),
            ("yes-no", "yes-no", "authenticated"),
        )
    ):
        sides: list[Program] = []
        for address, arguments in (
            (ADDRESS, ("simulate", "--name", "SIM", "--barcodes", "1", "--pairable", "60", "--console", here)),
            ("F0:F1:F2:F3:F4:F7", ("pair", "SIM", "--seconds", "60", "--console", there)),
        ):
            os.environ["STATE_DIRECTORY"] = str(setting.folder / f"state{number}-{len(sides)}")
            product = await setting.product(await setting.port(address=address), *arguments, "--json")
            sides.append(product.program)
            if len(sides) == 1:
                await event(product.program, "advertising")
        if "display" in (here, there):
            shows, enters = sides if here == "display" else reversed(sides)
            shown = (await event(shows, "passkey"))["number"]
            await event(enters, "passkeyWanted")
            await enters.write(f"12345\n{shown}\n".encode())
        if here == "yes-no":
            seen = [(await event(side, "compare"))["number"] for side in sides]
            expect(seen[0] == seen[1], f"the numbers are {seen}")
            for side in sides:
                await side.write(b"y\n")
        bonds = [await event(side, "paired") for side in sides]
        expect([bond["security"] for bond in bonds] == [level, level], f"{here}, {there}: {bonds}")
        expect([bonds[0]["adapter"], bonds[0]["address"]] == [bonds[1]["address"], bonds[1]["adapter"]], f"{bonds}")
        expect(await sides[1].wait(20) == 0, f"pair: {sides[1].status}{sides[1].evidence()}")
        await sides[0].signal(signal.SIGINT)
        await sides[0].wait(20)
        for port in setting.ports:
            await port.until_free()
