# SPDX-License-Identifier: GPL-2.0-or-later
#
# Attacks by other users of the same machine: on the control socket, and with locks on files that they can open.

from __future__ import annotations

import signal

from bench import Bench, compare
from clients import as_user
from guest import Program
from peer import ean13
from readers import EventReader
from scenarios import scenario
from scenarios.rights import GROUP, HOME, SOCKET, STRANGER, begun, one, served
from waiting import expect

# Each script prints `ready` when its attack has started, and continues until it is stopped.
BEGIN = """
import fcntl, os, select, signal, socket, sys, time
path, home = sys.argv[1:]
def client():
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    return server
def ready():
    print("ready", flush=True)
"""
# Sends endless requests on as many connections as possible, without reading any answer.
PIPELINED = BEGIN + """
servers = []
for _ in range(8):
    try: server = client()
    except OSError: break
    server.setblocking(False)
    servers.append(server)
told = False
while True:
    for at, server in enumerate(servers):
        try: server.send(b"status\\n" * 64)
        except BlockingIOError: pass
        except OSError:
            try:
                servers[at] = client()
                servers[at].setblocking(False)
            except OSError: pass
    if not told: ready()
    told = True
    select.select([], servers, [], 1)
"""
# Opens and closes connections, each with one request that is not permitted.
LOOPED = BEGIN + """
told = False
while True:
    try:
        server = client()
        server.sendall(b"key 1\\nstop\\nforget\\n")
        server.close()
    except OSError: pass
    if not told: ready()
    told = True
"""
# Sends a request without an end, one byte every 0.2 s, and reconnects whenever the daemon closes the connection.
SLOW = BEGIN + """
server = None
told = False
while True:
    try:
        if server is None: server = client()
        server.send(b"s")
    except OSError: server = None
    if not told: ready()
    told = True
    time.sleep(0.2)
"""
# Takes locks of every kind on everything that it can open.
LOCKING = BEGIN + """
held = []
for folder, _, names in os.walk(home):
    for name in [os.path.join(folder, each) for each in names] + [folder]:
        for flags in (os.O_RDWR, os.O_RDONLY):
            try: file = os.open(name, flags | os.O_NONBLOCK)
            except OSError: continue
            try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError: pass
            held.append(file)
            break
print("locked %d" % len(held), flush=True)
ready()
signal.pause()
"""


async def hostile(bench: Bench, script: str, *groups: str) -> Program:
    """Runs an attack as a user in these groups in addition to its own."""
    before = as_user(STRANGER, STRANGER, *groups)
    program = await bench.start(*before, "/usr/bin/python3", "-c", script, SOCKET, HOME)
    await program.until(lambda: "ready" in program.out, "the hostile user has begun", 20)
    return program


@scenario("control-hostile", deadline=300, once=True)
async def control_hostile(bench: Bench) -> None:
    """D-9, X-1: despite users who flood, reconnect, send single bytes and hold locks, the owner is answered, all barcodes are typed, and a restart succeeds."""
    daemon = await served(bench)
    reader = await EventReader.open(bench, daemon.node)
    # Attackers with read access: one with endless requests, two that reconnect; one with read access that makes forbidden
    # requests; a stranger; the last two hold locks.
    users = [
        await hostile(bench, PIPELINED, GROUP), await hostile(bench, LOOPED, GROUP), await hostile(bench, LOOPED, GROUP),
        await hostile(bench, SLOW, GROUP), await hostile(bench, LOCKING, GROUP), await hostile(bench, LOCKING),
    ]  # fmt: skip
    barcodes = [ean13(number) for number in range(100)]
    sent = bench.peer.burst(barcodes)
    for _ in range(6):
        answer = await one(bench, "the owner", "status", 0)
        expect(answer["state"] == "connected", f"status: {answer}")
    await reader.until(sent, 60)
    compare(b"".join(barcodes), reader.text)
    await one(bench, "the owner", "pause", 0)
    await one(bench, "the owner", "resume", 0)
    for user in users:
        expect(user.status is None, f"a hostile user has ended{user.evidence()}")

    # The daemon restarts while locks are held on all files that others can open.
    await daemon.end(signal.SIGTERM, 143)
    bench.account(sent, len(reader.text), daemon.counts())
    again = await begun(bench)
    await again.state("connected", 40)
    await one(bench, "the owner", "status", 0)
    locked = [next(line for line in user.out.splitlines() if line.startswith("locked")) for user in users[4:]]
    expect(all(int(line.split()[1]) > 0 for line in locked), f"nothing could be locked: it proves nothing: {locked}")
    for user in users:
        await user.stop()
    await one(bench, "the owner", "stop", 0)
    await again.exits(0, 15)
    await bench.guest.run("chown", "0", "/dev/uinput")
    bench.note = f"{len(users)} hostile users; {', '.join(locked)}"
