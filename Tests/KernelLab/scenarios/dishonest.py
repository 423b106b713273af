# SPDX-License-Identifier: GPL-2.0-or-later
#
# Pairing with a peer that does not do what the specification says, and computes.

from __future__ import annotations

import json

from bumble import smp

from bench import Bench
from computing import ComputingSession
from daemons import fresh, start, tell
from peer import ADDRESS, NAME
from readers import EventReader
from scenarios import scenario
from scenarios.pairing import IO, KERNEL, OVER_LINE, Hands, bond, forget_all, hold, lay_line, pair, told
from waiting import expect


async def computed_passkey(bench: Bench, adapter: tuple[str, ...]) -> None:
    """A peer that computes the passkey it was not told gets encrypted keys at most, and types nothing as authenticated."""
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
    expect("from legacy pairing, which authenticates nobody" in said_no, f"a legacy bond as authenticated: {said_no!r}")
    chosen = json.loads(await tell(bench, "use", NAME, "--json"))
    expect(chosen["address"] == ADDRESS and chosen["security"] == "encrypted", f"the choice is {chosen}")
    expect(reader.text == b"", f"{reader.text!r} was typed")
    await tell(bench, "stop")
    await daemon.exits(0, 20)
    await forget_all(bench, adapter)
    bench.note = f"{len(ComputingSession.found)} passkeys computed, in {max(ComputingSession.seconds):.1f} s at most"


@scenario("computed-passkey", deadline=120)
async def computed(bench: Bench) -> None:
    """X-8: who computes the passkey of legacy pairing is not authenticated by the kernel's Security Manager."""
    await fresh(bench)
    await computed_passkey(bench, KERNEL)


@scenario("computed-passkey-line", deadline=120, once=True)
async def computed_line(bench: Bench) -> None:
    """X-8: the same over H4, by the Security Manager of our own."""
    await fresh(bench)
    await lay_line(bench)
    await computed_passkey(bench, OVER_LINE)
