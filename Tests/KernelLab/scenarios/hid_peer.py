# SPDX-License-Identifier: GPL-2.0-or-later
#
# The keyboard peer itself, checked with a plain ATT client (attline.c) and with commands of the product that need no HID.

from __future__ import annotations

from collections.abc import Callable

from bumble.hci import HCI_Error
from bumble.pairing import PairingDelegate

from attributes import built
from bench import BINARY, Bench
from daemons import fresh, tell
from guest import Program
from hidshapes import PLAIN, SHAPES
from keyboardpeer import KEYBOARD
from peer import ADDRESS, ean13
from scenarios import scenario
from scenarios.pairing import Hands, bond, hold
from waiting import LabError, expect

MAP_UUID, CONFIGURATION_UUID = "2A4B", "2902"
NOT_ENCRYPTED, ENCRYPTED = "1", "2"  # security levels of the kernel
READ, READ_BLOB, WRITE, NOTIFICATION = 0x0A, 0x0C, 0x12, 0x1B
NEEDS_ENCRYPTION = 0x0F
MTU = 23


async def pair_by_name(bench: Bench, *options: str) -> dict[str, object]:
    """Pairs the product with the device of the keyboard's name, and returns the bond."""
    product = await bench.start(BINARY, "pair", KEYBOARD, "--json", "--console", "none", *options)
    await product.wait(60)
    expect(product.status == 0, f"pair: {product.status}{product.evidence()}")
    return bond(product)


async def pair_keyboard(bench: Bench, *options: str) -> dict[str, object]:
    """Pairs the product with the keyboard, and returns the bond."""
    hold(bench, Hands(PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT))
    found = await pair_by_name(bench, *options)
    await bench.peer.until_alone()
    return found


class Client:
    """An ATT client in the guest that is not the product."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @classmethod
    async def open(cls, bench: Bench, level: str) -> Client:
        """Starts to connect with this security level."""
        return cls(await bench.start("attline", ADDRESS, level))

    @property
    def pdus(self) -> list[bytes]:
        return [bytes.fromhex(o["pdu"]) for o in self.program.objects if "pdu" in o]

    @property
    def notifications(self) -> list[bytes]:
        return [pdu for pdu in self.pdus if pdu[0] == NOTIFICATION]

    async def until(self, condition: Callable[[], object], what: str) -> None:
        await self.program.until(condition, what, 30)

    async def connected(self) -> int:
        """Waits for the link, and returns the security level that the kernel reports."""
        await self.until(lambda: any("connected" in o for o in self.program.objects), "the client connects")
        return int(next(o["connected"] for o in self.program.objects if "connected" in o))

    async def ask(self, pdu: bytes) -> bytes:
        """Sends a request, and returns the response."""
        answers = lambda: [pdu for pdu in self.pdus if pdu[0] != NOTIFICATION]  # noqa: E731
        before = len(answers())
        await self.program.write(f"{pdu.hex()}\n".encode())
        await self.until(lambda: len(answers()) > before, f"an answer to {pdu.hex()}")
        return answers()[before]

    async def read(self, handle: int) -> bytes:
        """Reads a long value at the default MTU."""
        place = handle.to_bytes(2, "little")
        value = (await self.ask(bytes([READ]) + place))[1:]
        while len(value) % (MTU - 1) == 0 and value:
            part = (await self.ask(bytes([READ_BLOB]) + place + len(value).to_bytes(2, "little")))[1:]
            if not part:
                break
            value += part
        return value

    async def close(self) -> None:
        await self.program.close_input()
        await self.program.wait(10)


def handle_of(bench: Bench, uuid: str, after: int = 0) -> int:
    """Returns the handle of the first attribute with this UUID after a handle."""
    return next(handle for _, handle, found in built(bench.peer.device) if found == uuid and handle > after)


async def product_sees(bench: Bench) -> None:
    """Checks the advertisement and the attribute table with `scan` and `gatt`, and that an unpaired client cannot read the map."""
    scan = await bench.product("scan", "--json", "--seconds", "4")
    await scan.exits(0, 20)
    found = [o for o in scan.program.objects if o.get("address") == ADDRESS]
    expect(found and found[-1].get("name") == KEYBOARD and "1812" in found[-1].get("services", []), f"scan: {found}")
    tree = await bench.product("gatt", KEYBOARD, "--json")
    await tree.exits(0, 40)
    await bench.peer.until_alone()
    seen = [(o["type"], int(o["handle"], 16), o["uuid"]) for o in tree.program.objects]
    expect(seen == built(bench.peer.device), f"gatt printed {seen}, the peer has {built(bench.peer.device)}")
    refused = await bench.product("gatt", KEYBOARD, "--json", "read", MAP_UUID)
    await refused.exits(77, 40)
    await bench.peer.until_alone()


async def product_reads_map(bench: Bench) -> str:
    """Returns what `gatt` does with the map of the bonded keyboard."""
    product = await bench.product("gatt", KEYBOARD, "--json", "read", MAP_UUID)
    status = await product.program.wait(40)
    await bench.peer.until_alone()
    expect(status == 0, f"gatt read: {status}{product.program.evidence()}")
    value = bytes.fromhex(product.program.objects[0]["hex"])
    expect(value == PLAIN.services[0].report_map, f"gatt reads the map {value.hex()}")
    return "gatt reads the map"


def reports(bench: Bench, text: bytes) -> list[bytes]:
    """Returns the notifications that type a text."""
    keyboard = bench.keyboard
    head = lambda target: bytes([NOTIFICATION]) + keyboard.handle(target).to_bytes(2, "little")  # noqa: E731
    return [head(target) + report for target, report in keyboard.shape.reports(text.decode())]


async def receives(client: Client, wanted: list[bytes]) -> None:
    await client.until(lambda: len(client.notifications) >= len(wanted), "the reports of a barcode")
    expect(client.notifications == wanted, f"received {client.notifications} instead of {wanted}")


async def reads_and_subscribes(bench: Bench) -> None:
    """Checks that a bonded client reads the maps in parts, and receives reports after it has subscribed."""
    keyboard = bench.keyboard
    client = await Client.open(bench, ENCRYPTED)
    level = await client.connected()
    expect(level == 2, f"the link has level {level}")
    await keyboard.until(lambda: keyboard.is_encrypted, "the keyboard notices the encryption", 20)
    handle = 0
    for service in keyboard.shape.services:
        handle = handle_of(bench, MAP_UUID, handle)
        value = await client.read(handle)
        expect(value == service.report_map, f"the map is {value.hex()}")
    expect(not keyboard.subscribed, "subscribed without a request")
    for target in keyboard.targets:
        configuration = handle_of(bench, CONFIGURATION_UUID, keyboard.handle(target))
        answer = await client.ask(bytes([WRITE]) + configuration.to_bytes(2, "little") + b"\x01\x00")
        expect(answer == b"\x13", f"a subscription is answered with {answer.hex()}")
    expect(keyboard.subscribed, "not subscribed")
    if keyboard.shape.keys is not None:
        keyboard.type(ean13(1))
        await receives(client, reports(bench, ean13(1)))
    await keyboard.sleep()
    await client.program.wait(20)


async def returns(bench: Bench) -> bool:
    """Checks that the keyboard returns to a waiting client, still subscribed, and types before any request. Returns true if the
    client's kernel answered its directed advertising."""
    keyboard = bench.keyboard
    client = await Client.open(bench, ENCRYPTED)
    await bench.monitor.program.until(lambda: bench.monitor.scanning, "the kernel waits for the keyboard", 20)
    is_directed = await keyboard.wake(ean13(2))
    await receives(client, reports(bench, ean13(2)))
    expect(not keyboard.requests and not keyboard.unsent, f"requests: {keyboard.requests}")
    await client.close()
    await keyboard.until_alone()
    return is_directed


async def types_in_clear(bench: Bench, level: str) -> str:
    """Checks that the keyboard can send a report before the link is encrypted, and returns what the kernel does with it."""
    keyboard = bench.keyboard
    keyboard.types_when_connected = b"1"
    client = await Client.open(bench, level)
    reported = await client.connected()
    if level == ENCRYPTED:
        await keyboard.until(lambda: keyboard.is_encrypted, "the link is encrypted", 20)
    # The answer comes after all reports.
    answer = await client.ask(bytes([READ]) + handle_of(bench, MAP_UUID).to_bytes(2, "little"))
    if level == NOT_ENCRYPTED:
        expect(answer[0] == 1 and answer[-1] == NEEDS_ENCRYPTION, f"the map without encryption: {answer.hex()}")
        expect(not keyboard.subscribed and not keyboard.is_encrypted, "the link is encrypted")
    arrived = len(client.notifications)
    await client.close()
    await keyboard.until_alone()
    return f"at level {level}, connect() returns with level {reported}, and {arrived} of 2 reports in clear arrive"


async def is_strange(bench: Bench) -> str:
    """Checks that the keyboard without its keys gets no encrypted link, and returns what arrives of its reports in clear."""
    keyboard = bench.keyboard
    await keyboard.lose_bonds()
    sent = keyboard.reports
    keyboard.types_when_connected = keyboard.types_when_encrypted = b"1"
    client = await Client.open(bench, ENCRYPTED)
    await client.program.wait(40)
    await keyboard.until_alone()
    expect(keyboard.reports == sent + 2, f"a stranger has sent {keyboard.reports - sent} reports")
    end = "succeeds" if any("connected" in o for o in client.program.objects) else "fails"
    return f"of a stranger, connect() {end} and {len(client.notifications)} of 2 reports in clear arrive"


@scenario("hid-peer", peer="keyboard", deadline=240, once=True)
async def hid_peer(bench: Bench) -> None:
    """The lab's HID keyboard requires encryption, keeps bonds and subscriptions, and on its return types before any request."""
    await fresh(bench)
    await product_sees(bench)
    said = await pair_keyboard(bench)
    expect(said["address"] == ADDRESS and said["security"] == "encrypted", f"the bond is {said}")
    notes = [await product_reads_map(bench)]
    await bench.guest.run("btmgmt", "--index", "0", "power", "on")
    await reads_and_subscribes(bench)
    notes.append(f"returned by {'directed' if await returns(bench) else 'undirected'} advertising")
    for level in NOT_ENCRYPTED, ENCRYPTED:
        notes.append(await types_in_clear(bench, level))
    notes.append(await is_strange(bench))
    await tell(bench, "forget", ADDRESS)
    bench.note = "; ".join(notes)


@scenario("hid-peer-shapes", peer="keyboard", deadline=400, only_long=True)
async def hid_peer_shapes(bench: Bench) -> None:
    """The lab's HID keyboard in each of its shapes is paired with, read and subscribed to, and returns under its identity."""
    await fresh(bench)
    directed = []
    for shape in SHAPES.values():
        try:
            await bench.keyboard.become(shape)
            await pair_keyboard(bench)
            await reads_and_subscribes(bench)
            if shape.keys is not None and await returns(bench):
                directed.append(shape.name)
        except (LabError, HCI_Error) as error:
            raise LabError(f"{shape.name}: {error}") from error
        await tell(bench, "forget", ADDRESS)
    bench.note = f"{len(SHAPES)} shapes, of which {len(directed)} returned by directed advertising"
