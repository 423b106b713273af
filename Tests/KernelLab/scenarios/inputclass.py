# SPDX-License-Identifier: GPL-2.0-or-later
#
# Device classes that udev and libinput (in the long tier also Xorg and sway) assign to the keyboard, whose additional axes make
# the event queues of its readers longer.

from __future__ import annotations

import json
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench import BINARY, Bench
from scenarios import scenario
from scenarios.stalls import QUEUES
from waiting import expect

# Path through the host's root, because the guest has its own /tmp, which hides a cache there.
SCRIPT = f"/run/host{Path(__file__).resolve().parents[1]}/inputclass.py"
WHEELS = 1 << 6 | 1 << 8  # REL_HWHEEL and REL_WHEEL, which make libinput classify a device as a pointer
KEYBOARD = {"ID_INPUT", "ID_INPUT_KEY", "ID_INPUT_KEYBOARD"}
DISPLAY = ":7"
OLD_DRIVER = "old-input-driver"
# Read after the distribution's own configuration, which it overrides.
CHOICE = 'Section "InputClass"\nIdentifier "lab"\nMatchIsKeyboard "on"\nMatchDevicePath "/dev/input/event*"\nDriver "{driver}"\nEndSection\n'
SCREEN = 'Section "Device"\nIdentifier "lab"\nDriver "dummy"\nEndSection\n'
FOLDER, LOG = "/run/lab/xorg.conf.d", "/var/log/Xorg.7.log"
NOBODY = ("--reuid", "nobody", "--regid", "nogroup", "--clear-groups")
SWAY = {
    "XDG_RUNTIME_DIR": "/run/lab/sway",
    "LIBSEAT_BACKEND": "seatd",
    "WLR_BACKENDS": "headless,libinput",
    "WLR_RENDERER": "pixman",
    "SWAYSOCK": "/run/lab/sway/ipc",
}


@asynccontextmanager
async def udev(bench: Bench) -> AsyncIterator[None]:
    """Runs udev, as on a desktop; the lab's machines do not run it otherwise."""
    await bench.guest.run("/usr/lib/systemd/systemd-udevd", "--daemon")
    try:
        yield
    finally:
        await bench.guest.run("sh", "-c", "udevadm control --exit; rm -rf /run/udev")


@asynccontextmanager
async def devices(bench: Bench) -> AsyncIterator[dict[str, str]]:
    """Creates keyboards, and returns their nodes by name: the product's with each queue, and the lab's with no axes, nine axes,
    and nine axes plus wheels."""
    nodes: dict[str, str] = {}
    for name, title, axes in (
        ("keys only", "lab keys", 0),
        ("nine axes", "lab axes", QUEUES[256]),
        ("nine axes and wheels", "lab wheels", QUEUES[256] | WHEELS),
    ):
        _, nodes[name] = await bench.keys(axes, title)
    product = await bench.run()
    nodes["the product"] = product.node
    await bench.guest.run("sh", "-c", "udevadm trigger --action=add --subsystem-match=input; udevadm settle", seconds=60)
    try:
        yield nodes
    finally:
        await product.end(signal.SIGINT, 130)


def is_right(name: str, classes: list[str]) -> bool:
    return classes == (["keyboard", "pointer"] if "wheels" in name else ["keyboard"])


@scenario("input-classes", deadline=120)
async def input_classes(bench: Bench) -> None:
    """X-16: udev and libinput classify the keyboard with nine axes as a keyboard only; with wheels, libinput also as a pointer."""
    async with udev(bench), devices(bench) as nodes:
        for name, node in nodes.items():
            properties = (await bench.guest.run("udevadm", "info", "--query=property", f"--name={node}")).out.split()
            classes = {line.split("=")[0] for line in properties if line.startswith("ID_INPUT")}
            expect(classes == KEYBOARD, f"udev says of {name}: {classes}")
        seen = json.loads((await bench.guest.run("/usr/bin/python3", SCRIPT, *nodes.values(), seconds=60)).out)
        found = {name: seen[node] for name, node in nodes.items()}
    for name, classes in found.items():
        expect(is_right(name, classes), f"libinput says of {name}: {classes}")
    bench.note = "libinput: " + "; ".join(f"{name}: {' '.join(classes)}" for name, classes in found.items())


async def x_classes(bench: Bench, driver: str) -> dict[str, list[str]]:
    """Returns the classes that Xorg with this driver assigns to each device, by the device's name."""
    await bench.guest.run("mkdir", "-p", FOLDER)
    await bench.guest.write_file(f"{FOLDER}/90-lab.conf", (CHOICE.format(driver=driver) + SCREEN).encode())
    server = await bench.start(
        "/usr/lib/xorg/Xorg", DISPLAY, "-configdir", FOLDER, "-logfile", LOG, "-noreset", "-sharevts", "-novtswitch"
    )  # fmt: skip
    try:
        ask = f"until DISPLAY={DISPLAY} xinput list --long 2>/dev/null; do sleep 0.2; done"
        listed = (await bench.guest.run("sh", "-c", ask, seconds=60)).out
        log = (await bench.guest.read_file(LOG)).decode()
    finally:
        await server.signal(signal.SIGTERM)
        await server.wait(30)
    used = re.findall(r"Using input driver '(\w+)' for 'blewedge keyboard'$", log, re.MULTILINE)
    expect(used == [driver], f"the drivers of the product's keyboard: {used}")
    found: dict[str, list[str]] = {}
    for name, role in re.findall(r"(blewedge keyboard|lab \w+)\s+id=\d+\s+\[slave\s+(keyboard|pointer)", listed):
        found.setdefault(name, []).append(role)
    return found


async def doctor(bench: Bench) -> list[str]:
    """Returns the causes that the doctor reports, whatever its exit status."""
    found = json.loads((await bench.guest.run(BINARY, "doctor", "--json", seconds=60, check=False)).out)
    return [finding["id"] for finding in found["findings"]]


async def sway_classes(bench: Bench) -> dict[str, list[str]]:
    """Returns the capabilities of each device in sway's seat, by the device's name."""
    await bench.guest.run("sh", "-c", "mkdir -p /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /dev/shm")
    # sway refuses to run as root, and gets its devices from seatd, which runs as root.
    await bench.guest.run("install", "-d", "-m", "700", "-o", "nobody", SWAY["XDG_RUNTIME_DIR"])
    seats = await bench.start("env", "SEATD_VTBOUND=0", "seatd", "-u", "nobody")
    await bench.guest.write_file("/run/lab/sway.conf", b"xwayland disable\n")
    words = [f"{name}={value}" for name, value in SWAY.items()]
    compositor = await bench.start("setpriv", *NOBODY, "env", *words, "sway", "--config", "/run/lab/sway.conf")
    try:
        ask = f"until SWAYSOCK={SWAY['SWAYSOCK']} swaymsg --raw --type get_seats 2>/dev/null; do sleep 0.2; done"
        listed = json.loads((await bench.guest.run("setpriv", *NOBODY, "sh", "-c", ask, seconds=60)).out)
    finally:
        for program in (compositor, seats):
            await program.signal(signal.SIGTERM)
            await program.wait(30)
        await bench.guest.run("umount", "/dev/shm")
    found: dict[str, list[str]] = {}
    for device in listed[0]["devices"]:
        found.setdefault(device["name"], []).append(device["type"])
    return found


@scenario("desktop-classes", deadline=300, only_long=True)
async def desktop_classes(bench: Bench) -> None:
    """Xorg with libinput and sway's seat classify the product's keyboard as a keyboard only, and one with wheels as a pointer too."""
    async with udev(bench), devices(bench):
        found = {"Xorg libinput": await x_classes(bench, "libinput"), "sway": await sway_classes(bench)}
        modern = await doctor(bench)
        old = await x_classes(bench, "evdev")
        told = await doctor(bench)
        await bench.guest.run("rm", LOG)
    for who, classes in found.items():
        by_name = {name: sorted(set(roles)) for name, roles in classes.items()}
        expect(by_name.get("blewedge keyboard") == ["keyboard"], f"{who}: {classes}")
        expect(by_name.get("lab keys") == ["keyboard"] and by_name.get("lab wheels") == ["keyboard", "pointer"], f"{who}: {classes}")
    expect(OLD_DRIVER not in modern and OLD_DRIVER in told, f"the doctor says {modern} with libinput, {told} with evdev")
    expect("pointer" in old["lab wheels"], f"Xorg evdev: {old}")
    bench.note = "; ".join(f"{who}: {classes}" for who, classes in (*found.items(), ("Xorg evdev", old)))
