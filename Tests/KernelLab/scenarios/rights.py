# SPDX-License-Identifier: GPL-2.0-or-later
#
# Access rights at the daemon's control socket. They depend on the user at the other end, as reported by the kernel.

from __future__ import annotations

import json
import re
import signal
from typing import Any

from bench import BINARY, Bench, compare
from clients import as_user, ask, lines
from daemons import start, until_connected, use_open
from peer import ADDRESS, NAME, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from waiting import expect

OWNER, GROUP, STRANGER = "6001", "6002", "7001"
HOME = "/run/lab/rights"
SOCKET = f"{HOME}/run/control"
ENVIRONMENT = (
    "env", f"HOME={HOME}", f"STATE_DIRECTORY={HOME}/state", f"RUNTIME_DIRECTORY={HOME}/run", f"CONFIGURATION_DIRECTORY={HOME}/etc",
)  # fmt: skip
READING = ("status", "scan 1")
TYPING = ("key 1", "snippet bold", "clear")
CHANGING = ("pause", "resume", "send hex 00", "ask 00", "disconnect", "connect", "reload", "received", f"use {ADDRESS} security none")
LAST = (f"pair {ADDRESS}", "forget", "stop")
PERMISSION = 77


async def served(bench: Bench) -> Product:
    """Prepares the folders of a user who is not root, starts that user's daemon, and connects it to the peer."""
    folders = " ".join(f"{HOME}/{name}" for name in ("state", "run", "etc"))
    line = f"rm -rf {HOME}; mkdir -p {folders} && chown -R {OWNER}:{GROUP} {HOME} && chmod -R 755 {HOME} && chown {OWNER} /dev/uinput"
    await bench.guest.run("sh", "-c", line)
    await bench.guest.write_file(f"{HOME}/etc/blewedge.toml", b'snippets = "habr"\n')
    daemon = await begun(bench)
    await one(bench, "root", f"use {NAME} security none", 0)
    await daemon.state("connected", 40)
    await bench.peer.until_subscribed()
    return daemon


async def begun(bench: Bench) -> Product:
    """Starts the daemon of that user, whose folders exist already."""
    caps = ("--inh-caps=+net_admin,+net_raw", "--ambient-caps=+net_admin,+net_raw")
    daemon = await bench.product("run", "--json", before=(*as_user(OWNER, GROUP, more=caps), *ENVIRONMENT))
    await daemon.keyboard()
    return daemon


def users() -> dict[str, tuple[str, ...]]:
    return {
        "root": (),
        "the owner": as_user(OWNER, GROUP),
        "a member of the group": as_user(STRANGER, STRANGER, GROUP),
        "a stranger": as_user(STRANGER, STRANGER),
    }


async def one(bench: Bench, user: str, line: str, code: int) -> dict[str, Any]:
    """Sends a request as a user, checks its exit code, and returns the answer."""
    answer = (await lines(bench, SOCKET, line, before=users()[user]))[0]
    got = 0 if answer["ok"] else answer["error"]["code"]
    expect(got == code, f"{user} asks for {line}: {got} instead of {code}: {json.dumps(answer)[:200]}")
    return answer


async def standing(bench: Bench) -> dict[str, Any]:
    """Returns the parts of the status that a request could have changed."""
    answer = await one(bench, "root", "status", 0)
    return {name: answer[name] for name in ("state", "selection", "paused", "gate")}


@scenario("control-rights", deadline=400, once=True)
async def control_rights(bench: Bench) -> None:
    """D-9: root and the daemon's user can change settings and type, its group can read, others get nothing; keys = false disables keys."""
    daemon = await served(bench)
    reader = await EventReader.open(bench, daemon.node)
    mode = (await bench.guest.run("stat", "-c", "%u %g %a", SOCKET)).out.strip()
    expect(mode == f"{OWNER} {GROUP} 660", f"the socket is {mode}")
    refused = 0

    closed = await ask(bench, BINARY, "status", "--socket", SOCKET, before=(*users()["a stranger"], *ENVIRONMENT))
    expect(closed.status == PERMISSION and "not permitted to open" in closed.err, f"a stranger: {closed.status}, {closed.err!r}")

    before = await standing(bench)
    for line in READING:
        await one(bench, "a member of the group", line, 0)
    await one(bench, "a member of the group", "events", 0)
    for line in (*TYPING, *CHANGING, *LAST):
        answer = await one(bench, "a member of the group", line, PERMISSION)
        cause = answer["error"]["cause"]
        expect(cause == f"user {STRANGER} has read-only access", f"{line}: the cause is {cause!r}")
        refused += 1
    paired = await ask(bench, BINARY, "pair", NAME, "--console", "none", before=(*users()["a member of the group"], *ENVIRONMENT))
    expect(paired.status == PERMISSION and "has read-only access" in paired.err, f"a member pairs: {paired.status}, {paired.err!r}")
    expect(await standing(bench) == before, "what was refused has changed something")
    expect(reader.text == b"", f"what was refused was typed: {reader.text!r}")

    for user in ("the owner", "root"):
        for line in (*READING, *TYPING):
            await one(bench, user, line, 0)
        for line in CHANGING:
            await one(bench, user, line, 0)
            if line == "connect":
                await daemon.state("connected", 40)

    # With keys disabled in the configuration, no user can type; all other rights are the same.
    await bench.guest.write_file(f"{HOME}/etc/blewedge.toml", b"keys = false\n")
    await one(bench, "the owner", "reload", 0)
    keyboards = lambda: [o for o in daemon.program.objects if o.get("event") == "keyboard"]  # noqa: E731
    await daemon.program.until(lambda: len(keyboards()) == 2, "the keyboard anew", 30)
    await daemon.state("connected", 40)
    for user in ("the owner", "root"):
        for line in TYPING:
            answer = await one(bench, user, line, PERMISSION)
            expect("keys" in answer["error"]["cause"], f"{line}: {answer['error']['cause']!r}")
            refused += 1
        for line in ("pause", "resume"):
            await one(bench, user, line, 0)
    await one(bench, "root", "forget", 0)
    await one(bench, "the owner", "stop", 0)
    await daemon.exits(0, 15)
    await bench.guest.run("chown", "0", "/dev/uinput")
    bench.note = f"{refused} requests refused, none of them done"


@scenario("run-as-user", deadline=200, once=True)
async def run_as_user(bench: Bench) -> None:
    """X-7: a daemon started by root for another user (T31): no thread is root's or has capabilities between calls; it types and recovers."""
    name = "wedge"
    line = f"grep -q ^{name}: /etc/passwd || echo {name}:x:{OWNER}:{GROUP}::/:/bin/false >>/etc/passwd; chown {OWNER} /dev/uinput"
    await bench.guest.run("sh", "-c", line)
    daemon = await start(bench, "--user", name)
    reader = await EventReader.open(bench, daemon.node)
    await use_open(bench)
    await until_connected(bench, daemon)
    sent = bench.peer.burst([ean13(1)])
    await reader.until(sent, 20)
    threads = await privileges(bench, daemon.program.pid, OWNER)
    # The daemon finds an adapter, switches it on and scans again. Each of these needs a capability that it raises only for the
    # call.
    await bench.remove_controllers()
    await daemon.state("bluetoothOff", 20)
    await bench.add_controllers("linble")
    await until_connected(bench, daemon)
    sent += bench.peer.burst([ean13(2)])
    await reader.until(sent, 20)
    compare(ean13(1) + ean13(2), reader.text)
    expect(await privileges(bench, daemon.program.pid, OWNER) == threads, "there are more threads, or fewer")
    await daemon.end(signal.SIGTERM, 143)
    bench.account(sent, len(reader.text), daemon.counts())
    bench.note = f"{threads} threads, user {OWNER}"
    await bench.guest.run("sh", "-c", f"sed -i /^{name}:/d /etc/passwd; chown 0 /dev/uinput")


async def privileges(bench: Bench, pid: int, owner: str) -> int:
    """Returns the number of a daemon's threads. Checks that each belongs to this user, has a system call filter, and has two
    permitted capabilities but no effective one."""
    status = await bench.guest.run("sh", "-c", f"cat /proc/{pid}/task/*/status")
    threads = status.out.split("Name:")[1:]
    for thread in threads:
        fields = dict(re.findall(r"^(\w+):\s+(.*?)\s*$", thread, re.MULTILINE))
        expect(set(fields["Uid"].split()) == {owner}, f"a thread's user is {fields['Uid']}")
        expect(int(fields["CapPrm"], 16) == 3 << 12 and int(fields["CapEff"], 16) == 0, f"a thread's rights: {fields}")
        expect(fields["NoNewPrivs"] == "1" and fields["Seccomp"] == "2", f"a thread without a filter: {fields}")
    return len(threads)
