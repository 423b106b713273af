# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pairing of an independent stack with the kernel's Security Manager, and the use of the keys afterwards.

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Iterator
from typing import Any

from bumble import att, hci, smp
from bumble.core import ProtocolError
from bumble.pairing import PairingConfig, PairingDelegate

from bench import BINARY, Bench, compare
from central import event, find, meet, subscribe
from daemons import CONFIGURATION, fresh, start, tell, until_connected, until_status, write
from guest import Program
from peer import ADDRESS, NAME, NOTIFY, SERVICE, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import LabError, expect

BONDS = "/var/lib/blewedge/bonds"
IO = PairingDelegate.IoCapability
PASSKEY = 20_608  # with leading zeros


class Hands(PairingDelegate):
    """The user of the peer, who reads numbers from it and enters them."""

    def __init__(self, capability: IO, key_size: int = 16) -> None:
        super().__init__(capability, maximum_encryption_key_size=key_size)
        self.shown: list[str] = []
        self.product: Program | None = None

    async def compare_numbers(self, number: int, digits: int) -> bool:
        self.shown.append(f"{number:0{digits}d}")
        return True

    async def display_number(self, number: int, digits: int) -> None:
        self.shown.append(f"{number:0{digits}d}")

    async def generate_passkey(self) -> int:
        return PASSKEY

    async def get_number(self) -> int | None:
        """Returns the number that the product shows."""
        assert self.product is not None
        found = await self.product.until(lambda: told(self.product, "passkey"), "a number to enter", 20)
        return int(found["number"])


def hold(bench: Bench, hands: Hands, secure: bool = True) -> Hands:
    """Makes the peer use this delegate for pairing from now on."""
    kind = PairingConfig.AddressType.RANDOM
    mitm = hands.io_capability != IO.NO_OUTPUT_NO_INPUT
    config = PairingConfig(sc=secure, mitm=mitm, bonding=True, delegate=hands, identity_address_type=kind)
    bench.peer.device.pairing_config_factory = lambda _connection: config
    return hands


def told(program: Program | None, event: str) -> dict[str, Any] | None:
    objects = program.objects if program is not None else []
    return next((o for o in objects if o.get("event") == event), None)


async def pair(bench: Bench, hands: Hands, console: str, answer: str = "", *options: str, code: int = 0) -> Program:
    """Runs `pair`. If there is an answer, enters it when the question appears."""
    product = hands.product = await bench.start(BINARY, "pair", NAME, "--json", "--console", console, *options)
    if answer:
        await product.until(lambda: told(product, "compare") or told(product, "passkeyWanted"), "a question", 40)
        await product.write(f"{answer}\n".encode())
    await product.wait(60)
    expect(product.status == code, f"pair: {product.status} instead of {code}{product.evidence()}")
    await bench.peer.until_alone()
    return product


def bond(product: Program) -> dict[str, Any]:
    found = told(product, "paired")
    expect(found, f"no bond{product.evidence()}")
    assert found is not None
    return found


# Options for the adapter on which the kernel is the host, and for the same adapter without the kernel, where the product's own
# host does the pairing.
KERNEL: tuple[str, ...] = ()
OWN = ("--adapter", "user:hci0")
LINE = "/run/lab.line"
OVER_LINE = ("--adapter", f"h4:unix:{LINE}")


async def take_from_kernel(bench: Bench) -> None:
    """Switches the adapter off, because the kernel gives a process exclusive access only then."""
    await bench.guest.run("btmgmt", "--index", "0", "power", "off")


async def lay_line(bench: Bench) -> None:
    """Makes the adapter accessible through a socket, like a controller on a UART."""
    await take_from_kernel(bench)
    relay = await bench.start("relay", "0", f"listen:{LINE}")
    await relay.until(lambda: "ready" in relay.out, "the line is laid", 20)


@contextlib.contextmanager
def keys_of(size: int) -> Iterator[None]:
    """Makes Bumble use keys of the announced size. Its keys always have 16 bytes otherwise."""
    whole = smp.crypto.s1
    smp.crypto.s1 = lambda *values: whole(*values)[:size] + bytes(16 - size)
    try:
        yield
    finally:
        smp.crypto.s1 = whole


async def forget_all(bench: Bench, adapter: tuple[str, ...] = KERNEL) -> None:
    """Deletes the bond on both sides."""
    await tell(bench, "forget", ADDRESS, *adapter)
    await bench.peer.device.keystore.delete_all()  # type: ignore[union-attr]


@scenario("simulate-paired", deadline=120)
async def simulate_paired(bench: Bench) -> None:
    """CB-27, X-8: a central pairs with the kernel's adapter while it may, receives values, and later encrypts with the saved key."""
    await fresh(bench)
    device = bench.peer.device
    await device.stop_advertising()
    hands = hold(bench, Hands(IO.KEYBOARD_INPUT_ONLY))
    options = ("--security", "authenticated", "--barcodes", "3", "--rate", "100", "--json")
    for is_first in True, False:
        pairable = ("--pairable", "60", "--console", "display") if is_first else ()
        hands.product = await bench.start(BINARY, "simulate", *options, *pairable)
        product = Product(hands.product)
        await event(product.program, "advertising")
        connection, client = await meet(device, await find(device, SERVICE, NAME), 247)
        try:
            await subscribe(client, NOTIFY)
        except ProtocolError as refusal:
            wanted = att.ErrorCode.INSUFFICIENT_AUTHENTICATION  # the kernel's sockets do not reveal that there is a bond
            expect(refusal.error_code == wanted, f"a subscription is refused with {refusal}")
        else:
            raise LabError("a link without keys subscribes")
        await (connection.pair() if is_first else connection.encrypt())
        if is_first:
            said = await event(product.program, "paired")
            expect(said["security"] == "authenticated", f"the bond is {said}")
        counter = await subscribe(client, NOTIFY)
        await counter.until(lambda counter=counter: len(counter.values) == 3, "3 barcodes", 20)
        await connection.disconnect()
        await event(product.program, "disconnected")
        await product.end(signal.SIGINT, 130)
    await forget_all(bench)
    bench.note = "paired by a number, and encrypted by the kept key after a restart"


@scenario("pairing", deadline=120)
async def pairing(bench: Bench) -> None:
    """X-8: Just Works creates keys that only their owner can read, and that are never reported as authenticated."""
    await fresh(bench)
    hands = hold(bench, Hands(IO.NO_OUTPUT_NO_INPUT))
    said = bond(await pair(bench, hands, "none"))
    expect(said["address"] == ADDRESS and said["security"] == "encrypted", f"the bond is {said}")
    modes = (await bench.guest.run("stat", "-c", "%a", "/var/lib/blewedge", BONDS)).out.split()
    expect(modes == ["700", "600"], f"the directory and the file have the modes {modes}")
    again = await pair(bench, hands, "none", code=64)
    expect("never overwritten" in again.err, f"a second pairing says {again.err!r}")
    listed = json.loads(await tell(bench, "bonds", "--json"))
    expect(listed["address"] == ADDRESS, f"the list has {listed}")
    await forget_all(bench)
    expect(await tell(bench, "bonds", "--json") == "", "a bond is left")
    await tell(bench, "forget", ADDRESS, code=64)
    bench.note = f"{said['keySize']} bytes, Secure Connections {said['secureConnections']}"


async def legacy_is_refused(bench: Bench, hands: Hands, console: str, answer: str, adapter: tuple[str, ...]) -> None:
    """Checks that legacy pairing does not count as authenticated: the product's own host does not even ask for a number, and the
    kernel's keys are deleted."""
    asked = answer if adapter == KERNEL else ""
    refused = await pair(bench, hands, console, asked, "--security", "authenticated", *adapter, code=77)
    expect("only legacy pairing" in refused.err, f"a refused legacy pairing says {refused.err!r}")
    expect(await tell(bench, "bonds", "--json") == "", "a bond is kept of a legacy pairing that was refused")
    await bench.peer.device.keystore.delete_all()  # type: ignore[union-attr]


async def each_model(bench: Bench, adapter: tuple[str, ...]) -> None:
    """Tests every pairing model that a console allows, and four refusals."""
    await tell(bench, "bonds", "--json")
    notes = []
    for name, capability, console, answer in (
        ("numeric comparison", IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT, "yes-no", "y"),
        ("passkey entered here", IO.DISPLAY_OUTPUT_ONLY, "keyboard", f"{PASSKEY:06d}"),
        ("passkey entered there", IO.KEYBOARD_INPUT_ONLY, "display", ""),
    ):
        for secure in (True, False) if name != "numeric comparison" else (True,):
            hands = hold(bench, Hands(capability), secure)
            level = "authenticated" if secure else "encrypted"
            if not secure:
                await legacy_is_refused(bench, hands, console, answer, adapter)
            product = await pair(bench, hands, console, answer, "--security", level, *adapter)
            said = bond(product)
            expect(said["security"] == level, f"{name}: the bond is {said}")
            expect(said["secureConnections"] is secure, f"{name}: the bond is {said}")
            if not secure:
                expect("legacy" in product.err, f"{name}: people read {product.err!r}")
                listed = await tell(bench, "bonds")
                expect("encrypted, legacy: not authenticated" in listed, f"{name}: the list is {listed!r}")
            if compared := told(product, "compare"):
                expect(hands.shown == [compared["number"]], f"the devices show {hands.shown} and {compared}")
            notes.append(f"{name} ({'Secure Connections' if secure else 'legacy'})")
            await forget_all(bench, adapter)
    # A wrong number, a No, and Just Works where authentication is required: no bond, and no key in the kernel.
    shown = hold(bench, Hands(IO.DISPLAY_OUTPUT_ONLY))
    await pair(bench, shown, "keyboard", "999999", *adapter, code=74)
    compared = hold(bench, Hands(IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT))
    await pair(bench, compared, "yes-no", "n", *adapter, code=64)
    silent = hold(bench, Hands(IO.NO_OUTPUT_NO_INPUT))
    await pair(bench, silent, "keyboard-display", "", "--security", "authenticated", *adapter, code=77)
    # A key of seven bytes, the shortest that the specification allows, is too weak.
    short = hold(bench, Hands(IO.NO_OUTPUT_NO_INPUT, 7), secure=False)
    with keys_of(7):
        refused = await pair(bench, short, "none", "", *adapter, code=77)
    cause = "with a key of 7 bytes" if adapter == KERNEL else "less than 16 bytes"
    expect(cause in refused.err, f"a short key: {refused.err!r}")
    expect(await tell(bench, "bonds", "--json") == "", "a bond is kept of a pairing that failed")
    await tell(bench, "forget", ADDRESS, *adapter, code=64)
    bench.note = "; ".join(notes) + "; four refused"


@scenario("pairing-models", deadline=240)
async def pairing_models(bench: Bench) -> None:
    """X-8: comparing or entering a number authenticates, except in legacy pairing; a pairing below the required security leaves no bond."""
    await fresh(bench)
    await each_model(bench, KERNEL)


@scenario("pairing-models-own", deadline=240, only_long=True, once=True)
async def pairing_models_own(bench: Bench) -> None:
    """As `pairing-models`, but with our own Security Manager."""
    await fresh(bench)
    await take_from_kernel(bench)
    await each_model(bench, OWN)


@scenario("pairing-models-line", deadline=240, once=True)
async def pairing_models_line(bench: Bench) -> None:
    """X-8: as `pairing-models`, but over H4, with no part of the kernel's Bluetooth between the product and the line."""
    await fresh(bench)
    await lay_line(bench)
    await each_model(bench, OVER_LINE)


async def typed_by_key_only(bench: Bench, adapter: tuple[str, ...]) -> None:
    """Checks that a paired device can type, and that a stranger with everything but its key cannot."""
    hands = hold(bench, Hands(IO.NO_OUTPUT_NO_INPUT))
    bond(await pair(bench, hands, "none", "", *adapter))
    if adapter == KERNEL:
        # Delete the kernel's keys, as after a restart, so that they exist only on the disk.
        await bench.guest.run("btmgmt", "--index", "0", "ltks")
    pairings: list[int] = []
    bench.peer.device.on("pairing_start", lambda *_: pairings.append(1))
    daemon = await start(bench, *adapter)
    reader = await EventReader.open(bench, daemon.node)
    chosen = json.loads(await tell(bench, "use", NAME, "--json"))
    expect(chosen["security"] == "encrypted", f"the choice is {chosen}")
    await until_connected(bench, daemon)
    refused = await tell(bench, "use", NAME, "--security", "authenticated", code=78)
    expect("are not authenticated" in refused, f"keys that no number has proved: {refused!r}")
    answer = await until_status(bench, 10, "an encrypted link", lambda a: a["link"]["security"] == "encrypted")
    expect(answer["requiredSecurity"] == "encrypted", f"status: {answer}")
    expect(answer["link"]["keySize"] == 16, f"status: {answer['link']}")
    refused = await bench.guest.run(BINARY, "pair", NAME, "--console", "none", *adapter, check=False, seconds=40)
    expect(refused.status == 64 and "never overwritten" in refused.err, f"pair through the daemon: {refused.evidence()}")
    sent = bench.peer.burst([ean13(1)])
    await reader.until(sent, 20)
    compare(ean13(1), reader.text)

    # A stranger: everything is the same except the key.
    kept = await bench.peer.device.keystore.get_all()  # type: ignore[union-attr]
    await bench.peer.device.keystore.delete_all()  # type: ignore[union-attr]
    before = bench.peer.connections
    link = bench.peer.connection
    assert link is not None
    bench.peer.device.on("connection", lambda _connection: bench.peer.burst([b"rm -rf /\r"]))
    await link.disconnect()
    answer = await until_status(bench, 40, "the stranger is refused", lambda a: "could not be verified" in (a.get("reason") or ""))
    expect("forget" in answer["remedy"], f"the remedy is {answer['remedy']}")
    await bench.peer.until(lambda: bench.peer.connections >= before + 2, "another attempt", 60)
    await until_status(bench, 40, "refused again", lambda a: a["state"] == "failed" or a["state"] == "lost")
    expect(len(reader.text) == sent, f"a stranger has typed {reader.text[sent:]!r}")
    expect(not pairings, "it was paired with again")
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    bench.account(sent, len(reader.text), daemon.counts())
    bench.note = f"{len(kept)} bond at the peer, {bench.peer.connections - before} links of a stranger"
    await fresh(bench)


@scenario("bonded", deadline=240)
async def bonded(bench: Bench) -> None:
    """X-8: a paired device types over an encrypted link only; a stranger with its address, name and service but no key types nothing."""
    await fresh(bench)
    await typed_by_key_only(bench, KERNEL)


@scenario("bonded-own", deadline=240, only_long=True, once=True)
async def bonded_own(bench: Bench) -> None:
    """As `bonded`, but with our own Security Manager, whose keys are on the disk only."""
    await fresh(bench)
    await take_from_kernel(bench)
    await typed_by_key_only(bench, OWN)


@scenario("bonded-line", deadline=240, once=True)
async def bonded_line(bench: Bench) -> None:
    """X-8: as `bonded`, but over H4."""
    await fresh(bench)
    await lay_line(bench)
    await typed_by_key_only(bench, OVER_LINE)


async def hide(bench: Bench, key: bytes) -> None:
    """Gives the peer a new private address that is derived from its key."""
    device = bench.peer.device
    device.irk = key
    device.random_address = hci.Address.generate_private_address(key)
    await bench.peer.advertise()


async def known_by_key(bench: Bench, adapter: tuple[str, ...]) -> None:
    """Checks that a paired device is found, connected to and typed for although it uses a new private address each time."""
    key, other = bytes(range(1, 17)), bytes(range(17, 33))
    hands = hold(bench, Hands(IO.NO_OUTPUT_NO_INPUT))
    await hide(bench, key)
    said = bond(await pair(bench, hands, "none", "", *adapter))
    expect(said["address"] == ADDRESS and said["resolvingKey"], f"the bond is {said}")
    await hide(bench, key)
    daemon = await start(bench, *adapter)
    reader = await EventReader.open(bench, daemon.node)
    chosen = json.loads(await tell(bench, "use", NAME, "--json"))
    expect(chosen["address"] == ADDRESS and chosen["security"] == "encrypted", f"the choice is {chosen}")
    sent = 0
    for number in range(3):
        await bench.peer.until_subscribed(60)
        sent += bench.peer.burst([ean13(number)])
        await reader.until(sent, 20)
        link = bench.peer.connection
        assert link is not None
        before = bench.peer.device.random_address
        await bench.peer.device.stop_advertising()
        await link.disconnect()
        await hide(bench, key)
        expect(bench.peer.device.random_address != before, "the address is the same")
    compare(b"".join(ean13(number) for number in range(3)), reader.text)
    # Negative control: a device with an address derived from another key is a stranger, whatever its name.
    await bench.peer.until_subscribed(60)
    link = bench.peer.connection
    assert link is not None
    await bench.peer.device.stop_advertising()
    await link.disconnect()
    connections = bench.peer.connections
    await hide(bench, other)
    await until_status(bench, 60, "nobody it knows is there", lambda a: "is advertising from" in (a.get("reason") or ""))
    expect(bench.peer.connections == connections, "a stranger was connected to")
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    bench.account(sent, len(reader.text), daemon.counts())
    bench.note = f"{connections} links of 5 addresses"
    await fresh(bench)


@scenario("private-address", deadline=240)
async def private_address(bench: Bench) -> None:
    """X-8, CB-15: a paired device is recognized by its key under each of its private addresses, and no other device is taken for it."""
    await fresh(bench)
    await known_by_key(bench, KERNEL)


@scenario("private-address-own", deadline=240, only_long=True, once=True)
async def private_address_own(bench: Bench) -> None:
    """As `private-address`, but with our own host."""
    await fresh(bench)
    await take_from_kernel(bench)
    await known_by_key(bench, OWN)


@scenario("security-demanded", deadline=120, once=True)
async def security_demanded(bench: Bench) -> None:
    """X-8: if the configuration requires security, a device without keys is rejected, even if selected or named as unpaired."""
    await fresh(bench)
    await write(bench, CONFIGURATION, 'security = "encrypted"\n')
    daemon = await start(bench)
    await daemon.state("unselected", 20)
    for options, cause in ((("--security", "none"), "below the configured minimum"), ((), "is not paired")):
        said = await tell(bench, "use", NAME, *options, code=78)
        expect(cause in said, f"use {options} says {said!r}")
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    daemon = await start(bench, "--device", NAME)
    answer = await until_status(bench, 40, "no keys, no link", lambda a: "is not paired" in (a.get("reason") or ""))
    expect(answer["requiredSecurity"] == "encrypted", f"status: {answer}")
    expect(bench.peer.connections == 0, "a device without keys was connected to")
    await daemon.end(signal.SIGINT, 130)
    # Negative control: the device is available, and its text is typed if no security is required.
    daemon = await start(bench, "--device", NAME, "--security", "none")
    await until_connected(bench, daemon)
    await daemon.end(signal.SIGINT, 130)
    await fresh(bench)
