# SPDX-License-Identifier: GPL-2.0-or-later
#
# The scenarios by name, in the order in which they run. Each is a coroutine that receives a bench, sets the figures for its line
# of output, and raises LabError with the cause if an expectation fails.

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bench import Bench

Body = Callable[[Bench], Awaitable[None]]


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    peer: str  # see Bench.set_up
    deadline: float
    body: Body
    only_long: bool  # a measurement rather than a check: runs only with --long or by name
    once: bool  # tests the product more than the kernel: runs on one kernel only in the short tier
    newest: bool  # that one kernel must be the newest, because older kernels behave differently
    alone: bool  # measures times: no other machine of the lab may run meanwhile
    kernels: tuple[str, ...]  # kernels of the short tier; a faulty one (kernels.FAULTY) runs only scenarios that name it


ALL: dict[str, Scenario] = {}


def scenario(
    name: str,
    peer: str = "linble",
    deadline: float = 60,
    only_long: bool = False,
    once: bool = False,
    newest: bool = False,
    alone: bool = False,
    kernels: tuple[str, ...] = (),
) -> Callable[[Body], Body]:
    def register(body: Body) -> Body:
        about = (body.__doc__ or "").strip().splitlines()[0]
        ALL[name] = Scenario(name, about, peer, deadline, body, only_long, once, newest, alone, kernels)
        return body

    return register


# The order in which the scenarios run.
from scenarios import (  # noqa: E402, F401, I001
    scan,
    people,
    keys,
    onefile,
    layouts,
    conversations,
    options,
    declared,
    ends,
    verify,
    faults,
    stops,
    kills,
    queue,
    stalls,
    inputclass,
    kiosk,
    gatt,
    conformance,
    roles,
    adapters,
    replug,
    capture,
    doctor,
    systemd,
    inits,
    package,
    first_use,
    statusline,
    daemon,
    live,
    connecting,
    rights,
    choice,
    instances,
    secret,
    network,
    advertised,
    values,
    several,
    pages,
    snippets,
    handshake,
    reload,
    figures,
    layout,
    floods,
    weather,
    ownbench,
    matrix,
    controls,
    pairing,
    pairing_daemon,
    dishonest,
    bonds,
    keyless,
    hostile,
    beacons,
    hid_judge,
    hid_texts,
    hid_peer,
    hid_link,
    hid_bluetoothd,
)
