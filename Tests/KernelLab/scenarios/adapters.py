# SPDX-License-Identifier: GPL-2.0-or-later
#
# Adapters that are missing, switched off, unplugged and plugged in again, or in use by another program; and missing permissions.

from __future__ import annotations

import re
import signal
import struct
from typing import Any

from bench import BINARY, OPEN, TRACE, Bench, compare
from central import BATTERY, compare_trees, find, meet, tree
from daemons import FOREVER, chosen, fresh, start, status, tell, until_connected, until_status, write
from guest import Program
from peer import NAME, ean13
from product import Product
from readers import EventReader
from scenarios import scenario
from scenarios.roles import gattpeer, server
from waiting import LabError, expect

SELECTION = "/var/lib/blewedge/selection"
CHOICE = 'address = F0:F1:F2:F3:F4:F5\ntype = random\nname = "LINBLE-TEST"\n'
SWITCH = "/sys/class/bluetooth/hci0/rfkill*/soft"
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
# The emulator's socket, through which it serves as a controller that the kernel does not know.
SOCKET = "/tmp/bt-server-bredrle"
MANAGEMENT_COMMAND, DISCONNECT = 16, 0x0014

# A controller that gets a number but answers nothing, so that the kernel creates no adapter for it.
DEAD = """
import os, sys
vhci = os.open("/dev/vhci", os.O_RDWR)
os.write(vhci, bytes([0xFF, 0]))
print("there", flush=True)
sys.stdin.readline()
"""


async def block(bench: Bench, is_blocked: bool) -> None:
    """Sets or clears the rfkill switch of the first adapter."""
    await bench.guest.run("sh", "-c", f"echo {int(is_blocked)} >$(echo {SWITCH})")


async def off(bench: Bench, cause: str, remedy: str, seconds: float = 20) -> dict[str, Any]:
    """Waits until `status` reports that Bluetooth is off for this cause, and checks the remedy that it suggests."""

    def holds(answer: dict[str, Any]) -> bool:
        return answer["state"] == "bluetoothOff" and cause in answer.get("reason", "")

    answer = await until_status(bench, seconds, f"Bluetooth is off, and that is because of {cause!r}", holds)
    expect(remedy in answer.get("remedy", ""), f"the remedy is {answer.get('remedy')!r}")
    expect("adapter" not in answer, f"an adapter is named: {answer}")
    return answer


async def forsaken(bench: Bench) -> None:
    """Makes sure that the peer notices the loss of its link.

    Linux 6.1 switches a controller off without telling the peer, and the emulated radio has no supervision time-out through which
    the peer would notice.
    """
    try:
        await bench.peer.until_alone(5)
    except LabError:
        await bench.peer.vanish()
        await bench.peer.advertise()


async def types(bench: Bench, reader: EventReader, *numbers: int) -> int:
    """Sends barcodes from the peer, checks that they are typed, and returns their length in bytes."""
    before = len(reader.text)
    sent = bench.peer.burst(map(ean13, numbers))
    await reader.until(before + sent, 20)
    compare(b"".join(map(ean13, numbers)), reader.text[before:])
    return sent


@scenario("daemon-no-adapter", peer="no adapter", deadline=150)
async def daemon_no_adapter(bench: Bench) -> None:
    """LK-9, X-7: a daemon started without an adapter waits, reports that, and connects when an adapter is plugged in."""
    await fresh(bench)
    await write(bench, SELECTION, CHOICE)
    daemon = await start(bench)
    reader = await EventReader.open(bench, daemon.node)
    await daemon.state("bluetoothOff", 20)
    await off(bench, "no Bluetooth adapter", "plug in an adapter")
    clock = bench.clock()
    await bench.add_controllers("linble")
    await until_connected(bench, daemon)
    came = clock()
    expect((await status(bench))["adapter"] == "hci0", "status has another adapter")
    sent = await types(bench, reader, 1, 2)
    await daemon.end(signal.SIGTERM, 143)
    expect(daemon.states[0] == "bluetoothOff", f"the states were {daemon.states}")
    bench.account(sent, sent, daemon.counts())
    bench.note = f"connected {came:.1f} s after the first adapter was made"


@scenario("daemon-adapter-back", deadline=240)
async def daemon_adapter_back(bench: Bench) -> None:
    """X-7, LK-9: the adapter is unplugged during typing and returns under another number: typing resumes, every byte is counted."""
    daemon, reader = await chosen(bench, *FOREVER)
    first = bench.peer.burst(map(ean13, range(5)))
    await reader.until(first, 20)
    rest = bench.peer.burst(map(ean13, range(5, 10)))
    await reader.until(first + 1, 20)
    await bench.remove_controllers()
    await daemon.state("bluetoothOff", 20)
    await off(bench, "no Bluetooth adapter", "plug in an adapter")
    dead = await bench.start("/usr/bin/python3", "-c", DEAD)
    await dead.until(lambda: "there" in dead.out, "another controller has the number", 10)
    clock = bench.clock()
    await bench.add_controllers("linble", first=1)
    await until_connected(bench, daemon)
    back = clock()
    expect((await status(bench))["adapter"] == "hci1", "the adapter has its old number")
    second = bench.peer.burst(map(ean13, range(10, 15)))
    await reader.program.until(lambda: reader.text.endswith(ean13(14)), "what came over the new adapter", 20)
    await daemon.end(signal.SIGTERM, 143)
    counts = daemon.counts()
    # Everything received before the loss is typed. Data that never left the peer's controller was not received.
    expect(first <= counts["received"] - second <= first + rest, f"{first} + {rest} + {second} bytes sent, counted: {counts}")
    whole = b"".join(map(ean13, range(10)))[: counts["received"] - second] + b"".join(map(ean13, range(10, 15)))
    compare(whole, reader.text)
    expect(counts["typed"] == counts["received"] == len(whole), f"not all was typed: {counts}")
    bench.account(len(whole), len(reader.text), counts)
    bench.note = f"hci0 to hci1, connected {back:.1f} s after it was made"


async def disconnections(bench: Bench) -> int:
    """Returns the number of Disconnect commands for the first adapter that the trace contains."""
    trace, at, found = await bench.guest.read_file(TRACE), 16, 0
    while at + 24 <= len(trace):
        size, flags = struct.unpack_from(">4xII", trace, at)
        packet = trace[at + 24 : at + 24 + size]
        # A cookie, followed by an opcode.
        found += flags == MANAGEMENT_COMMAND and packet[4:6] == DISCONNECT.to_bytes(2, "little")
        at += 24 + size
    return found


@scenario("daemon-power", deadline=180)
async def daemon_power(bench: Bench) -> None:
    """BT-10, LK-9: switched off by a program or by rfkill, the adapter is reported with cause and remedy; no Disconnect is sent without power."""
    daemon, reader = await chosen(bench)
    await tell(bench, "disconnect")
    await bench.peer.until_alone()
    expect(await disconnections(bench) == 1, "the trace does not show how a link is ended")
    await tell(bench, "connect")
    await until_connected(bench, daemon)
    watch = await bench.start(BINARY, "status", "--json", "--watch")
    await watch.until(lambda: watch.objects, "status", 20)
    # The end of the link and the removal of the adapter are both pending when the daemon resumes; it sees the end of the link
    # first.
    await bench.guest.halt(daemon.program)
    await bench.guest.run("btmgmt", "--index", "0", "power", "off")
    await daemon.program.signal(signal.SIGCONT)
    await daemon.state("bluetoothOff", 20)
    expect(await disconnections(bench) == 1, "a link was ended on an adapter that was off")

    def seen() -> dict[str, Any] | None:
        return next((o for o in watch.objects if o["state"] == "bluetoothOff"), None)

    answer = await watch.until(seen, "status says that Bluetooth is off", 10)
    expect("hci0 was switched off" in answer["reason"], f"the cause is {answer['reason']!r}")
    expect("power on" in answer["remedy"], f"the remedy is {answer['remedy']!r}")
    clock = bench.clock()
    await forsaken(bench)
    await until_connected(bench, daemon)
    back = clock()
    sent = await types(bench, reader, 3)
    await block(bench, True)
    await daemon.state("bluetoothOff", 20)
    await off(bench, "rfkill", "rfkill unblock")
    links = await disconnections(bench)
    await tell(bench, "disconnect")
    expect(await disconnections(bench) == links, "a link was ended on an adapter that is blocked")
    await block(bench, False)
    await daemon.state("disconnected", 20)
    await daemon.end(signal.SIGTERM, 143)
    bench.account(sent, sent, daemon.counts())
    bench.note = f"on again and connected {back:.1f} s later"


@scenario("daemon-lock", deadline=150, once=True)
async def daemon_lock(bench: Bench) -> None:
    """D-12, SW-22: `run` names the process that uses its adapter, and ends; a daemon reports it, and connects when the adapter is free."""
    await fresh(bench)
    holder = await bench.connected()
    second = await bench.product("run", "--device", NAME, *OPEN)
    await second.exits(69, 20)
    words = f"(process {holder.program.pid}) is using hci0"
    expect(words in second.program.err, f"the second says {second.program.err!r}")
    expect("blewedge stop" in second.program.err, f"the second has no remedy: {second.program.err!r}")

    # Run the daemon with directories of its own, because only one daemon can use the system's sockets.
    home = "/run/lab/own"
    own = [f"{name}_DIRECTORY={home}/{name.lower()}" for name in ("CONFIGURATION", "STATE", "RUNTIME")]
    await write(bench, f"{home}/state/selection", CHOICE)
    daemon = await bench.product("run", "--json", before=("env", *own))
    reader = await EventReader.open(bench, await daemon.keyboard())
    await daemon.state("bluetoothOff", 20)
    answer = (await bench.guest.run("env", *own, BINARY, "status", "--json")).objects[0]
    expect(words in answer["reason"] and "blewedge stop" in answer["remedy"], f"status says {answer}")
    expect(answer["name"] == "blewedge" and re.fullmatch(r"\d+\.\d+\.\d+", answer["program"]), f"SW-22: {answer}")
    await holder.end(signal.SIGTERM, 143)
    await bench.peer.until_alone()
    clock = bench.clock()
    await until_connected(bench, daemon)
    took = clock()
    sent = await types(bench, reader, 4)
    await daemon.end(signal.SIGTERM, 143)
    bench.account(sent, sent, daemon.counts())
    bench.note = f"connected {took:.1f} s after the other's end"


@scenario("daemon-unauthorized", deadline=180, once=True)
async def daemon_unauthorized(bench: Bench) -> None:
    """LK-10: a daemon reports each missing permission and how to grant it; after the grants the same process types."""
    home = "/run/lab/nobody"
    program = f"{home}/blewedge"
    for place in ("state/blewedge", "run", "config"):
        await bench.guest.run("mkdir", "-p", f"{home}/{place}")
    await write(bench, f"{home}/state/blewedge/selection", CHOICE)
    await bench.guest.run("cp", BINARY, program)
    await bench.guest.run("chown", "-R", "65534:65534", home)
    own = ("env", f"HOME={home}", f"STATE_DIRECTORY={home}/state/blewedge", f"RUNTIME_DIRECTORY={home}/run")
    own += (f"CONFIGURATION_DIRECTORY={home}/config",)
    await bench.guest.run("chmod", "600", "/dev/uinput")
    daemon = Product(await bench.start(*NOBODY, *own, program, "run", "--json"))
    await daemon.state("unauthorized", 20)

    async def waits(seconds: float, missing: str, remedy: str) -> dict[str, Any]:
        clock = bench.clock()
        while True:
            # No daemon answers while the process restarts itself.
            said = await bench.guest.run(*own, program, "status", "--json", check=False)
            answer: dict[str, Any] = said.objects[0] if said.status == 0 else {}
            if missing in answer.get("reason", ""):
                break
            expect(clock() < seconds, f"{missing} is not said to be missing; status: {answer}")
        expect(answer["state"] == "unauthorized", f"the state is {answer['state']}")
        expect(remedy in answer["remedy"], f"the remedy is {answer['remedy']!r}")
        expect(answer["pid"] == daemon.program.pid, "it is another process")
        return answer

    await waits(10, "CAP_NET_ADMIN and CAP_NET_RAW", "blewedge setup")
    refused = await bench.guest.run(*NOBODY, *own, program, "scan", "--once", check=False)
    expect(refused.status == 77, f"`scan` ends with {refused.status}{refused.evidence()}")
    expect(not bench.monitor.scanned, "the controller was made to scan")
    # Grant the capabilities to the copy of the program one by one. One of them alone must change nothing.
    await bench.guest.run("setcap", "cap_net_admin+ep", program)
    await waits(10, "CAP_NET_RAW", "blewedge setup")
    await bench.guest.run("setcap", "cap_net_admin,cap_net_raw+ep", program)
    await waits(20, "/dev/uinput", "blewedge setup")
    expect(not bench.monitor.scanned, "the controller was made to scan")
    await bench.guest.run("chmod", "666", "/dev/uinput")
    try:
        reader = await EventReader.open(bench, await daemon.keyboard())
        await until_connected(bench, daemon)
        sent = await types(bench, reader, 5)
        answer = (await bench.guest.run(*own, program, "status", "--json")).objects[0]
        expect((answer["state"], answer["pid"]) == ("connected", daemon.program.pid), f"status says {answer}")
    finally:
        await bench.guest.run("chmod", "600", "/dev/uinput")
    await daemon.end(signal.SIGTERM, 143)
    bench.account(sent, sent, daemon.counts())
    bench.note = "two capabilities and a node, granted one after the other"


def states(program: Program) -> list[str]:
    return [o["state"] for o in program.objects if o.get("event") == "state"]


async def becomes(program: Program, *wanted: str) -> None:
    """Waits for states of the library's adapter, and checks that these and no others were reported since the start."""
    await program.until(lambda: len(states(program)) >= len(wanted), f"the states {', '.join(wanted)}", 30)
    seen = states(program)
    expect(seen == list(wanted), f"the states were {', '.join(seen)} instead of {', '.join(wanted)}")


@scenario("adapter-states", peer="no adapter", deadline=240)
async def adapter_states(bench: Bench) -> None:
    """CB-1: the library reports all six states to an application, and every change of state."""
    program = await gattpeer(bench, "hci0")
    seen = ["unknown", "unsupported"]
    await becomes(program, *seen)
    await bench.add_controllers("")
    seen += ["poweredOn"]
    await becomes(program, *seen)
    await block(bench, True)
    seen += ["poweredOff"]
    await becomes(program, *seen)
    # A refused attempt to open the adapter changes nothing.
    await block(bench, False)
    seen += ["poweredOn"]
    await becomes(program, *seen)
    await bench.guest.run("btmgmt", "--index", "0", "power", "off")
    seen += ["poweredOff", "poweredOn"]
    await becomes(program, *seen)
    refused = await gattpeer(bench, "hci0", *NOBODY)
    await becomes(refused, "unknown", "unauthorized")
    await refused.stop()
    await bench.remove_controllers()
    # The kernel switches the adapter off before it removes it.
    seen += ["poweredOff", "unsupported"]
    await becomes(program, *seen)
    await program.write(b"quit\n")
    expect(await program.wait(20) == 0, f"exit {program.status}{program.evidence()}")

    # Test a permission that is granted while the library waits.
    await bench.guest.run("rm", "-f", SOCKET)
    emulator = await bench.start_emulator("-s")
    await bench.guest.run("sh", "-c", f"until test -S {SOCKET}; do sleep 0.1; done; chmod 700 {SOCKET}")
    other = await gattpeer(bench, f"h4:unix:{SOCKET}", *NOBODY)
    await becomes(other, "unknown", "unauthorized")
    await bench.guest.run("chmod", "777", SOCKET)
    await becomes(other, "unknown", "unauthorized", "poweredOn")
    await emulator.stop()
    await becomes(other, "unknown", "unauthorized", "poweredOn", "resetting")
    await other.write(b"quit\n")
    expect(await other.wait(20) == 0, f"exit {other.status}{other.evidence()}")
    bench.note = f"{' → '.join(seen)}; {' → '.join(states(other))}"


@scenario("server-adapter-back", deadline=180)
async def server_adapter_back(bench: Bench) -> None:
    """CB-20: a server is notified of the loss of its adapter; on the next adapter it advertises again, with all its services."""
    await bench.peer.device.stop_advertising()
    program, built = await server(bench)
    _, client = await meet(bench.peer.device, await find(bench.peer.device, BATTERY, "GATTPEER"))
    compare_trees(await tree(client), built)
    await bench.remove_controllers()
    await becomes(program, "unknown", "poweredOn", "poweredOff", "unsupported")
    expect(program.out.count('"disconnected"') == 1, "the server was not told that the central is gone")
    clock = bench.clock()
    await bench.add_controllers("linble")
    await bench.peer.device.stop_advertising()
    await becomes(program, "unknown", "poweredOn", "poweredOff", "unsupported", "poweredOn")
    _, client = await meet(bench.peer.device, await find(bench.peer.device, BATTERY, "GATTPEER"))
    compare_trees(await tree(client), built)
    took = clock()
    expect(program.out.count('"connected"') == 2, "the server was not told of the second central")
    await program.write(b"quit\n")
    expect(await program.wait(20) == 0, f"exit {program.status}{program.evidence()}")
    bench.note = f"{len(built)} attributes, found again {took:.1f} s after the adapter was back"
