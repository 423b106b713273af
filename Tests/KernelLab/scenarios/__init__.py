# SPDX-License-Identifier: GPL-2.0-or-later
#
# The scenarios by name, in the order they run. Each is a coroutine that gets a bench, fills in its figures
# and raises LabError with the cause when an expectation does not hold.

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
    only_long: bool  # a measurement, not a check: part of the long tier, or run by name
    once: bool  # the product's own doings more than the kernel's: in the short tier on one kernel only
    newest: bool  # that kernel is the newest: what it shows is not so on older ones
    alone: bool  # tells how soon or how late something was: meanwhile no other machine of the lab is at work
    kernels: tuple[str, ...]  # in the short tier on these only; one with a fault (kernels.FAULTY) has no others


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


# The order they run in.
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
)
