# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two instances, and `gate give`, which lets the other one type.

from __future__ import annotations

import json

from bench import BINARY, Bench, compare
from clients import as_user, ask
from daemons import chosen, fresh, status, tell, until_count
from peer import ean13
from product import Product
from scenarios import scenario
from waiting import expect

TILL = "/run/till"
USER = "6001"
ENVIRONMENT = (
    "env", f"HOME={TILL}", f"STATE_DIRECTORY={TILL}/state", f"RUNTIME_DIRECTORY={TILL}", f"CONFIGURATION_DIRECTORY={TILL}/etc",
)  # fmt: skip
OWN, THEIRS = "/run/blewedge/control", f"{TILL}/control"


async def till(bench: Bench, configuration: str = "") -> Product:
    """Starts an instance of another user, without an adapter and with a socket as its output, and pauses it."""
    text = f'adapter = "h4:unix:{TILL}/none"\nto = "unix:{TILL}/wire"\n{configuration}'
    await bench.guest.run("sh", "-c", f"rm -rf {TILL}; mkdir -p {TILL}/state {TILL}/etc")
    await bench.guest.write_file(f"{TILL}/etc/blewedge.toml", text.encode())
    await bench.guest.run("sh", "-c", f"chown -R {USER}:{USER} {TILL} && chmod 755 {TILL}")
    program = await bench.start(*as_user(USER, USER), *ENVIRONMENT, BINARY, "run", "--json")
    daemon = Product(program)
    await daemon.state("unselected", 20)
    await tell(bench, "pause", "--socket", THEIRS)
    return daemon


async def gates(bench: Bench) -> tuple[str, str]:
    """Returns the gates of our instance and of the other one."""
    theirs = json.loads(await tell(bench, "status", "--json", "--socket", THEIRS))
    return (await status(bench))["gate"], theirs["gate"]


async def are(bench: Bench, own: str, theirs: str) -> None:
    found = await gates(bench)
    expect(found == (own, theirs), f"the gates are {found}, not {(own, theirs)}")


@scenario("gate-give", deadline=300, once=True)
async def gate_give(bench: Bench) -> None:
    """HK-6: `gate give` closes this instance's gate and opens the other one's; if it is refused, neither changes."""
    daemon, reader = await chosen(bench)
    said = await tell(bench, "gate", "give", "till", code=69)
    expect("instance till is not running" in said and THEIRS in said, f"without the other: {said!r}")
    expect((await status(bench))["gate"] == "open", "an instance that is not there has got the gate")

    other = await till(bench)
    await are(bench, "open", "closed")
    said = await tell(bench, "gate", "give", "till")
    expect("till is typing now" in said, f"said was {said!r}")
    await are(bench, "closed", "open")
    gated = bench.peer.burst([ean13(1)])
    await until_count(bench, "gated", gated)

    # Give the gate back with the other instance's command.
    back = await ask(bench, BINARY, "gate", "give", "blewedge", "--json", before=ENVIRONMENT)
    answer = back.objects[0] if back.objects else {}
    expect(back.status == 0 and answer.get("ok") is True, f"given back: {back.status}{back.evidence()}")
    expect((answer["given"], answer["socket"]) == ("blewedge", OWN), f"the answer is {answer}")
    await are(bench, "open", "closed")
    typed = bench.peer.burst([ean13(2)])
    await reader.until(typed, 20)
    compare(ean13(2), reader.text)

    # Giving the gate to itself is refused, by name and by path.
    for name in ("blewedge", "/run/blewedge"):
        said = await tell(bench, "gate", "give", name, code=64)
        expect("this instance itself" in said, f"to itself: {said!r}")
    await are(bench, "open", "closed")

    # The other user may not open our gate; the other instance's gate does not change.
    await tell(bench, "resume", "--socket", THEIRS)
    await bench.guest.run("chmod", "666", OWN)
    refused = await ask(bench, BINARY, "gate", "give", "blewedge", before=(*as_user(USER, USER), *ENVIRONMENT))
    expect(refused.status == 77 and "the instance blewedge refused" in refused.err, f"refused: {refused.status}, {refused.err!r}")
    await are(bench, "open", "open")
    await tell(bench, "pause", "--socket", THEIRS)
    # If our gate may not be closed, the other instance is paused again.
    refused = await ask(bench, BINARY, "gate", "give", TILL, "--socket", OWN, before=(*as_user(USER, USER), *ENVIRONMENT))
    expect(refused.status == 77 and "has read-only access" in refused.err, f"refused: {refused.status}, {refused.err!r}")
    await are(bench, "open", "closed")
    japanese = await ask(bench, "env", "BLEWEDGE_LANG=ja", BINARY, "gate", "give", "nowhere")
    expect("インスタンス nowhere が動いていません" in japanese.err, f"in Japanese: {japanese.err!r}")

    # The other gate is also closed for another reason: the other instance stays paused, and our gate stays open.
    await tell(bench, "stop", "--socket", THEIRS)
    await other.exits(0, 15)
    await bench.guest.run("chvt", "4")
    await bench.guest.run("chmod", "666", "/dev/tty0", check=False)
    other = await till(bench, "[gate]\nvt = 5\n")
    said = await tell(bench, "gate", "give", "till", code=69)
    expect("the gate of till stays closed" in said and "5" in said, f"closed all the same: {said!r}")
    await are(bench, "open", "closed")
    paused = json.loads(await tell(bench, "status", "--json", "--socket", THEIRS))["paused"]
    expect(paused, "an instance whose gate stayed closed is not paused any more")
    await tell(bench, "stop", "--socket", THEIRS)
    await other.exits(0, 15)
    await tell(bench, "stop")
    await daemon.exits(0, 15)
    bench.account(gated + typed, len(reader.text), {"discarded": gated})
    await fresh(bench)
    bench.note = "given twice, refused in 6 ways"
