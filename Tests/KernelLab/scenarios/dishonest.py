# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pairing with a peer that violates the specification, or that computes secrets.

from __future__ import annotations

import json
import signal

from bumble import hci, smp

from bench import Bench, compare
from computing import ComputingSession
from daemons import fresh, start, tell, until_connected, until_status
from peer import ADDRESS, NAME, ean13
from readers import EventReader
from scenarios import scenario
from scenarios.pairing import IO, KERNEL, OVER_LINE, Hands, bond, forget_all, hold, lay_line, pair, told
from waiting import expect


VICTIM = hci.Address("00:1D:12:00:01:20", hci.Address.PUBLIC_DEVICE_ADDRESS)


class ClaimingSession(smp.Session):
    """Claims the identity address of another device."""

    def send_identity_address_command(self) -> None:
        self.send_command(smp.SMP_Identity_Address_Information_Command(addr_type=VICTIM.address_type, bd_addr=VICTIM))


class ReflectingSession(smp.Session):
    """Reflects each value that it receives, and so needs neither a private key nor the passkey."""

    def on_smp_pairing_public_key_command(self, command: smp.SMP_Pairing_Public_Key_Command) -> None:
        self.send_command(
            smp.SMP_Pairing_Public_Key_Command(public_key_x=command.public_key_x, public_key_y=command.public_key_y)
        )

    def on_smp_pairing_confirm_command(self, command: smp.SMP_Pairing_Confirm_Command) -> None:
        self.send_command(smp.SMP_Pairing_Confirm_Command(confirm_value=command.confirm_value))

    def on_smp_pairing_random_command(self, command: smp.SMP_Pairing_Random_Command) -> None:
        self.send_command(smp.SMP_Pairing_Random_Command(random_value=command.random_value))


async def reflects(bench: Bench, adapter: tuple[str, ...]) -> None:
    """Checks that reflected public keys, and reflected confirm and random values of legacy pairing, do not lead to a bond."""
    manager = bench.peer.device.smp_manager
    manager.session_proxy = ReflectingSession
    try:
        for secure, capability, console in (True, IO.NO_OUTPUT_NO_INPUT, "none"), (False, IO.KEYBOARD_INPUT_ONLY, "display"):
            await pair(bench, hold(bench, Hands(capability), secure), console, "", *adapter, code=74)
            expect(await tell(bench, "bonds", "--json") == "", "a bond is kept of reflected values")
            await bench.peer.device.keystore.delete_all()  # type: ignore[union-attr]
    finally:
        manager.session_proxy = smp.Session


async def claims(bench: Bench, adapter: tuple[str, ...]) -> None:
    """Checks that a device that claims another device's identity address is bonded under its own address, and that no bond for
    the other device is saved."""
    manager = bench.peer.device.smp_manager
    manager.session_proxy = ClaimingSession
    try:
        said = bond(await pair(bench, hold(bench, Hands(IO.NO_OUTPUT_NO_INPUT)), "none", "", *adapter))
    finally:
        manager.session_proxy = smp.Session
    listed = await tell(bench, "bonds", "--json")
    expect(said["address"] == ADDRESS and str(VICTIM)[:17] not in listed, f"the bond is {said}, the list {listed}")
    await forget_all(bench, adapter)


async def asks_early(bench: Bench, adapter: tuple[str, ...]) -> int:
    """Checks that a bonded device that sends its Security Request as soon as the link is up is accepted, and returns the number
    of bytes typed."""
    device = bench.peer.device
    bond(await pair(bench, hold(bench, Hands(IO.NO_OUTPUT_NO_INPUT)), "none", "", *adapter))
    requests = []

    def ask(connection: object) -> None:
        requests.append(connection)
        device.smp_manager.request_pairing(connection)

    device.on("connection", ask)
    daemon = await start(bench, *adapter)
    reader = await EventReader.open(bench, daemon.node)
    await tell(bench, "use", NAME)
    await until_connected(bench, daemon)
    await until_status(bench, 10, "an encrypted link", lambda a: a["link"]["security"] == "encrypted")
    sent = bench.peer.burst([ean13(1)])
    await reader.until(sent, 20)
    compare(ean13(1), reader.text)
    device.remove_listener("connection", ask)
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    expect(len(requests) == 1, f"{len(requests)} links instead of one")
    await bench.peer.until_alone()
    return sent


async def swaps_its_type(bench: Bench, adapter: tuple[str, ...]) -> None:
    """Checks that a device with the name of a bonded device, and with its public address as a random one, is not connected to."""
    device = bench.peer.device
    await bench.peer.fall_silent()
    await bench.peer.advertise(own=hci.OwnAddressType.PUBLIC)
    hands = hold(bench, Hands(IO.NO_OUTPUT_NO_INPUT))
    device.pairing_config_factory(None).identity_address_type = hci.Address.PUBLIC_DEVICE_ADDRESS  # type: ignore[arg-type]
    said = bond(await pair(bench, hands, "none", "", *adapter))
    bits = str(device.public_address)[:17]
    expect((said["address"], said["addressType"]) == (bits, "public"), f"the bond is {said}")
    await bench.peer.fall_silent()
    device.random_address = hci.Address(bits, hci.Address.RANDOM_DEVICE_ADDRESS)
    await bench.peer.advertise()
    before = bench.peer.connections
    for name in NAME, bits:
        product = await bench.product("run", "--device", name, "--json", *adapter)
        reader = await EventReader.open(bench, await product.keyboard())
        await product.state("failed", 60)
        await product.end(signal.SIGINT, 130)
        expect(bench.peer.connections == before, f"--device {name}: a device of the other address type was connected to")
        expect(reader.text == b"", f"{reader.text!r} was typed")
    await tell(bench, "forget", bits, *adapter)


async def dishonest_peer(bench: Bench, adapter: tuple[str, ...]) -> None:
    await reflects(bench, adapter)
    await claims(bench, adapter)
    sent = await asks_early(bench, adapter)
    await forget_all(bench, adapter)
    await swaps_its_type(bench, adapter)
    bench.note = f"two reflections and a claim refused, {sent} bytes typed of a device that asks early, none of the other type"


async def computed_passkey(bench: Bench, adapter: tuple[str, ...]) -> None:
    """Checks that a peer that computes the passkey instead of being told it gets an encrypted bond at most, and cannot type if
    authentication is required."""
    manager = bench.peer.device.smp_manager
    manager.session_proxy = ComputingSession
    ComputingSession.found.clear()
    try:
        hands = hold(bench, Hands(IO.KEYBOARD_INPUT_ONLY), secure=False)
        refused = await pair(bench, hands, "display", "", "--security", "authenticated", *adapter, code=77)
        expect("only legacy pairing" in refused.err, f"a computed passkey as authenticated: {refused.err!r}")
        expect(await tell(bench, "bonds", "--json") == "", "a bond is kept of a computed passkey")
        await bench.peer.device.keystore.delete_all()  # type: ignore[union-attr]
        product = await pair(bench, hands, "display", "", *adapter)
    finally:
        manager.session_proxy = smp.Session
    shown = told(product, "passkey")
    assert shown is not None
    expect(ComputingSession.found[-1:] == [int(shown["number"])], f"{shown} was shown, {ComputingSession.found} found")
    said = bond(product)
    expect(said["security"] == "encrypted" and not said["secureConnections"], f"the bond is {said}")
    daemon = await start(bench, *adapter)
    reader = await EventReader.open(bench, daemon.node)
    said_no = await tell(bench, "use", NAME, "--security", "authenticated", code=78)
    expect("from legacy pairing, which provides no authentication" in said_no, f"a legacy bond as authenticated: {said_no!r}")
    chosen = json.loads(await tell(bench, "use", NAME, "--json"))
    expect(chosen["address"] == ADDRESS and chosen["security"] == "encrypted", f"the choice is {chosen}")
    expect(reader.text == b"", f"{reader.text!r} was typed")
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    await forget_all(bench, adapter)
    bench.note = f"{len(ComputingSession.found)} passkeys computed, in {max(ComputingSession.seconds):.1f} s at most"


@scenario("computed-passkey", deadline=120, once=True)
async def computed(bench: Bench) -> None:
    """X-8: a peer that computes the passkey of legacy pairing is not authenticated by the kernel's Security Manager."""
    await fresh(bench)
    await computed_passkey(bench, KERNEL)


@scenario("computed-passkey-line", deadline=120, once=True)
async def computed_line(bench: Bench) -> None:
    """X-8: as `computed-passkey`, but over H4, with our own Security Manager."""
    await fresh(bench)
    await lay_line(bench)
    await computed_passkey(bench, OVER_LINE)


@scenario("dishonest-peer", deadline=240)
async def dishonest(bench: Bench) -> None:
    """X-8: the kernel's host resists reflected values, another's identity and a bonded address of the other type; an early Security Request is valid."""
    await fresh(bench)
    await dishonest_peer(bench, KERNEL)


@scenario("dishonest-peer-line", deadline=240, once=True)
async def dishonest_line(bench: Bench) -> None:
    """X-8: as `dishonest-peer`, but over H4, with our own Security Manager."""
    await fresh(bench)
    await lay_line(bench)
    await dishonest_peer(bench, OVER_LINE)


@scenario("authenticated", deadline=120)
async def authenticated(bench: Bench) -> None:
    """X-8: after a numeric comparison the kernel's link has security level 4, and a device that must be authenticated can type."""
    await fresh(bench)
    hands = hold(bench, Hands(IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT))
    said = bond(await pair(bench, hands, "yes-no", "y", "--security", "authenticated"))
    expect(said["security"] == "authenticated" and said["secureConnections"], f"the bond is {said}")
    await bench.guest.run("btmgmt", "--index", "0", "ltks")  # as after a restart: the key is only on the disk
    daemon = await start(bench)
    reader = await EventReader.open(bench, daemon.node)
    chosen = json.loads(await tell(bench, "use", NAME, "--security", "authenticated", "--json"))
    expect(chosen["security"] == "authenticated", f"the choice is {chosen}")
    await until_connected(bench, daemon)
    await until_status(bench, 10, "an authenticated link", lambda a: a["link"]["security"] == "authenticated")
    sent = bench.peer.burst([ean13(1)])
    await reader.until(sent, 20)
    compare(ean13(1), reader.text)
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    bench.account(sent, len(reader.text), daemon.counts())
    await forget_all(bench)
